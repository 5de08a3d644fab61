#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <allot/job/block_progress.hpp>
#include <allot/job/macro_record.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/result_record.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// A node's bid for a claim. Bids of one node with different `mark` are different bids.
struct ClaimBid {
    NodeId node;
    std::uint64_t mark = 0;

    friend auto operator==(const ClaimBid&, const ClaimBid&) -> bool = default;
    friend auto operator<=>(const ClaimBid&, const ClaimBid&) -> std::strong_ordering = default;
};

/// Messages between nodes, as values. The embedder encodes them, proves the sender of each (by its transport, or by a
/// signature over the encoding), and passes it as `sender`. Each statement of another that
/// a message relays has its author's signature (`for_each_statement`). Every message may be lost, doubled, late or out
/// of order; none of that does harm.
namespace job_message {

/// The state of a queue, from its owner. Without a control: results and verdicts that another node seems to lack.
struct QueueSnapshot {
    JobId job;
    std::uint32_t macro = 0;
    bool whole = false;  ///< True: all that the sender knows. False: only the new part.
    std::optional<QueueControl> control{};
    std::vector<Commitment> commitments{};  ///< Those whose results are not disclosed yet.
    std::vector<ResultRecord> results{};
    std::vector<Rejection> rejected{};
    std::vector<MacroRecord> records{};
    std::optional<FinalRecord> final{};

    friend auto operator==(const QueueSnapshot&, const QueueSnapshot&) -> bool = default;
};
/// A node requests ownership of the queue, in order to lease a MicroJob.
struct OwnershipRequest {
    JobId job;
    std::uint32_t macro = 0;
    NodeId node;
    WalletId wallet;
    std::uint64_t boot = 0;
    Signature signature{};  ///< The node's; the owner relays it in its line.
};
/// A node has a result, and commits to it.
struct ResultCommitted {
    JobId job;
    Commitment commitment;
};
/// A node discloses a result.
struct ResultFound {
    JobId job;
    ResultRecord record;
};
/// A node requests an extension of its lease, and commits to a further block.
struct RenewalRequest {
    JobId job;
    MicroKey key{};
    NodeId node;
    FencingToken token{};
    BlockProgress progress{};
};
/// A node returns its lease: it failed, or it leaves.
struct LeaseReturned {
    JobId job;
    MicroKey key{};
    NodeId node;
    FencingToken token{};
};
/// Two controls of a queue that contradict each other, so that their author may own it no longer (`contradicts`).
struct ContradictionFound {
    JobId job;
    std::uint32_t macro = 0;
    QueueControl one{};
    QueueControl other{};
};

/// Asks which jobs have not ended. Answered by `JobPosted`.
struct JobsQuery {
    NodeId node;
};
/// A job that has not ended.
struct JobPosted {
    JobPlan plan;
    Signature signature{};  ///< The poster's, over the plan's digest.
};
/// Asks which MacroJobs are open. Answered by `MacroNews`.
struct MacrosQuery {
    JobId job;
    NodeId node;
};
/// The state of a MacroJob's queue: created, in use, or ended.
struct MacroNews {
    JobId job;
    std::uint32_t macro = 0;
    NodeId node;  ///< Owner of the queue.
    std::uint64_t epoch = 0;
    std::uint32_t open = 0;  ///< Number of MicroJobs without a holder.
    std::vector<MacroRecord> records{};
    std::vector<Rejection> rejected{};
};
/// One MicroJob is complete, as a node says. For showing progress; nothing is decided by it.
struct MicroDone {
    JobId job;
    MicroKey key{};
    NodeId node;
    Hash256 digest{};
};
/// The job has ended.
struct JobEnded {
    FinalRecord record;
};

/// A bid for a claim, sent to all (`Intent`).
struct ClaimIntent {
    Hash256 claim{};
    ClaimBid bid;
};
/// A bid for a claim, sent to the voters (`Quorum`).
struct VoteRequest {
    Hash256 claim{};
    ClaimBid bid;
};
/// A vote for a bid.
struct Vote {
    Hash256 claim{};
    ClaimBid bid;
    NodeId voter;
};

}  // namespace job_message

/// Any message.
using JobMessage =
    std::variant<job_message::QueueSnapshot, job_message::OwnershipRequest, job_message::ResultCommitted,
                 job_message::ResultFound, job_message::RenewalRequest, job_message::LeaseReturned,
                 job_message::ContradictionFound, job_message::JobsQuery, job_message::JobPosted,
                 job_message::MacrosQuery, job_message::MacroNews, job_message::MicroDone, job_message::JobEnded,
                 job_message::ClaimIntent, job_message::VoteRequest, job_message::Vote>;

}}  // namespace allot::v0

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <allot/job/macro_record.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/queue_control.hpp>
#include <allot/job/result_record.hpp>

namespace allot { inline namespace v0 {

/// Who wants to win a claim, and for what: bids of one node that differ in `mark` are different bids.
struct ClaimBid {
    NodeId node;
    std::uint64_t mark = 0;

    friend auto operator==(const ClaimBid&, const ClaimBid&) -> bool = default;
    friend auto operator<=>(const ClaimBid&, const ClaimBid&) -> std::strong_ordering = default;
};

/// What nodes say to each other, as values. How they become bytes, and who may speak in whose name, is the embedder's.
/// Every message may be lost, doubled, late or out of order; none of that may do harm.
namespace job_message {

/// The state of a queue, from its owner; or, without a control, results and verdicts that another node seems to lack.
struct QueueSnapshot {
    JobId job;
    std::uint32_t macro = 0;
    bool whole = false;                       ///< All that the sender knows; else what is new.
    std::optional<QueueControl> control{};
    std::vector<ResultRecord> results{};
    std::vector<Rejection> rejected{};
    std::vector<MacroRecord> records{};
    std::optional<FinalRecord> final{};

    friend auto operator==(const QueueSnapshot&, const QueueSnapshot&) -> bool = default;
};
/// A node wants to own the queue, in order to lease a MicroJob.
struct OwnershipRequest { JobId job; std::uint32_t macro = 0; NodeId node; WalletId wallet; std::uint64_t boot = 0; };
/// A node has a result.
struct ResultFound { JobId job; ResultRecord record; };
/// A node needs its lease for longer.
struct RenewalRequest { JobId job; MicroKey key{}; NodeId node; FencingToken token{}; };
/// A node gives its lease back: it failed, or it leaves.
struct LeaseReturned { JobId job; MicroKey key{}; NodeId node; FencingToken token{}; };

/// Which jobs are open? Answered by `JobPosted`.
struct JobsQuery { NodeId node; };
/// A job, and how it ended if it did.
struct JobPosted { JobPlan plan; std::optional<FinalRecord> final{}; };
/// Which MacroJobs are open? Answered by `MacroNews`.
struct MacrosQuery { JobId job; NodeId node; };
/// A MacroJob's queue was created, or lives, or has ended.
struct MacroNews {
    JobId job;
    std::uint32_t macro = 0;
    NodeId node;                              ///< Its owner.
    std::uint64_t epoch = 0;
    std::uint32_t open = 0;                   ///< MicroJobs nobody holds.
    std::vector<MacroRecord> records{};
    std::vector<Rejection> rejected{};
};
/// One MicroJob is complete.
struct MicroDone { JobId job; MicroKey key{}; Hash256 digest{}; };
/// The job has ended.
struct JobEnded { FinalRecord record; };

/// A bid for a claim, for all to hear (`Intent`).
struct ClaimIntent { Hash256 claim{}; ClaimBid bid; };
/// A bid for a claim, to be voted on (`Quorum`).
struct VoteRequest { Hash256 claim{}; ClaimBid bid; };
/// A vote for the bid.
struct Vote { Hash256 claim{}; ClaimBid bid; NodeId voter; };

}  // namespace job_message

/// Any message.
using JobMessage =
    std::variant<job_message::QueueSnapshot, job_message::OwnershipRequest, job_message::ResultFound,
                 job_message::RenewalRequest, job_message::LeaseReturned, job_message::JobsQuery, job_message::JobPosted,
                 job_message::MacrosQuery, job_message::MacroNews, job_message::MicroDone, job_message::JobEnded,
                 job_message::ClaimIntent, job_message::VoteRequest, job_message::Vote>;

}}  // namespace allot::v0

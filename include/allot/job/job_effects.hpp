#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/time.hpp>
#include <allot/job/job_message.hpp>

namespace allot { inline namespace v0 {

/// Events of a job, as past participles.
namespace job_event {

/// A posted job became known.
struct JobAccepted {
    JobId job;
};
/// This node works on a MacroJob from now on; its queue was joined.
struct MacroOpened {
    JobId job;
    std::uint32_t macro = 0;
};
/// This node created the queue of a MacroJob.
struct QueueCreated {
    JobId job;
    std::uint32_t macro = 0;
};
/// This node asked for the queue.
struct OwnershipRequested {
    JobId job;
    std::uint32_t macro = 0;
};
/// The queue was handed over: by this node, or to it.
struct OwnershipGranted {
    JobId job;
    std::uint32_t macro = 0;
    NodeId owner;
    std::uint64_t epoch = 0;
};
/// This node took the queue from a silent owner.
struct OwnershipTaken {
    JobId job;
    std::uint32_t macro = 0;
    NodeId owner;
    std::uint64_t epoch = 0;
};
/// This node lost the queue without having handed it over.
struct OwnershipLost {
    JobId job;
    std::uint32_t macro = 0;
    std::uint64_t epoch = 0;
};
/// This node has a MicroJob to compute.
struct MicroLeased {
    JobId job;
    MicroKey key{};
    NodeId holder;
    FencingToken token{};
};
/// A lease was extended.
struct LeaseLengthened {
    JobId job;
    MicroKey key{};
    NodeId holder;
};
/// A lease expired: its holder was silent for too long, or is known to be gone.
struct LeaseExpired {
    JobId job;
    MicroKey key{};
    NodeId holder;
};
/// A holder returned its lease without a result.
struct LeaseGivenBack {
    JobId job;
    MicroKey key{};
    NodeId holder;
};
/// A MicroJob has its result. `late` means that it arrived without a current lease; then `took`, in ms, is zero.
struct MicroCompleted {
    JobId job;
    MicroKey key{};
    NodeId node;
    Duration took{};
    bool late = false;
};
/// A result arrived that will not be paid, because another one counts.
struct DuplicateResult {
    JobId job;
    MicroKey key{};
    NodeId node;
};
/// A result that counted was rejected.
struct ResultRejected {
    JobId job;
    MicroKey key{};
    NodeId node;
    RejectReason reason = RejectReason::culprit;
};
/// The dead letter: no node will do the MicroJob any more.
struct MicroDead {
    JobId job;
    MicroKey key{};
    std::uint32_t attempts = 0;
};
/// A member signed two statements that contradict each other. It gets no further MicroJob of the MacroJob here, and is
/// not handed its queue.
struct MemberContradicted {
    JobId job;
    std::uint32_t macro = 0;
    NodeId node;
};
/// A MacroJob has ended, for as long as none of its results is rejected.
struct MacroEnded {
    MacroRecord record;
};
/// The escrow is to be released to the wallets in the records, once for the key. `as` is the job's record after that.
struct EscrowReleaseRequested {
    JobId job;
    Hash256 idempotency_key{};
    std::vector<MacroRecord> records;
    FinalRecord as;
};
/// The job failed; its escrow is to be refunded, under the same key.
struct EscrowRefundRequested {
    JobId job;
    Hash256 idempotency_key{};
    std::vector<MacroRecord> records;
    FinalRecord as;
};
/// The contract did not pay because of these results.
struct SettlementFailed {
    JobId job;
    std::vector<Rejection> culprits;
};
/// The job has ended, complete or failed. For: its owner.
struct JobEnded {
    FinalRecord record;
};

}  // namespace job_event

/// Any event of a job.
using JobEvent =
    std::variant<job_event::JobAccepted, job_event::MacroOpened, job_event::QueueCreated, job_event::OwnershipRequested,
                 job_event::OwnershipGranted, job_event::OwnershipTaken, job_event::OwnershipLost,
                 job_event::MicroLeased, job_event::LeaseLengthened, job_event::LeaseExpired, job_event::LeaseGivenBack,
                 job_event::MicroCompleted, job_event::DuplicateResult, job_event::ResultRejected, job_event::MicroDead,
                 job_event::MemberContradicted, job_event::MacroEnded, job_event::EscrowReleaseRequested,
                 job_event::EscrowRefundRequested, job_event::SettlementFailed, job_event::JobEnded>;

/// A message to publish on a channel.
struct JobSend {
    std::string channel;
    JobMessage message;
};
/// A record to write to the replicated store, once; a path that is taken keeps its content. `JobProcessor` names its
/// job; a single `MicroQueueReplica` does not, for it has one job only.
struct JobWrite {
    std::string path;
    ResultRecord record;
    JobId job = JobId::null();
};
/// A claim to win through a `ClaimArbiter`; pass the answer to `on_claim`.
struct JobClaim {
    Hash256 claim{};
    ClaimBid bid;
};

/// Effects of an input, as values; nothing calls back. If `error` is set, the input was refused. Then it has no other
/// effects and changed nothing, but a clock refused by `message_time_wrong` is noted.
struct JobEffects {
    std::optional<JobError> error{};
    std::vector<JobSend> sends{};
    std::vector<JobEvent> events{};
    std::vector<JobWrite> writes{};
    std::vector<JobClaim> claims{};
    std::vector<std::string> joined{};  ///< Channels to subscribe to from now on.

    /// True if the input was not refused.
    [[nodiscard]] auto accepted() const noexcept -> bool { return !error; }

    /// Returns the first event of type `E`, or null. @complexity linear in the events.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events) {
            if (const auto* found = std::get_if<E>(&event)) { return found; }
        }
        return nullptr;
    }

    /// Appends other effects to these. @complexity linear in `more`.
    auto append(JobEffects&& more) -> void {
        const auto move_all = [](auto& to, auto& from) {
            to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
        };
        move_all(sends, more.sends);
        move_all(events, more.events);
        move_all(writes, more.writes);
        move_all(claims, more.claims);
        move_all(joined, more.joined);
    }
};

/// Returns the effects of a refused input.
[[nodiscard]] inline auto refused(JobError error) -> JobEffects {
    auto effects = JobEffects{};
    effects.error = error;
    return effects;
}

}}  // namespace allot::v0

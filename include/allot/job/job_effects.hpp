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

/// What happened, as past participles.
namespace job_event {

/// A posted job became known.
struct JobAccepted { JobId job; };
/// This node works on a MacroJob from now on.
struct MacroOpened { JobId job; std::uint32_t macro = 0; };
/// This node created the queue of a MacroJob.
struct QueueCreated { JobId job; std::uint32_t macro = 0; };
/// This node asked for the queue.
struct OwnershipRequested { JobId job; std::uint32_t macro = 0; };
/// The queue was handed over: by this node, or to it.
struct OwnershipGranted { JobId job; std::uint32_t macro = 0; NodeId owner; std::uint64_t epoch = 0; };
/// This node took the queue from an owner gone quiet.
struct OwnershipTaken { JobId job; std::uint32_t macro = 0; NodeId owner; std::uint64_t epoch = 0; };
/// This node lost the queue without having handed it over.
struct OwnershipLost { JobId job; std::uint32_t macro = 0; std::uint64_t epoch = 0; };
/// This node has a MicroJob to compute.
struct MicroLeased { JobId job; MicroKey key{}; NodeId holder; FencingToken token{}; };
/// A lease lives longer.
struct LeaseLengthened { JobId job; MicroKey key{}; NodeId holder; };
/// A lease expired: its holder was not heard in time, or is known to be gone.
struct LeaseExpired { JobId job; MicroKey key{}; NodeId holder; };
/// A lease was given back undone.
struct LeaseGivenBack { JobId job; MicroKey key{}; NodeId holder; };
/// A MicroJob has its result; `late` says that it came without a living lease, and then nobody knows how long it took.
struct MicroCompleted { JobId job; MicroKey key{}; NodeId node; Duration took{}; bool late = false; };
/// A result came that will not be paid, because another counts.
struct DuplicateResult { JobId job; MicroKey key{}; NodeId node; };
/// A result that counted was rejected.
struct ResultRejected { JobId job; MicroKey key{}; NodeId node; RejectReason reason = RejectReason::culprit; };
/// The dead letter: nobody will do the MicroJob any more.
struct MicroDead { JobId job; MicroKey key{}; std::uint32_t attempts = 0; };
/// A MacroJob came to its end, for as long as none of its results is rejected.
struct MacroEnded { MacroRecord record; };
/// The escrow is to be released to those in the records, once for the key; `as` is what the job then ended as.
struct EscrowReleaseRequested {
    JobId job;
    Hash256 idempotency_key{};
    std::vector<MacroRecord> records;
    FinalRecord as;
};
/// The job failed; its escrow is to go back, under the same key.
struct EscrowRefundRequested {
    JobId job;
    Hash256 idempotency_key{};
    std::vector<MacroRecord> records;
    FinalRecord as;
};
/// The contract did not pay, because of these results.
struct SettlementFailed { JobId job; std::vector<Rejection> culprits; };
/// The job has ended, complete or failed. For its owner.
struct JobEnded { FinalRecord record; };

}  // namespace job_event

/// Any event.
using JobEvent =
    std::variant<job_event::JobAccepted, job_event::MacroOpened, job_event::QueueCreated, job_event::OwnershipRequested,
                 job_event::OwnershipGranted, job_event::OwnershipTaken, job_event::OwnershipLost, job_event::MicroLeased,
                 job_event::LeaseLengthened, job_event::LeaseExpired, job_event::LeaseGivenBack, job_event::MicroCompleted,
                 job_event::DuplicateResult, job_event::ResultRejected, job_event::MicroDead, job_event::MacroEnded,
                 job_event::EscrowReleaseRequested, job_event::EscrowRefundRequested, job_event::SettlementFailed,
                 job_event::JobEnded>;

/// To be published on a channel.
struct JobSend { std::string channel; JobMessage message; };
/// To be written to the replicated store, once; a path that is taken keeps what it has.
struct JobWrite { std::string path; ResultRecord record; };
/// To be won from a `ClaimArbiter`; the answer goes to `on_claim`.
struct JobClaim { Hash256 claim{}; ClaimBid bid; };

/// What follows from an input, as values; nothing calls back. With an `error` the input was refused: it changed nothing
/// and nothing follows from it.
struct JobEffects {
    std::optional<JobError> error{};
    std::vector<JobSend> sends{};
    std::vector<JobEvent> events{};
    std::vector<JobWrite> writes{};
    std::vector<JobClaim> claims{};
    std::vector<std::string> joined{};  ///< Channels to listen to from now on.

    [[nodiscard]] auto accepted() const noexcept -> bool { return !error; }

    /// The first event of a type, or null.
    template <class E>
    [[nodiscard]] auto get() const noexcept -> const E* {
        for (const auto& event : events) {
            if (const auto* found = std::get_if<E>(&event)) { return found; }
        }
        return nullptr;
    }

    /// Appends what followed from something else.
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

/// Effects of an input that was refused.
[[nodiscard]] inline auto refused(JobError error) -> JobEffects {
    auto effects = JobEffects{};
    effects.error = error;
    return effects;
}

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/job/job_effects.hpp>
#include <allot/job/macro_record.hpp>

namespace allot { inline namespace v0 {

/// The idempotency key of a job's settlement: the job is settled once, even if several nodes request it several times.
[[nodiscard]] inline auto escrow_key(const JobId& job) -> Hash256 { return RecordHasher{"escrow"}.id(job).finish(); }

/// The contract's answer to a request to release or refund the escrow. The contract must remember its answers: after it
/// rejected a result once, it must give the same answer to a repeated request, because the first answer may have been
/// lost.
struct Settlement {
    JobId job;
    bool settled = false;
    /// The record as which the contract settled the job: that of the first request. If the plan names a contract,
    /// always pass it, signed by the contract, because the other members take no other end. None: the record of the
    /// request that is answered.
    std::optional<FinalRecord> settled_as{};
    std::vector<Rejection> culprits{};  ///< If not settled: the wrong results.
};

/// Ends a job: requests its escrow once the plan is covered, and makes the single record of its end.
///
/// It sends at most one request until it receives an answer, and only for a node that owns the last MacroJob's queue.
/// That owner's successor requests again, under the same key. A job with a dead MicroJob ends failed: its escrow is
/// refunded, not released (rule 33). The contract settles a job once, for the first request; so all nodes reach the
/// same record even if two of them owned a queue at once. An embedder without a contract answers at once and leaves the
/// choice of the record to `before`.
class Finaliser {
public:
    /// Makes a finaliser for a job of so many MacroJobs, and this node.
    Finaliser(JobId job, std::uint32_t macro_count, NodeId self)
        : job_{std::move(job)}, macro_count_{macro_count}, self_{std::move(self)} {}

    /// The record of the job's end, once known.
    [[nodiscard]] auto final_record() const noexcept -> const std::optional<FinalRecord>& { return final_; }
    /// True if an answer of the contract is awaited.
    [[nodiscard]] auto asking() const noexcept -> bool { return asked_.has_value(); }

    /// Requests the settlement from the records of all MacroJobs, for the owner of the last queue. Does nothing if a
    /// request is pending or the job has ended. Error: `not_covered`. @complexity linear in the records.
    [[nodiscard]] auto conclude(const std::optional<std::vector<MacroRecord>>& records, std::uint64_t epoch)
        -> JobEffects {
        if (!records || records->empty()) { return refused(JobError::not_covered); }
        auto out = JobEffects{};
        if (final_ || asked_) { return out; }
        auto record = FinalRecord{job_, epoch, self_, JobOutcome::complete, {}, {}, {}};
        for (const auto& macro : *records) {
            record.macros.push_back(macro.digest);
            record.outcome = std::max(record.outcome, macro.outcome);
        }
        record.digest = digest_of(record);
        asked_ = record;
        if (record.outcome == JobOutcome::failed) {
            out.events.push_back(job_event::EscrowRefundRequested{job_, escrow_key(job_), *records, record});
        } else {
            out.events.push_back(job_event::EscrowReleaseRequested{job_, escrow_key(job_), *records, record});
        }
        return out;
    }

    /// Receives the contract's answer. Errors: `job_unknown`, `settlement_unasked`, `record_invalid`.
    /// @complexity linear in the records.
    [[nodiscard]] auto on_settlement(const Settlement& settlement) -> JobEffects {
        if (settlement.job != job_) { return refused(JobError::job_unknown); }
        if (!asked_) { return refused(JobError::settlement_unasked); }
        if (settlement.settled_as && fault_of(job_, macro_count_, *settlement.settled_as)) {
            return refused(JobError::record_invalid);
        }
        const auto asked = *std::exchange(asked_, std::nullopt);
        if (settlement.settled) { return finish(settlement.settled_as.value_or(asked)); }
        auto out = JobEffects{};
        out.events.push_back(job_event::SettlementFailed{job_, settlement.culprits});
        return out;
    }

    /// Receives another node's record of the job's end. Of two records every node keeps the same one.
    /// Error: `record_invalid`. @complexity linear in the record.
    [[nodiscard]] auto finish(const FinalRecord& record) -> JobEffects {
        if (fault_of(job_, macro_count_, record)) { return refused(JobError::record_invalid); }
        auto out = JobEffects{};
        if (final_ && !before(record, *final_)) { return out; }
        final_ = record;
        asked_.reset();
        out.events.push_back(job_event::JobEnded{record});
        out.sends.push_back({job_channel(job_), job_message::JobEnded{record}});
        return out;
    }

private:
    JobId job_;
    std::uint32_t macro_count_;
    NodeId self_;
    std::optional<FinalRecord> asked_{};
    std::optional<FinalRecord> final_{};
};

}}  // namespace allot::v0

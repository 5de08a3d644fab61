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

/// Under which the escrow of a job is settled: whoever asks, how often, and for whatever, it is settled once.
[[nodiscard]] inline auto escrow_key(const JobId& job) -> Hash256 { return RecordHasher{"escrow"}.id(job).finish(); }

/// What the contract said to a request to release or refund the escrow. It has to remember what it said: of a result that
/// it once rejected, whoever asks again has to hear the same, for the first answer may have been lost.
struct Settlement {
    JobId job;
    bool settled = false;
    std::optional<FinalRecord> settled_as{};  ///< The record of the request that was first, if it was another.
    std::vector<Rejection> culprits{};        ///< When it was not settled: whose results were wrong.
};

/// Ends a job: asks for its escrow once the plan is covered, and makes the one record of how it ended.
///
/// It asks at most once until it hears an answer, and only for a node that owns the last MacroJob's queue; that owner's
/// successor asks again, under the same key. A job with a dead MicroJob ends failed: its escrow is not released but
/// refunded (rule 33). The contract settles a job once, for whoever asks first; so all nodes come to the same record even
/// if two of them owned a queue at once. Who has no contract answers at once, and leaves it to `before`.
class Finaliser {
public:
    Finaliser(JobId job, NodeId self) : job_{std::move(job)}, self_{std::move(self)} {}

    [[nodiscard]] auto final_record() const noexcept -> const std::optional<FinalRecord>& { return final_; }
    /// Whether an answer of the contract is awaited.
    [[nodiscard]] auto asking() const noexcept -> bool { return asked_.has_value(); }

    /// Draws the conclusion from the records of all MacroJobs, for the owner of the last one's queue. Does nothing unless
    /// there is something new to do. Error: `not_covered`.
    [[nodiscard]] auto conclude(const std::optional<std::vector<MacroRecord>>& records, std::uint64_t epoch) -> JobEffects {
        if (!records || records->empty()) { return refused(JobError::not_covered); }
        auto out = JobEffects{};
        if (final_ || asked_) { return out; }
        auto record = FinalRecord{job_, epoch, self_, JobOutcome::complete, {}, {}};
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

    /// Takes in what the contract said. Errors: `job_unknown`, `settlement_unasked`, `record_invalid`.
    [[nodiscard]] auto on_settlement(const Settlement& settlement) -> JobEffects {
        if (settlement.job != job_) { return refused(JobError::job_unknown); }
        if (!asked_) { return refused(JobError::settlement_unasked); }
        if (settlement.settled_as && fault_of(job_, asked_->macros.size(), *settlement.settled_as)) {
            return refused(JobError::record_invalid);
        }
        const auto asked = *std::exchange(asked_, std::nullopt);
        if (settlement.settled) { return finish(settlement.settled_as.value_or(asked)); }
        auto out = JobEffects{};
        out.events.push_back(job_event::SettlementFailed{job_, settlement.culprits});
        return out;
    }

    /// Takes in how the job ended, as another node says. Of two records the same one stays everywhere. Error: `record_invalid`.
    [[nodiscard]] auto finish(const FinalRecord& record) -> JobEffects {
        if (fault_of(job_, record.macros.size(), record)) { return refused(JobError::record_invalid); }
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
    NodeId self_;
    std::optional<FinalRecord> asked_{};
    std::optional<FinalRecord> final_{};
};

}}  // namespace allot::v0

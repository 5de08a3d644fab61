#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include <allot/job/queue_succession.hpp>
#include <allot/job/result_record.hpp>

namespace allot { inline namespace v0 {

/// How a node brings its own results to the queue: commits to them, discloses them once all are committed, and repeats
/// both until an owner has recorded them. Part of `MicroQueueReplica`.
///
/// @complexity of each function: linear in the MacroJob's results, unless it only returns a value.
class ResultDelivery : public QueueSuccession {
public:
    /// Starts without a result. Throws `std::invalid_argument` if `parameters.fault()` is not null.
    ResultDelivery(MacroPlan plan, JobNode self, const QueueParameters& parameters, TimePoint now)
        : QueueSuccession{std::move(plan), std::move(self), parameters, now}, repeat_wait_{parameters.request_retry},
          repeat_at_{now} {}

protected:
    /// Returns a result of this node that no owner has recorded yet, or that others do not have although it is
    /// disclosed; null if there is none.
    [[nodiscard]] auto unheard() const -> const ResultRecord* {
        if (state_.owns() || record() != nullptr) { return nullptr; }
        for (const auto& [digest, result] : state_.results().results()) {
            if (result.node != state_.self().node || !state_.may_count(result)) { continue; }
            const auto recorded = state_.known() && state_.accepted()[result.key.micro];
            const auto lacking = parameters().commit_results && shows(result) && !told_.contains(digest);
            if (!recorded || lacking) { return &result; }
        }
        return nullptr;
    }
    /// True if this node's result is to be disclosed by now.
    [[nodiscard]] auto shows(const ResultRecord& result) const -> bool {
        return !parameters().commit_results || (state_.known() && state_.is_public(result));
    }
    /// Tells a result of this node to the owner: the commitment to it, until it may be disclosed.
    auto report(const ResultRecord& result, JobEffects& out) const -> void {
        if (shows(result)) { return say(job_message::ResultFound{state_.plan().job, result}, out); }
        say(job_message::ResultCommitted{state_.plan().job, commitment_of(result)}, out);
    }
    /// Discloses this node's results once they may be: to the store and to the owner.
    auto disclose(TimePoint now, JobEffects& out) -> void {
        for (const auto& [digest, result] : state_.results().results()) {
            if (result.node != state_.self().node || !shows(result) || !state_.may_count(result)) { continue; }
            if (!written_.insert(digest).second) { continue; }
            out.writes.push_back({result_path(state_.plan().job, state_.plan().id, result.micro), result});
            fresh_.insert(commitment_of(result));
            state_.owns() ? void(changed_ = true) : report(result, out);
            repeat_from(now);
        }
    }
    /// Repeats a result that no owner has recorded, if it is time to.
    auto repeat_results(TimePoint now, JobEffects& out) -> void {
        const auto* result = now >= repeat_at_ ? unheard() : nullptr;
        if (result == nullptr) { return; }
        report(*result, out);
        repeat_at_ = now + repeat_wait_;
        repeat_wait_ = std::min(repeat_wait_ * 2, parameters().request_retry_max);
    }
    /// Begins again with the shortest wait between two repetitions.
    auto repeat_from(TimePoint now) -> void {
        repeat_wait_ = parameters().request_retry;
        repeat_at_ = now + repeat_wait_;
    }
    /// The time of the next repetition.
    [[nodiscard]] auto repeat_at() const noexcept -> TimePoint { return repeat_at_; }
    /// Notes that others have a result of this node.
    auto note_told(const Hash256& digest) -> void { told_.insert(digest); }

private:
    std::set<Hash256> written_;  // this node's results that were written to the store
    std::set<Hash256> told_;     // those that others have
    Duration repeat_wait_;
    TimePoint repeat_at_;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>
#include <allot/job/lease_table.hpp>
#include <allot/job/message_check.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/result_set.hpp>

namespace allot { inline namespace v0 {

/// One node's knowledge of a whole job: which MacroJobs have a queue in use, their records, and the progress.
///
/// A job is complete when each MicroJob of its plan is covered; nothing outside the plan counts, and nothing counts
/// twice. A MacroJob's queue is a lease, too: each message from its owner renews it, and it is open again after it
/// expires.
class JobTracker {
public:
    /// Makes a tracker without news.
    /// @param claim Time in ms for which a queue that no node mentions is taken to be in use.
    /// @complexity O(n log n) in the MacroJobs.
    explicit JobTracker(JobPlan plan, Duration claim = std::chrono::seconds{30})
        : plan_{std::move(plan)}, claim_{claim}, macros_(plan_.slicing().macro_count) {
        for (std::uint32_t m = 0; m < macros_.size(); ++m) { claims_.add({m, 0, TimePoint::min(), false, {}}); }
    }

    /// The job's plan.
    [[nodiscard]] auto plan() const noexcept -> const JobPlan& { return plan_; }

    /// Receives news of a MacroJob. Errors: `job_unknown`, `macro_unknown`, `node_invalid`, `message_too_large`, and
    /// those of `fault_of`. @complexity linear in the news, times the logarithm of the verdicts known.
    auto hear(const job_message::MacroNews& news, TimePoint now) -> std::optional<JobError> {
        if (news.job != plan_.job()) { return JobError::job_unknown; }
        if (news.macro >= macros_.size()) { return JobError::macro_unknown; }
        if (news.node.is_null()) { return JobError::node_invalid; }
        if (news.epoch > QueueControl::count_max || news.records.size() > limit || news.rejected.size() > limit) {
            return JobError::message_too_large;
        }
        const auto plan = plan_.macro(news.macro);
        for (const auto& record : news.records) {
            if (const auto fault = fault_of(plan, record)) { return fault; }
        }
        for (const auto& rejection : news.rejected) {
            if (const auto fault = fault_of(plan, rejection)) { return fault; }
        }
        auto& macro = macros_[news.macro];
        for (const auto& record : news.records) { macro.verdicts.add(record); }
        for (const auto& rejection : news.rejected) { take_back(macro, rejection); }
        if (tells_all(news)) { macro.told_at = now; }
        if (news.epoch > 0) { renew_claim(news, now); }
        return std::nullopt;
    }
    /// Records that a MicroJob is complete. Errors: `job_unknown`, `micro_unknown`, `result_duplicate`,
    /// `result_rejected`.
    /// @complexity O(log n) in the MicroJobs.
    auto hear(const job_message::MicroDone& done) -> std::optional<JobError> {
        if (done.job != plan_.job()) { return JobError::job_unknown; }
        if (!plan_.contains(done.key)) { return JobError::micro_unknown; }
        auto& macro = macros_[done.key.macro];
        if (macro.verdicts.is_rejected(done.digest)) { return JobError::result_rejected; }
        if (!macro.done.try_emplace(done.key.micro, done.digest).second) { return JobError::result_duplicate; }
        return std::nullopt;
    }

    /// Returns the MacroJobs without a record whose queue is not in use: never claimed, or the claim expired.
    /// @complexity linear.
    [[nodiscard]] auto open_macros(TimePoint now) const -> std::vector<std::uint32_t> {
        return select([&](std::uint32_t m) { return claims_.find(m)->is_open(now); });
    }
    /// Returns the MacroJobs without a record whose queue is in use and has MicroJobs without a holder. @complexity
    /// linear.
    [[nodiscard]] auto joinable_macros(TimePoint now) const -> std::vector<std::uint32_t> {
        return select([&](std::uint32_t m) { return claims_.find(m)->is_held(now) && macros_[m].open > 0; });
    }
    /// The valid record of a MacroJob; null if there is none. @pre the plan has the MacroJob. @complexity linear in its
    /// records.
    [[nodiscard]] auto record(std::uint32_t macro) const -> const MacroRecord* {
        return macros_[macro].verdicts.record();
    }
    /// The records and rejections of a MacroJob. @pre the plan has it.
    [[nodiscard]] auto verdicts(std::uint32_t macro) const -> const ResultSet& { return macros_[macro].verdicts; }
    /// The last time of news that told all records and rejections of a MacroJob that are known here; none if there was
    /// none. @pre the plan has the MacroJob.
    [[nodiscard]] auto told_at(std::uint32_t macro) const -> std::optional<TimePoint> { return macros_[macro].told_at; }
    /// True if each MacroJob has a record. @complexity linear in the records.
    [[nodiscard]] auto ended() const -> bool {
        return std::all_of(macros_.begin(), macros_.end(),
                           [](const auto& m) { return m.verdicts.record() != nullptr; });
    }
    /// Returns the records of all MacroJobs; none if one has no record. @complexity linear in the MacroJobs.
    [[nodiscard]] auto records() const -> std::optional<std::vector<MacroRecord>> {
        auto all = std::vector<MacroRecord>{};
        for (const auto& macro : macros_) {
            const auto* record = macro.verdicts.record();
            if (record == nullptr) { return std::nullopt; }
            all.push_back(*record);
        }
        return all;
    }
    /// Returns the number of complete MicroJobs and of all. A MacroJob's record takes precedence over announcements.
    /// @complexity linear in the MicroJobs.
    [[nodiscard]] auto progress() const -> std::pair<std::uint64_t, std::uint64_t> {
        auto done = std::uint64_t{0};
        for (const auto& macro : macros_) {
            const auto* record = macro.verdicts.record();
            done +=
                record == nullptr
                    ? macro.done.size()
                    : static_cast<std::uint64_t>(std::count_if(record->accepted.begin(), record->accepted.end(),
                                                               [](const auto& a) { return a.digest != Hash256{}; }));
        }
        return {done, std::uint64_t{plan_.slicing().macro_count} * plan_.slicing().items()};
    }
    /// The earliest expiry of a MacroJob's claim; none if there is no claim.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> { return claims_.next_deadline(); }

private:
    static constexpr std::size_t limit = std::size_t{1} << 14;

    struct Macro {
        ResultSet verdicts;                     // records and rejections; the queue has the results
        std::map<std::uint32_t, Hash256> done;  // by MicroJob
        std::uint32_t open = 0;
        std::optional<TimePoint> told_at{};
    };

    template <class F>
    [[nodiscard]] auto select(F&& f) const -> std::vector<std::uint32_t> {
        auto out = std::vector<std::uint32_t>{};
        for (std::uint32_t m = 0; m < macros_.size(); ++m) {
            if (record(m) == nullptr && f(m)) { out.push_back(m); }
        }
        return out;
    }

    /// True if the news have the record and each rejection of their MacroJob that is known here.
    [[nodiscard]] auto tells_all(const job_message::MacroNews& news) const -> bool {
        const auto* known = record(news.macro);
        auto told = std::set<Hash256>{};
        for (const auto& rejection : news.rejected) { told.insert(rejection.digest); }
        const auto& rejected = verdicts(news.macro).rejected();
        return (known == nullptr ||
                std::find(news.records.begin(), news.records.end(), *known) != news.records.end()) &&
               std::all_of(rejected.begin(), rejected.end(), [&](const auto& r) { return told.contains(r.first); });
    }
    static auto take_back(Macro& macro, const Rejection& rejection) -> void {
        macro.verdicts.reject(rejection);
        std::erase_if(macro.done, [&](const auto& entry) { return entry.second == rejection.digest; });
    }

    /// Renews the claim of the owner with the highest epoch; ignores owners of older epochs.
    auto renew_claim(const job_message::MacroNews& news, TimePoint now) -> void {
        const auto* item = claims_.find(news.macro);
        if (item->is_held(now) && item->hold->token > news.epoch) { return; }
        macros_[news.macro].open = news.open;
        if (claims_.renew(news.macro, news.epoch, now, claim_) == LeaseFault::none) { return; }
        if (item->hold) { (void)claims_.release(news.macro, item->hold->token, now); }
        (void)claims_.acquire(news.macro, news.node, news.epoch, now, claim_);
    }

    JobPlan plan_;
    Duration claim_;
    std::vector<Macro> macros_;
    LeaseTable<std::uint32_t, NodeId, std::uint64_t> claims_;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>
#include <allot/job/message_check.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/result_set.hpp>
#include <allot/job/lease_table.hpp>

namespace allot { inline namespace v0 {

/// What one node knows of a whole job: which MacroJobs have a queue that lives, what they came to, and how far it all is.
///
/// Complete means that the plan is covered, MicroJob by MicroJob; nothing is counted that the plan does not name, and
/// nothing twice. A MacroJob's queue is a lease, too: renewed by each word from its owner, open again when it expires.
class JobTracker {
public:
    /// @param claim How long a queue is believed to live that nobody speaks of.
    explicit JobTracker(JobPlan plan, Duration claim = std::chrono::seconds{30})
        : plan_{std::move(plan)}, claim_{claim}, macros_(plan_.slicing().macro_count) {
        for (std::uint32_t m = 0; m < macros_.size(); ++m) {
            claims_.add({m, 0, TimePoint::min(), false, {}});
        }
    }

    [[nodiscard]] auto plan() const noexcept -> const JobPlan& { return plan_; }

    /// Takes in news of a MacroJob. Errors: `job_unknown`, `macro_unknown`, `node_invalid`, `message_too_large`, those of
    /// `fault_of`.
    auto hear(const job_message::MacroNews& news, TimePoint now) -> std::optional<JobError> {
        if (news.job != plan_.job()) { return JobError::job_unknown; }
        if (news.macro >= macros_.size()) { return JobError::macro_unknown; }
        if (news.node.is_null()) { return JobError::node_invalid; }
        if (news.records.size() > limit || news.rejected.size() > limit) { return JobError::message_too_large; }
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
        if (news.epoch > 0) { renew_claim(news, now); }
        return std::nullopt;
    }
    /// Takes in that a MicroJob is complete. Errors: `job_unknown`, `micro_unknown`, `result_duplicate`, `result_rejected`.
    auto hear(const job_message::MicroDone& done) -> std::optional<JobError> {
        if (done.job != plan_.job()) { return JobError::job_unknown; }
        if (!plan_.contains(done.key)) { return JobError::micro_unknown; }
        auto& macro = macros_[done.key.macro];
        if (macro.verdicts.is_rejected(done.digest)) { return JobError::result_rejected; }
        if (!macro.done.try_emplace(done.key.micro, done.digest).second) { return JobError::result_duplicate; }
        return std::nullopt;
    }

    /// MacroJobs without a record whose queue nobody claimed, or not for long: never locked, or the lock expired.
    [[nodiscard]] auto open_macros(TimePoint now) const -> std::vector<std::uint32_t> {
        return select([&](std::uint32_t m) { return claims_.find(m)->is_open(now); });
    }
    /// MacroJobs without a record whose queue lives and has MicroJobs that nobody holds.
    [[nodiscard]] auto joinable_macros(TimePoint now) const -> std::vector<std::uint32_t> {
        return select([&](std::uint32_t m) { return claims_.find(m)->is_held(now) && macros_[m].open > 0; });
    }
    /// The record of a MacroJob that stands; null if there is none. @pre the plan has the MacroJob.
    [[nodiscard]] auto record(std::uint32_t macro) const -> const MacroRecord* { return macros_[macro].verdicts.record(); }
    /// Records and rejections of a MacroJob. @pre the plan has it.
    [[nodiscard]] auto verdicts(std::uint32_t macro) const -> const ResultSet& { return macros_[macro].verdicts; }
    /// The records of all MacroJobs; nothing while one has none.
    [[nodiscard]] auto records() const -> std::optional<std::vector<MacroRecord>> {
        auto all = std::vector<MacroRecord>{};
        for (const auto& macro : macros_) {
            const auto* record = macro.verdicts.record();
            if (record == nullptr) { return std::nullopt; }
            all.push_back(*record);
        }
        return all;
    }
    /// MicroJobs known to be complete, of how many. A MacroJob's record says more than what was announced.
    [[nodiscard]] auto progress() const -> std::pair<std::uint64_t, std::uint64_t> {
        auto done = std::uint64_t{0};
        for (const auto& macro : macros_) {
            const auto* record = macro.verdicts.record();
            done += record == nullptr
                        ? macro.done.size()
                        : static_cast<std::uint64_t>(std::count_if(record->accepted.begin(), record->accepted.end(),
                                                                   [](const auto& a) { return a.digest != Hash256{}; }));
        }
        return {done, std::uint64_t{plan_.slicing().macro_count} * plan_.slicing().items()};
    }
    /// When the next MacroJob's claim expires.
    [[nodiscard]] auto next_deadline() const -> std::optional<TimePoint> { return claims_.next_deadline(); }

private:
    static constexpr std::size_t limit = std::size_t{1} << 14;

    struct Macro {
        ResultSet verdicts;                         // records and rejections; the results are the queue's
        std::map<std::uint32_t, Hash256> done;      // by MicroJob
        std::uint32_t open = 0;
    };

    template <class F>
    [[nodiscard]] auto select(F&& f) const -> std::vector<std::uint32_t> {
        auto out = std::vector<std::uint32_t>{};
        for (std::uint32_t m = 0; m < macros_.size(); ++m) {
            if (record(m) == nullptr && f(m)) { out.push_back(m); }
        }
        return out;
    }

    static auto take_back(Macro& macro, const Rejection& rejection) -> void {
        macro.verdicts.reject(rejection);
        std::erase_if(macro.done, [&](const auto& entry) { return entry.second == rejection.digest; });
    }

    /// The owner of the highest epoch counts; of an older one nothing is believed.
    auto renew_claim(const job_message::MacroNews& news, TimePoint now) -> void {
        const auto* item = claims_.find(news.macro);
        if (item->hold && item->hold->token > news.epoch) { return; }
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

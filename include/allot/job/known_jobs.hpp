#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/job/job_parameters.hpp>
#include <allot/job/job_participation.hpp>

namespace allot { inline namespace v0 {

/// A job that a node knows: its plan, its end, and the node's part in it.
struct KnownJob {
    job_message::JobPosted posted;
    std::uint32_t ahead = 0;  ///< Number of jobs of its poster without an end when it became known.
    std::uint64_t order = 0;  ///< In which the jobs became known; of an ended one: in which they ended.
    std::optional<FinalRecord> final{};
    std::optional<JobParticipation> part{};
    TimePoint told_at = TimePoint::min();  ///< Time at which it was told here last.

    /// The poster that the plan names; null if it names none.
    [[nodiscard]] auto poster() const noexcept -> const NodeId& { return posted.plan.authorities().poster; }
    /// True if some of its work may be left to do. @complexity linear in the records.
    [[nodiscard]] auto may_have_work() const -> bool { return !final && !(part && part->ended()); }
    /// True if the job is neither ended nor locked, as far as this node knows (rule 30). @complexity linear in its
    /// MicroJobs.
    [[nodiscard]] auto is_open(TimePoint now) const -> bool { return !final && !(part && part->is_locked(now)); }
    /// From then on the job's nodes may be asked again.
    [[nodiscard]] auto ask_at() const -> TimePoint { return part ? part->ask_at() : TimePoint::min(); }
};

/// The jobs that a node knows, so many that no poster can fill them.
///
/// Of the jobs without an end at most `jobs_per_poster` name the same poster, and there are at most `jobs_max`. Beyond
/// that a new job takes the place of the newest job of the poster with the most. That poster must have at least two
/// more than the new job's poster, and this node no queue of the job. So a poster that fills the place keeps no other
/// out, and a job in which this node takes part stays. A job that gave way is unknown again.
///
/// Of the ended jobs the last `ended_max` stay; beyond that the poster with the most loses its oldest end. A job that
/// was forgotten does not begin again: its poster's lower numbers are refused from then on. If its plan names no
/// poster, it is a new job when it is posted again; the members that remember its end tell it.
class KnownJobs {
public:
    /// Jobs by id.
    using Jobs = std::map<JobId, KnownJob>;

    /// Knows no job. @pre `parameters.fault()` is null.
    explicit KnownJobs(const JobParameters& parameters)
        : jobs_max_{parameters.jobs_max}, per_poster_{parameters.jobs_per_poster}, ended_max_{parameters.ended_max} {}

    /// All jobs, by id.
    [[nodiscard]] auto all() const noexcept -> const Jobs& { return jobs_; }
    /// All jobs, by id.
    [[nodiscard]] auto all() noexcept -> Jobs& { return jobs_; }
    /// The job of an id; null if it is not known. @complexity O(log n) in the jobs.
    [[nodiscard]] auto find(const JobId& job) const -> const KnownJob* {
        const auto at = jobs_.find(job);
        return at == jobs_.end() ? nullptr : &at->second;
    }
    /// As above.
    [[nodiscard]] auto find(const JobId& job) -> KnownJob* {
        const auto at = jobs_.find(job);
        return at == jobs_.end() ? nullptr : &at->second;
    }

    /// Adds a job, unless it is known; the job `current` does not give way. Errors: `job_duplicate` if it is known with
    /// another plan, `job_forgotten`, `too_many_jobs`. @complexity O(log n) in the jobs, and linear for a new one.
    [[nodiscard]] auto add(const job_message::JobPosted& posted, const std::optional<JobId>& current)
        -> std::optional<JobError> {
        if (const auto* known = find(posted.plan.job())) {
            return known->posted.plan.digest() == posted.plan.digest() ? std::nullopt
                                                                       : std::optional{JobError::job_duplicate};
        }
        const auto& poster = posted.plan.authorities().poster;
        const auto forgotten = forgotten_.find(poster);
        if (forgotten != forgotten_.end() && job_number_of(posted.plan.job()) <= forgotten->second) {
            return JobError::job_forgotten;
        }
        const auto counts = counts_of([](const KnownJob& known) { return !known.final; });
        if (!poster.is_null() && counts.of(poster) >= per_poster_) { return JobError::too_many_jobs; }
        if (counts.sum >= jobs_max_ && !make_room(poster, counts, current)) { return JobError::too_many_jobs; }
        insert(posted, counts.of(poster));
        return std::nullopt;
    }
    /// Adds a job from an earlier life of this node, beyond any number. @pre it is not known. @complexity linear.
    auto restore(const job_message::JobPosted& posted) -> KnownJob& {
        const auto unended = counts_of([](const KnownJob& known) { return !known.final; });
        return insert(posted, unended.of(posted.plan.authorities().poster));
    }
    /// Ends a job, and forgets another one's end if there are too many. Returns false if the job has a record that
    /// comes first. @complexity linear.
    auto end(KnownJob& known, const FinalRecord& record) -> bool {
        if (known.final && !before(record, *known.final)) { return false; }
        if (!known.final) { known.order = next_++; }
        known.final = record;
        forget();
        return true;
    }

    /// The jobs that may be asked by now, in the order of their turns: first the one asked the longest ago. Of several
    /// the one with the fewest jobs of its poster ahead of it, then the first known. @complexity O(n log n) in the
    /// jobs.
    [[nodiscard]] auto all_to_ask(TimePoint now) const -> std::vector<JobId> {
        const auto turn = [](const KnownJob* known) { return std::tuple{known->ask_at(), known->ahead, known->order}; };
        auto waiting = std::vector<const KnownJob*>{};
        for (const auto& [job, known] : jobs_) {
            if (known.may_have_work() && known.ask_at() <= now) { waiting.push_back(&known); }
        }
        std::sort(waiting.begin(), waiting.end(), [&](const auto* a, const auto* b) { return turn(a) < turn(b); });
        auto jobs = std::vector<JobId>{};
        for (const auto* known : waiting) { jobs.push_back(known->posted.plan.job()); }
        return jobs;
    }
    /// The first of them; none if there is none. @complexity as above.
    [[nodiscard]] auto to_ask(TimePoint now) const -> std::optional<JobId> {
        const auto all = all_to_ask(now);
        return all.empty() ? std::nullopt : std::optional{all.front()};
    }

private:
    /// Number of jobs by poster, and in all.
    struct Counts {
        std::map<NodeId, std::uint32_t> by_poster;
        std::uint32_t sum = 0;

        [[nodiscard]] auto of(const NodeId& poster) const -> std::uint32_t {
            const auto at = by_poster.find(poster);
            return at == by_poster.end() ? 0 : at->second;
        }
    };
    template <class Counted>
    [[nodiscard]] auto counts_of(Counted&& counted) const -> Counts {
        auto counts = Counts{};
        for (const auto& [job, known] : jobs_) {
            if (!counted(known)) { continue; }
            ++counts.by_poster[known.poster()];
            ++counts.sum;
        }
        return counts;
    }

    auto insert(const job_message::JobPosted& posted, std::uint32_t ahead) -> KnownJob& {
        return jobs_.try_emplace(posted.plan.job(), KnownJob{posted, ahead, next_++, {}, {}, TimePoint::min()})
            .first->second;
    }
    /// Two more, not one: after the change neither of the two posters may have the other's job give way.
    [[nodiscard]] auto make_room(const NodeId& poster, const Counts& counts, const std::optional<JobId>& current)
        -> bool {
        const auto rank = [&](const KnownJob& known) { return std::pair{counts.of(known.poster()), known.order}; };
        auto last = jobs_.end();
        for (auto at = jobs_.begin(); at != jobs_.end(); ++at) {
            const auto& known = at->second;
            const auto stays = known.final || at->first == current || (known.part && !known.part->replicas().empty());
            if (!stays && (last == jobs_.end() || rank(known) > rank(last->second))) { last = at; }
        }
        if (last == jobs_.end() || counts.of(last->second.poster()) < counts.of(poster) + 2) { return false; }
        jobs_.erase(last);
        return true;
    }
    auto forget() -> void {
        const auto ended = counts_of([](const KnownJob& known) { return known.final.has_value(); });
        if (ended.sum <= ended_max_) { return; }
        const auto later = [&](const auto& a, const auto& b) {
            const auto rank = [&](const KnownJob& known) {
                return std::tuple{known.final ? ended.of(known.poster()) : 0, ~known.order};
            };
            return rank(a.second) < rank(b.second);
        };
        const auto oldest = std::max_element(jobs_.begin(), jobs_.end(), later);
        if (const auto number = job_number_of(oldest->first)) {
            auto& forgotten = forgotten_[oldest->second.poster()];
            forgotten = std::max(forgotten, *number);
        }
        jobs_.erase(oldest);
    }

    std::uint32_t jobs_max_;
    std::uint32_t per_poster_;
    std::uint32_t ended_max_;
    Jobs jobs_;
    std::map<NodeId, std::uint64_t> forgotten_;  // the highest number of a forgotten job, by poster
    std::uint64_t next_ = 0;
};

}}  // namespace allot::v0

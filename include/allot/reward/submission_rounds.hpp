#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/result.hpp>
#include <allot/reward/reward_error.hpp>

namespace allot { inline namespace v0 {

/// Records the order in which a task's nodes submitted in the rounds of commitment and disclosure, and their scores.
///
/// Round score: by order of submission, by default 10, 9 and 6 (rule 21); none for a node that did not submit. Task
/// score: the sum of both rounds (seed 002, "The Submission Speed"). Fill it from `TaskCommitted` and `TaskDisclosed`,
/// whose leases name the member. The scores go to `Dispatcher::score` and, when the task is done, to `split_fee`.
///
/// @complexity of each function: linear in the members.
class SubmissionRounds {
public:
    /// The two rounds of a task.
    enum class Round : std::uint8_t { commitment, disclosure };

    /// Makes empty rounds for `members` members.
    /// @param round_scores By order of submission; later submissions get the last score. If empty, every score is zero.
    explicit SubmissionRounds(std::uint32_t members, std::vector<std::uint32_t> round_scores = {10, 9, 6})
        : round_scores_{std::move(round_scores)}, points_{std::vector<std::optional<std::uint32_t>>(members),
                                                          std::vector<std::optional<std::uint32_t>>(members)} {}

    /// Adds the next submission of a round and returns its score. Errors: `member_unknown`, `already_submitted`; they
    /// change nothing.
    [[nodiscard]] auto submitted(Round round, std::uint32_t member) -> Result<std::uint32_t, RewardError> {
        auto& points = of(round);
        if (member >= points.size()) { return FailureOf<RewardError>{RewardError::member_unknown}; }
        if (points[member]) { return FailureOf<RewardError>{RewardError::already_submitted}; }
        const auto before = static_cast<std::size_t>(
            std::count_if(points.begin(), points.end(), [](const auto& one) { return one.has_value(); }));
        points[member] = round_scores_.empty() ? 0 : round_scores_[std::min(before, round_scores_.size() - 1)];
        return *points[member];
    }

    /// Returns the task score of each member, in points.
    [[nodiscard]] auto scores() const -> std::vector<std::uint32_t> {
        auto scores = std::vector<std::uint32_t>{};
        for (std::size_t m = 0; m < points_.first.size(); ++m) {
            scores.push_back(points_.first[m].value_or(0) + points_.second[m].value_or(0));
        }
        return scores;
    }
    /// True if at least one member committed. Otherwise the task's scores are ignored (seed 002).
    [[nodiscard]] auto counts() const -> bool {
        return std::any_of(points_.first.begin(), points_.first.end(), [](const auto& one) { return one.has_value(); });
    }

private:
    using Points = std::vector<std::optional<std::uint32_t>>;
    [[nodiscard]] auto of(Round round) -> Points& {
        return round == Round::commitment ? points_.first : points_.second;
    }

    std::vector<std::uint32_t> round_scores_;
    std::pair<Points, Points> points_;  // by member: committed, disclosed
};

}}  // namespace allot::v0

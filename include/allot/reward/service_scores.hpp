#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/score.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/result.hpp>
#include <allot/reward/reward_error.hpp>

namespace allot { inline namespace v0 {

/// R of seed 002: a node's VRAM over the largest of the network, both in bytes or both in another unit.
/// Errors: `vram_zero`, `vram_exceeds_largest`.
[[nodiscard]] constexpr auto vram_score(std::uint64_t vram, std::uint64_t vram_max) -> Result<Score, RewardError> {
    if (vram == 0) { return FailureOf<RewardError>{RewardError::vram_zero}; }
    if (vram > vram_max) { return FailureOf<RewardError>{RewardError::vram_exceeds_largest}; }
    return Score::from_ratio(vram, vram_max);
}

/// P of seed 002: (longest - own) / (longest - least allowed). One if the longest is the least allowed (rule 21). Times
/// are in ms.
/// @param least The shortest timeout the network allows, not negative.
/// @param longest The longest timeout of any node of the network.
/// Errors: `timeout_too_short` below the least (rule 21), `timeout_exceeds_longest`.
[[nodiscard]] constexpr auto timeout_score(Duration timeout, Duration least, Duration longest)
    -> Result<Score, RewardError> {
    if (timeout < least || timeout <= Duration{0}) { return FailureOf<RewardError>{RewardError::timeout_too_short}; }
    if (timeout > longest) { return FailureOf<RewardError>{RewardError::timeout_exceeds_longest}; }
    if (longest == least) { return Score::one(); }
    return Score::from_ratio(static_cast<std::uint64_t>((longest - timeout).count()),
                             static_cast<std::uint64_t>((longest - least).count()));
}

/// A node's mean task score, kept as sum and count so that no rounding occurs.
struct TaskScores {
    /// Sum of the task scores, in points.
    std::uint64_t sum = 0;
    /// Number of tasks. Zero is the explicit state "no samples yet"; tasks without any submission do not
    /// count (rule 21).
    std::uint32_t tasks = 0;

    /// Adds one task: the sum of the node's scores in its rounds, or zero if it missed a task that another node
    /// submitted.
    constexpr void add(std::uint32_t points) noexcept {
        sum += points;
        ++tasks;
    }

    /// True if the mean of `a` is below that of `b`. @pre Both have samples.
    [[nodiscard]] friend constexpr auto below(const TaskScores& a, const TaskScores& b) noexcept -> bool {
        return u128{a.sum} * u128{b.tasks} < u128{b.sum} * u128{a.tasks};
    }
    friend constexpr auto operator==(const TaskScores&, const TaskScores&) noexcept -> bool = default;
};

/// B of seed 002: a node's mean task score over the highest of the network, rounded down. None if the node has no
/// samples or the highest is zero (rule 21).
/// Error: `score_exceeds_highest`.
/// @pre The sums are below 2^32 points, the counts below 2^32 tasks.
[[nodiscard]] constexpr auto speed_score(const TaskScores& own, const TaskScores& highest)
    -> Result<std::optional<Score>, RewardError> {
    if (own.tasks == 0 || highest.tasks == 0 || highest.sum == 0) {
        if (own.tasks != 0 && own.sum != 0) { return FailureOf<RewardError>{RewardError::score_exceeds_highest}; }
        return std::optional<Score>{};
    }
    if (below(highest, own)) { return FailureOf<RewardError>{RewardError::score_exceeds_highest}; }
    return std::optional{Score::from_ratio(own.sum * highest.tasks, highest.sum * own.tasks)};
}

}}  // namespace allot::v0

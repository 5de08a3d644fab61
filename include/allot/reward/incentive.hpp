#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/score.hpp>
#include <allot/result.hpp>
#include <allot/reward/reward_error.hpp>

namespace allot { inline namespace v0 {

/// Weights of the three qualities in a node's share of the token incentives; only their proportions matter. The seed
/// names no numbers, so the default weights are equal.
struct IncentiveWeights {
    std::uint32_t vram = 1;
    std::uint32_t timeout = 1;
    std::uint32_t speed = 1;
    /// B of a node without samples: by default, a node that completed nothing earns nothing for speed.
    Score speed_unknown = Score::zero();

    friend constexpr auto operator==(const IncentiveWeights&, const IncentiveWeights&) noexcept -> bool = default;
};

/// The three qualities of a node (seed 002): R, P and B.
struct ServiceScores {
    Score vram{};
    Score timeout{};
    std::optional<Score> speed{};  ///< None if there are no samples.

    friend constexpr auto operator==(const ServiceScores&, const ServiceScores&) noexcept -> bool = default;
};

/// Returns the weighted mean of R, P and B, rounded down to 2^-30 (seed 002, token incentivization distribution). It is
/// the node's weight when an incentive is divided: `split_fee(incentive, raws)` over `raw()` of all nodes, with
/// `largest_fraction`.
/// Error: `weights_invalid` when all weights are zero.
[[nodiscard]] constexpr auto incentive_score(const ServiceScores& scores, const IncentiveWeights& weights = {})
    -> Result<Score, RewardError> {
    const auto total = std::uint64_t{weights.vram} + weights.timeout + weights.speed;
    if (total == 0) { return FailureOf<RewardError>{RewardError::weights_invalid}; }
    const auto speed = scores.speed.value_or(weights.speed_unknown);
    const auto sum = std::uint64_t{weights.vram} * scores.vram.raw() +
                     std::uint64_t{weights.timeout} * scores.timeout.raw() + std::uint64_t{weights.speed} * speed.raw();
    return Score::from_raw(static_cast<std::uint32_t>(sum / total));  // at most 3 × 2^62, so no sum overflows
}

}}  // namespace allot::v0

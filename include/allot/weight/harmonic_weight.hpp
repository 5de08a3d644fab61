#pragma once

#include <string_view>

#include <allot/policy/role.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// The default weight: W = M * S * Q / (S + Q) (seed 001, "Final Selection Weight").
///
/// With half the harmonic mean neither score compensates for the other: a node of large stake that times out stays
/// unlikely. It is zero when either score is zero. Its roundings are stated at `harmonic` in core/weight.hpp.
struct HarmonicWeight {
    using role = role::weight;
    static constexpr std::string_view name = "HarmonicWeight";
    static constexpr bool monotone = true;

    [[nodiscard]] constexpr auto weight(const Node&, const Task&, Factors factors) const -> Weight {
        return harmonic(factors);
    }

    /// Whether stake or score is zero: then the weight is, and never else (`harmonic`).
    [[nodiscard]] constexpr auto is_zero(const Node& node, Score score) const -> bool {
        return node.stake_root().is_zero() || score == Score::zero();
    }
};

}}  // namespace allot::v0

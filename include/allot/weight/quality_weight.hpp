#pragma once

#include <string_view>

#include <allot/policy/role.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// The weight of seed 000, "Node Selection Probability": W = Q·M, the quality of service times the boost of a node that
/// has the task's models on disk or loaded (rule 27). Stake has no effect.
struct QualityWeight {
    using role = role::weight;
    static constexpr std::string_view name = "QualityWeight";
    static constexpr bool monotone = true;

    [[nodiscard]] constexpr auto weight(const Node&, const Task&, Factors factors) const noexcept -> Weight {
        const auto score = Weight::from_raw(u128{factors.qos.raw()} << (Weight::fraction_bits - Score::fraction_bits));
        return score.scaled(factors.boost_num, factors.boost_den);
    }
};

}}  // namespace allot::v0

#pragma once

#include <cstdint>
#include <string_view>

#include <allot/policy/role.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// The weight of the contracts: the score, times the number of the task's models on the node's disk among nodes that
/// hold at least one (spec: crynux.md 1.4, 1.5). Stake has no effect.
///
/// The number enters as the boost: with `Rules` {boost_on_disk = boost_unit, boost_in_use = 0} M is 1 + c/n for c
/// models of n, so W = Q·c/n; without a boost, W = Q·2^-20. Only ratios within one draw matter, and narrowing keeps the
/// two kinds apart.
struct ContractWeight {
    using role = role::weight;
    static constexpr std::string_view name = "ContractWeight";
    static constexpr bool monotone = true;

    [[nodiscard]] constexpr auto weight(const Node&, const Task&, Factors factors) const noexcept -> Weight {
        const auto score = Weight::from_raw(u128{factors.qos.raw()} << (Weight::fraction_bits - Score::fraction_bits));
        const auto held = factors.boost_num > factors.boost_den ? factors.boost_num - factors.boost_den : 0;
        return held <= factors.boost_den >> 20U ? score.scaled(1, 1U << 20U) : score.scaled(held, factors.boost_den);
    }
};

}}  // namespace allot::v0

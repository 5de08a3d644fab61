#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <allot/laws/sample.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// The margin of a stored bound above its weight. A weight may break a law by less than this, as a rounding does, and
/// no draw is wrong.
[[nodiscard]] inline auto bound_margin(u128 raw) -> u128 { return (raw >> 32) + (u128{1} << 64); }

/// The law of one node's weight, for one choice of factors.
template <class P>
struct MonotoneCheck {
    const P& policy;
    const Node& node;
    const Task& task;

    [[nodiscard]] auto weigh(const Factors& factors) const -> Weight { return policy.weight(node, task, factors); }

    [[nodiscard]] auto pure(const Factors& f, const Task& other) const -> Finding {
        const auto first = weigh(f);
        if (const auto again = weigh(f); again != first) {
            return sentence("the weight is not pure: equal arguments gave ", first, " and then ", again, " (", f, ")");
        }
        if (const auto copy = P{policy}.weight(node, task, f); copy != first) {
            return sentence("a copy of the weight policy gives ", copy, ", not ", first, " (", f, ")");
        }
        if (const auto elsewhere = policy.weight(node, other, f); elsewhere != first) {
            return sentence("the weight depends on the task beside the factors: ", first, " and ", elsewhere, " (", f,
                            ")");
        }
        return {};
    }

    [[nodiscard]] auto rises(const Factors& low, const Factors& high, std::string_view what) const -> Finding {
        const auto before = weigh(low);
        const auto after = weigh(high);
        if (after < before) {
            return sentence("the weight falls when the ", what, " rises: from ", before, " (", low, ") to ", after,
                            " (", high, ")");
        }
        return {};
    }

    /// W(c * S) <= c * W(S) for c >= 1.
    [[nodiscard]] auto in_proportion(const Factors& low, const Factors& high) const -> Finding {
        if (low.stake_root.is_zero()) { return {}; }
        const auto gap = exponent_gap(low.stake_root, high.stake_root);
        if (gap > 31) { return {}; }
        const auto most =
            weigh(low).scaled(std::uint64_t{high.stake_root.mantissa()} << gap, low.stake_root.mantissa());
        const auto after = weigh(high);
        if (after.raw() > most.raw() + bound_margin(most.raw())) {
            return sentence("the weight grows faster than the staking score: from ", weigh(low), " (", low, ") to ",
                            after, " (", high, "), which is more than ", most);
        }
        return {};
    }

    /// The property that an index relies on: the bound stored for the best factors covers the weight under any others.
    /// The bound's ceiling of the largest stake may be above that stake or below.
    [[nodiscard]] auto covered(const Factors& now, const Factors& best) const -> Finding {
        if (now.stake_root_max.is_zero() || best.stake_root_max.is_zero()) { return {}; }
        const auto bound = bound_of(weigh(best));
        const auto unit = std::max(best.stake_root_max, ceil_power_of_two(now.stake_root_max));
        const auto weight = at_stake_root_ceiling(weigh(now), now.stake_root_max, unit);
        if (weight.raw() > (u128{bound} << 64)) {
            return sentence("the bound ", bound, "/2^28 of the best weight (", best, ") does not cover the weight ",
                            weight, " (", now, ", rescaled to the larger of both largest stakes)");
        }
        return {};
    }
};

/// A weight in a situation, as the bound uses it.
template <class P>
struct GreatestWeight {
    P policy;
    [[nodiscard]] auto weight(const Node& node, const Task&, Factors factors) const -> Weight {
        return policy.weight_max(node, factors);
    }
};

}  // namespace detail

/// Checks the law of `monotone_weight`. The weight is pure and depends on the task through the factors alone. It never
/// falls when stake, QoS score or boost rises; it grows at most in proportion to the staking score, and never rises
/// with the largest stake. So it never exceeds its stored bound.
///
/// @complexity `tries` times a dozen weights.
template <has_weight P>
[[nodiscard]] auto monotone(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    auto sampler = Sampler{seed};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto node = sampler.node();
        const auto task = sampler.task();
        const auto check = detail::MonotoneCheck<P>{policy, node, task};
        const auto f = sampler.factors();

        auto staked = f;
        const auto other = sampler.factors().stake_root;
        staked.stake_root = std::min(std::max(other, f.stake_root), f.stake_root_max);
        auto served = f;
        served.qos = std::max(sampler.score(), f.qos);
        auto boosted = f;
        boosted.boost_num += sampler.below(boosted.boost_den + 1);
        boosted.boost_den -= sampler.below(boosted.boost_den);
        auto best = f;
        best.qos = served.qos;
        best.boost_num = boosted.boost_num;
        best.boost_den = boosted.boost_den;
        best.stake_root_max = ceil_power_of_two(f.stake_root_max);
        if (const auto root = best.stake_root_max; !root.is_zero()) {
            best.stake_root_max =
                StakeRoot::from_parts(root.mantissa(), root.exponent() + static_cast<int>(sampler.below(3)));
        }

        auto alone = f;
        alone.operator_stake = node.stake.units;
        auto shared = alone;
        shared.operator_stake += u128{sampler.below(std::uint64_t{1} << 63U)} << static_cast<int>(sampler.below(50));

        auto crowded = best;  // the bound was made before a node of larger stake came
        crowded.stake_root_max = ceil_power_of_two(f.stake_root);

        auto finding = check.pure(f, sampler.task());
        const auto then = [&](auto ask) { finding = finding ? finding : ask(); };
        then([&] { return check.rises(f, staked, "stake"); });
        then([&] { return check.rises(f, served, "QoS score"); });
        then([&] { return check.rises(f, boosted, "boost"); });
        then([&] { return check.rises(shared, alone, "node's part of its operator's stake"); });
        then([&] { return check.in_proportion(f, staked); });
        then([&] { return check.covered(f, best); });
        then([&] { return check.covered(f, crowded); });
        if (finding) { return finding; }
    }
    return {};
}

/// As above, for a weight in a situation: the law holds for its `weight_max`, and no situation has a greater weight.
///
/// @complexity `tries` times a dozen weights.
template <has_weight_in_situation P>
    requires has_weight_max<P>
[[nodiscard]] auto monotone(const P& policy, std::uint64_t seed = 1, std::uint32_t tries = 10'000) -> Finding {
    if (const auto finding = monotone(detail::GreatestWeight<P>{policy}, seed, tries)) { return finding; }
    auto sampler = Sampler{seed};
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto node = sampler.node();
        const auto task = sampler.task();
        const auto factors = sampler.factors();
        const auto node_class = sampler.node_class();
        const auto requirement = sampler.requirement();
        const auto situation =
            Situation{TimePoint{sampler.duration(40)}, node_class, requirement, sampler.once_in(4), sampler.once_in(4)};
        const auto weight = policy.weight(node, task, factors, situation);
        if (const auto most = policy.weight_max(node, factors); weight > most) {
            return sentence("the weight ", weight, " is above weight_max, ", most, " (GPU ", node_class.gpu, " with ",
                            node_class.vram.count, " GiB for a task of ", requirement.vram_min.count, " GiB, ", factors,
                            ")");
        }
    }
    return {};
}

}}}  // namespace allot::v0::laws

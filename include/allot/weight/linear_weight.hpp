#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/score.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `LinearWeight`.
struct LinearWeightParameters {
    /// Stake that counts in full, in the unit of the stakes; stake above it has no effect. Choose the stake of a large
    /// honest node: bounds of draws are stored in units of 2^-28 of it. Stakes far below 2^-20 of it therefore make
    /// draws slow (never wrong).
    Amount stake_cap = 1'000'000;
    std::uint32_t operator_caps = 0xFFFF'FFFFU;  ///< An operator's nodes together count at most this many caps. The
                                                 ///< default: no limit.
    Ratio holder_caps = 0;  ///< Caps that the holders of a model weigh at least, for each of `Rules::narrow_from`, so
                            ///< that a draw is narrowed to them. 0: their number suffices. Each has the best locality
                            ///< there; a weight above 16 ends at 16.
    Score score_cap = Score::one();  ///< Score that counts in full; a better one has no effect. Owners
                                     ///< give points, also to nodes of their own: praise gains no more than this.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {stake_cap > Amount{0} && stake_cap.admitted(),
             "allot: LinearWeight: stake_cap must be positive and below 2^96"},
            {operator_caps >= 1, "allot: LinearWeight: operator_caps must be at least 1"},
            {holder_caps.den > 0 && holder_caps.num <= std::uint64_t{15} * holder_caps.den,
             "allot: LinearWeight: holder_caps must be 0 to 15, with a positive denominator"},
            {score_cap > Score::zero(), "allot: LinearWeight: score_cap must be positive"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const LinearWeightParameters&, const LinearWeightParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(LinearWeightParameters, stake_cap, operator_caps, holder_caps, score_cap)

/// A weight that gains nothing by splitting: W = M · min(Q, score_cap) · min(stake, cap) / cap.
///
/// Below the cap it is proportional to stake: a stake split over nodes of equal service has the same weight as on one
/// node, and a node without stake has weight zero. Above the cap one node counts as the cap; an operator that splits a
/// larger stake regains a weight in proportion to it, never more. With the square root of seed 001, in contrast, k
/// nodes receive √k times as much. The scale is a parameter and not the network's largest stake, so no node's joining
/// changes the weight of another.
///
/// Let T be the sum of an operator's stakes and k be `operator_caps`. Where T exceeds k caps, the operator's nodes
/// share k caps: each counts stake · k·cap / T, and at most the cap. Bounds of draws do not depend on T, so draws are
/// slow (never wrong) where most stake is far above that.
///
/// It is below the exact rational by less than four units of 2^-92 times k, and above it by a relative error below
/// 2^-62.
class LinearWeight {
public:
    using role = role::weight;
    using Parameters = LinearWeightParameters;
    static constexpr bool monotone = true;

    constexpr LinearWeight() noexcept = default;
    constexpr explicit LinearWeight(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto weight(const Node& node, const Task&, Factors factors) const noexcept -> Weight {
        return staked(node.stake.units, factors.operator_stake)
            .scaled(std::min(factors.qos, parameters_.score_cap).raw(), std::uint64_t{1} << Score::fraction_bits)
            .scaled(factors.boost_num, factors.boost_den);
    }

    [[nodiscard]] constexpr auto by_operator() const noexcept -> bool {
        return parameters_.operator_caps != 0xFFFF'FFFFU;
    }

    /// The least weight of a model's holders for each of `narrow_from` of them: that of `holder_caps` nodes at the cap,
    /// of the best score that counts.
    [[nodiscard]] constexpr auto holder_weight_min() const noexcept -> Weight {
        return Weight::from_ratio(parameters_.holder_caps.num, parameters_.holder_caps.den)
            .scaled(parameters_.score_cap.raw(), std::uint64_t{1} << Score::fraction_bits);
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    /// The part of the cap that a stake counts for.
    [[nodiscard]] constexpr auto staked(u128 stake, u128 operator_stake) const noexcept -> Weight {
        const auto cap = parameters_.stake_cap.units;
        const auto caps = parameters_.operator_caps;
        if (!by_operator() || operator_stake <= cap * u128{caps}) { return ratio(std::min(stake, cap), cap); }
        return std::min(ratio(stake, std::max(stake, operator_stake)).scaled(caps, 1),
                        ratio(std::min(stake, cap), cap));
    }

    /// a / b, at least one unit when positive.
    /// @pre `a <= b` and `b > 0`.
    [[nodiscard]] static constexpr auto ratio(u128 a, u128 b) noexcept -> Weight {
        if (!a) { return Weight::zero(); }
        // The divisor is cut to one word; then a long division in two steps, so that every dividend fits.
        const auto cut = std::max(0, bit_width(b) - 64);
        const auto divisor = (b >> cut).low();
        const auto bits = Weight::fraction_bits - cut;
        const auto bits_first = std::min(bits, 128 - bit_width(a));
        const auto dividend = a << bits_first;
        const auto quotient = dividend / divisor;
        const auto remainder = dividend % divisor;
        const auto rest = bits - bits_first;
        return Weight::from_raw(std::max((quotient << rest) + (remainder << rest) / divisor, u128{1}));
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0

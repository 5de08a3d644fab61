#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/weight_policy.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `LinearWeight`.
struct LinearWeightParameters {
    /// Stake that counts in full, in the unit of the stakes; more counts no more. Choose what a large honest node stakes: bounds
    /// of draws are kept in units of 2^-28 of it, so stakes far below 2^-20 of it make draws slow (never wrong).
    Amount stake_cap = 1'000'000;

    /// True when the parameters make sense together.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return stake_cap > Amount{0} && stake_cap.admitted(); }
    friend constexpr auto operator==(const LinearWeightParameters&, const LinearWeightParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(LinearWeightParameters, stake_cap)

/// A weight that gains nothing by splitting: W = M · Q · min(stake, cap) / cap.
///
/// Below the cap it is proportional to stake, so a stake on many nodes of equal service weighs what it weighs on one, and a node
/// without stake weighs nothing. Above the cap one node counts as the cap; whoever spreads a larger stake gets his share of the
/// stake back, never more. The square root of seed 001 instead pays k nodes √k times as much. The scale is a parameter and not
/// the network's largest stake, so nobody's joining changes another's weight.
///
/// Below the exact rational by less than three units of 2^-92, and relative to it above by less than 2^-63.
class LinearWeight {
public:
    using role = role::weight;
    using Parameters = LinearWeightParameters;
    static constexpr bool monotone = true;

    constexpr LinearWeight() noexcept = default;
    /// @pre `parameters.valid()`.
    constexpr explicit LinearWeight(const Parameters& parameters) noexcept : parameters_{parameters} {}

    [[nodiscard]] constexpr auto weight(const Node& node, const Task&, Factors factors) const noexcept -> Weight {
        return staked(node.stake)
            .scaled(factors.qos.raw(), std::uint64_t{1} << Score::fraction_bits)
            .scaled(factors.boost_num, factors.boost_den);
    }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) noexcept { parameters_ = parameters; }

private:
    /// min(stake, cap) / cap; a positive stake below a unit weighs one unit.
    [[nodiscard]] constexpr auto staked(Amount stake) const noexcept -> Weight {
        const auto cap = parameters_.stake_cap.units;
        const auto counted = std::min(stake.units, cap);
        if (!counted) {
            return Weight::zero();
        }
        // The divisor is cut to one word; then a long division in two steps, so that every dividend fits.
        const auto cut = std::max(0, bit_width(cap) - 64);
        const auto divisor = (cap >> cut).low();
        const auto bits = Weight::fraction_bits - cut;
        const auto bits_first = std::min(bits, 128 - bit_width(counted));
        const auto dividend = counted << bits_first;
        const auto quotient = dividend / divisor;
        const auto remainder = dividend % divisor;
        const auto rest = bits - bits_first;  // below 60
        return Weight::from_raw(std::max((quotient << rest) + (remainder << rest) / divisor, u128{1}));
    }

    Parameters parameters_{};
};

}}  // namespace allot::v0

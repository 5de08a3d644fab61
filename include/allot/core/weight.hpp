#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/score.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// Selection weight of a candidate: fixed-point number in [0, 16) with 92 fraction bits.
///
/// A candidate is drawn in proportion to it. It has 92 bits because a small stake next to a huge one must keep its
/// share; the raw values of 2^32 weights sum without overflow in a `u128`. A positive weight never becomes zero,
/// because zero is never drawn.
class Weight {
public:
    /// Bits after the binary point.
    static constexpr int fraction_bits = 92;

    /// Zero.
    constexpr Weight() noexcept = default;

    /// The weight raw / 2^92, cut at `max()`.
    [[nodiscard]] static constexpr auto from_raw(u128 raw) noexcept -> Weight {
        auto weight = Weight{};
        weight.raw_ = std::min(raw, raw_max());
        return weight;
    }

    /// num / den, rounded down to 2^-92, at least 2^-92 when positive, cut at `max()`.
    /// @pre `den > 0`.
    [[nodiscard]] static constexpr auto from_ratio(std::uint64_t num, std::uint64_t den) noexcept -> Weight {
        ALLOT_ASSERT(den != 0, "a weight is no ratio to zero");
        if (num / den >= 16) { return max(); }
        // Long division in steps of 60 and 32 bits, so that every dividend fits.
        const auto first = u128{num % den} << 60;
        const auto second = (first % den) << 32;
        const auto fraction = ((first / den) << 32) + second / den;
        return at_least_one_unit((u128{num / den} << fraction_bits) + fraction, num != 0);
    }

    /// Zero: never drawn.
    [[nodiscard]] static constexpr auto zero() noexcept -> Weight { return Weight{}; }

    /// The largest weight, 16 - 2^-27. It is so much below 16 that its bound still fits 32 bits.
    [[nodiscard]] static constexpr auto max() noexcept -> Weight { return from_raw(raw_max()); }

    /// The weight in units of 2^-92.
    [[nodiscard]] constexpr auto raw() const noexcept -> u128 { return raw_; }

    /// True for the weight that is never drawn.
    [[nodiscard]] constexpr auto is_zero() const noexcept -> bool { return raw_ == 0; }

    /// The weight times num / den, rounded down to 2^-92, at least 2^-92 when positive, cut at `max()`.
    ///
    /// It is exact for any two words, and fastest below 2^32. It never falls when the weight rises.
    /// @pre `den > 0`.
    [[nodiscard]] constexpr auto scaled(std::uint64_t num, std::uint64_t den) const noexcept -> Weight {
        ALLOT_ASSERT(den != 0, "a weight is scaled by no ratio to zero");
        if (num == den) { return *this; }
        const auto positive = !is_zero() && num != 0;
        if (num >> 32U == 0) { return at_least_one_unit(raw_ * num / den, positive); }
        // The product has three words, of which the division leaves at most two: else the result is past the cut.
        const auto low = multiply_wide(raw_.low(), num);
        const auto high = multiply_wide(raw_.high(), num) + low.high();
        const auto upper = high / den;
        if (upper >> 32) { return max(); }
        const auto lower = u128::from_parts((high % den).low(), low.low()) / den;
        return at_least_one_unit((upper << 64) + lower, positive);
    }

    friend constexpr auto operator==(Weight, Weight) noexcept -> bool = default;
    friend constexpr auto operator<=>(Weight, Weight) noexcept -> std::strong_ordering = default;

private:
    [[nodiscard]] static constexpr auto raw_max() noexcept -> u128 { return (u128{1} << 96) - (u128{1} << 65); }

    [[nodiscard]] static constexpr auto at_least_one_unit(u128 raw, bool positive) noexcept -> Weight {
        return from_raw(positive && raw == 0 ? u128{1} : raw);
    }

    u128 raw_{};
};

/// The exact factors of a weight, before any division.
///
/// The staking score is `stake_root / stake_root_max`; the boost is the model locality M, `boost_num / boost_den`.
struct Factors {
    StakeRoot stake_root{};      ///< of the candidate
    StakeRoot stake_root_max{};  ///< over all nodes that have not left
    Score qos{};                 ///< of the candidate, now
    std::uint64_t boost_num = 1;
    std::uint64_t boost_den = 1;  ///< positive
    u128 operator_stake{};        ///< of all nodes of its operator, where the policy asks for it; else zero

    friend constexpr auto operator==(const Factors&, const Factors&) noexcept -> bool = default;
};

// All roundings of a weight W = M * S * Q / (S + Q), in the order in which they happen:
//
// 1. Both stake roots are rounded down, relative error below 2^-31 each, hence S within 2^-30 of its true value.
//    With mantissas m and n of root and maximum, exponent gap d and q = Q * 2^30,
//        S * Q / (S + Q) = 2^-d * m * q / (m * 2^(30 - d) + q * n).
// 2. For d > 30 the first term of the denominator is rounded down. Before that, q and that term are scaled up until
//    q >= 2^29 or no bit is lost, so the denominator is then above 2^60 and the error below 2^-60, upwards.
// 3. The quotient is rounded down to a whole number of units 2^-92. It is above 2^-66, as d <= 64, so never zero.
// 4. Times M: rounded down to a whole number of units, but a positive weight to at least one unit.
//
// Steps 2 to 4 together: W is below the exact rational of the rounded roots by less than one unit before the boost and
// one after it. It is above that rational by less than 2^-60 of it, or by up to one unit where step 4 rounds up. For
// stakes below 2^96 and Q of at least 2^-30 a weight without boost is above 2^-50, so the relative error is below
// 2^-41; with all stakes below 2^128 it is below 2^-26. Step 1 adds at most 2^-30. Every step is monotone, so W never
// falls when the stake, Q or M rises.

/// Selection weight M * S * Q / (S + Q), half the harmonic mean of staking and QoS score, times the locality boost
/// (seed 001).
///
/// With the harmonic mean neither score compensates for the other: a node of large stake that times out stays unlikely.
/// The weight is zero when a score or the boost is zero, otherwise positive. A stake root above the maximum counts as
/// the maximum.
/// @pre `factors.boost_den > 0`.
/// @complexity constant: two divisions by a word, three with a boost.
[[nodiscard]] constexpr auto harmonic(const Factors& factors) noexcept -> Weight {
    const auto most = factors.stake_root_max;
    const auto root = std::min(factors.stake_root, most);
    if (root.is_zero() || factors.qos == Score::zero()) { return Weight::zero(); }
    const auto gap = exponent_gap(root, most);
    const auto qos_raw = std::uint64_t{factors.qos.raw()};
    const auto qos_shift = std::min(gap, std::max(0, Score::fraction_bits - bit_width(u128{qos_raw})));
    const auto qos = qos_raw << qos_shift;
    const auto stake_shift = Score::fraction_bits + qos_shift - gap;  // in [-34, 30]
    const auto mantissa = std::uint64_t{root.mantissa()};
    const auto stake_term = stake_shift >= 0 ? mantissa << stake_shift : mantissa >> -stake_shift;
    const auto denominator = stake_term + qos * most.mantissa();  // in [2^31, 2^63)
    const auto numerator = u128{mantissa * qos};                  // below 2^62 and twice the denominator

    // floor(numerator * 2^(92 - gap) / denominator), by 63 bits at once and the rest from the remainder.
    const auto bits = Weight::fraction_bits - gap;
    const auto bits_first = std::min(bits, 63);
    const auto bits_rest = bits - bits_first;
    const auto dividend = numerator << bits_first;
    const auto quotient = dividend / denominator;
    auto raw = quotient;
    if (bits_rest > 0) {
        const auto remainder = dividend.low() - quotient.low() * denominator;  // modulo 2^64, which it is below
        raw = (quotient << bits_rest) + (u128{remainder} << bits_rest) / denominator;
    }
    return Weight::from_raw(raw).scaled(factors.boost_num, factors.boost_den);
}

/// An upper bound of the weight in units of 2^-28, for an index whose sums must be cheap; 0 for zero alone.
///
/// A relative margin of 2^-32 is added, then the sum is rounded up past the next unit. Together they exceed the
/// roundings of a weight (stated above). So the bound of a node's best weight covers each weight the node can have,
/// rescaled or not. The largest weight has the bound 2^32 - 1.
[[nodiscard]] constexpr auto bound_of(Weight weight) noexcept -> std::uint32_t {
    if (weight.is_zero()) { return 0; }
    return static_cast<std::uint32_t>(((weight.raw() + (weight.raw() >> 32)) >> 64).low() + 1);
}

/// The weight times `max_now / ceiling`: the same share of a draw, in the scale of a stake maximum that does not
/// change.
///
/// W * stake_max only rises with stake_max. So a bound made once with the ceiling as maximum covers the rescaled weight
/// under every maximum up to it, and an index need not follow each new maximum. Rounded down to 2^-92, a positive
/// weight to at least that.
/// @pre `ceiling` is a power of two and `max_now <= ceiling`.
[[nodiscard]] constexpr auto at_stake_root_ceiling(Weight weight, StakeRoot max_now, StakeRoot ceiling) noexcept
    -> Weight {
    if (weight.is_zero() || max_now.is_zero()) { return Weight::zero(); }
    ALLOT_ASSERT(ceil_power_of_two(ceiling) == ceiling, "the ceiling of the stake roots is a power of two");
    const auto raw = (weight.raw() * max_now.mantissa()) >> (31 + exponent_gap(max_now, ceiling));
    return Weight::from_raw(std::max(raw, u128{1}));
}

}}  // namespace allot::v0

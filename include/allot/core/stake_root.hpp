#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// floor(sqrt(value)) by Newton's method from above: the estimates fall until they reach it.
/// @pre `guess >= floor(sqrt(value))` and `guess > 0`.
[[nodiscard]] constexpr auto isqrt_from(u128 value, std::uint64_t guess) noexcept -> std::uint64_t {
    while (true) {
        const auto next = (guess + value / guess) >> 1;  // may be 2^64 above 2^128 - 2^65
        if (next >= guess) { return guess; }
        guess = next.low();
    }
}

/// floor(sqrt(value)) of one word, computed within one word.
[[nodiscard]] constexpr auto isqrt_word(std::uint64_t value) noexcept -> std::uint64_t {
    if (value == 0) { return 0; }
    auto guess = std::uint64_t{1} << ((static_cast<unsigned>(std::bit_width(value)) + 1U) / 2U);
    while (true) {
        const auto next = (guess + value / guess) / 2U;
        if (next >= guess) { return guess; }
        guess = next;
    }
}

}  // namespace detail

/// floor(sqrt(value)), exactly.
/// @complexity at most ten divisions.
[[nodiscard]] constexpr auto isqrt(u128 value) noexcept -> std::uint64_t {
    if (value.high() == 0) { return detail::isqrt_word(value.low()); }
    // The root of the upper word is the upper half of the root, so the guess is right to 2^-31 and two steps are
    // enough.
    constexpr auto word_max = ~std::uint64_t{0};
    const auto shift = (static_cast<unsigned>(bit_width(value)) - 63U) / 2U;
    const auto guess = u128{detail::isqrt_word((value >> (2U * shift)).low()) + 1U} << shift;
    return detail::isqrt_from(value, guess.high() != 0 ? word_max : guess.low());
}

/// Square root of a stake, as a mantissa of 32 bits and an exponent: `mantissa * 2^exponent`, rounded down.
///
/// A whole-number root would be too coarse for small stakes: the roots of 2 and of 3 would both be 1. For every stake
/// from 1 up this one is below the true root by a relative error under 2^-31. It is exact for powers of four, and never
/// falls when the stake rises.
class StakeRoot {
public:
    /// Zero, the root of no stake.
    constexpr StakeRoot() noexcept = default;

    /// The root of a stake.
    [[nodiscard]] static constexpr auto from(u128 stake) noexcept -> StakeRoot {
        if (!stake) { return StakeRoot{}; }
        // An even shift brings the stake to 63 or 64 bits, its root to 32. Bits shifted out on the right do not
        // matter, as floor(sqrt(floor(x))) = floor(sqrt(x)).
        const auto excess = bit_width(stake) - 63;
        const auto exponent = excess >= 0 ? excess / 2 : -((1 - excess) / 2);
        const auto scaled = exponent >= 0 ? stake >> (2 * exponent) : stake << (-2 * exponent);
        return from_parts(static_cast<std::uint32_t>(detail::isqrt_word(scaled.low())), exponent);
    }

    /// The root `mantissa * 2^exponent`.
    /// @pre `mantissa >= 2^31` and `exponent` in [-31, 33].
    [[nodiscard]] static constexpr auto from_parts(std::uint32_t mantissa, int exponent) noexcept -> StakeRoot {
        ALLOT_ASSERT(mantissa >= mantissa_min, "the mantissa of a root has its top bit set");
        ALLOT_ASSERT(exponent >= exponent_min && exponent <= exponent_max, "no stake has such a root");
        auto root = StakeRoot{};
        root.packed_ = (static_cast<std::uint64_t>(exponent + exponent_bias) << 32U) | mantissa;
        return root;
    }

    /// True if `packed()` can return the word.
    [[nodiscard]] static constexpr auto is_packed(std::uint64_t word) noexcept -> bool {
        const auto exponent = word >> 32U;
        return word == 0 || (static_cast<std::uint32_t>(word) >= mantissa_min &&
                             exponent >= std::uint64_t{exponent_min + exponent_bias} &&
                             exponent <= std::uint64_t{exponent_max + exponent_bias});
    }

    /// The root whose `packed()` is `word`.
    /// @pre `is_packed(word)`.
    [[nodiscard]] static constexpr auto from_packed(std::uint64_t word) noexcept -> StakeRoot {
        ALLOT_ASSERT(is_packed(word), "the word is no packed root");
        auto root = StakeRoot{};
        root.packed_ = word;
        return root;
    }

    /// The root in one word, `(exponent + 64) << 32 | mantissa`, and 0 for zero: words compare as the roots do.
    [[nodiscard]] constexpr auto packed() const noexcept -> std::uint64_t { return packed_; }

    /// True for the root of no stake.
    [[nodiscard]] constexpr auto is_zero() const noexcept -> bool { return packed_ == 0; }

    /// The mantissa, in [2^31, 2^32); 0 for zero.
    [[nodiscard]] constexpr auto mantissa() const noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>(packed_);
    }

    /// The power of two, in [-31, 33]; 0 for zero.
    [[nodiscard]] constexpr auto exponent() const noexcept -> int {
        return is_zero() ? 0 : static_cast<int>(packed_ >> 32U) - exponent_bias;
    }

    friend constexpr auto operator==(StakeRoot, StakeRoot) noexcept -> bool = default;
    friend constexpr auto operator<=>(StakeRoot, StakeRoot) noexcept -> std::strong_ordering = default;

private:
    static constexpr auto mantissa_min = std::uint32_t{1} << 31U;
    static constexpr int exponent_bias = 64;
    static constexpr int exponent_min = -31;  // the root of 1
    static constexpr int exponent_max = 33;   // one more than any stake's, for the ceiling of the largest

    std::uint64_t packed_ = 0;
};

/// The least power of two that is no smaller than the root; zero for zero.
[[nodiscard]] constexpr auto ceil_power_of_two(StakeRoot root) noexcept -> StakeRoot {
    constexpr auto mantissa_min = std::uint32_t{1} << 31U;
    if (root.is_zero() || root.mantissa() == mantissa_min) { return root; }
    return StakeRoot::from_parts(mantissa_min, root.exponent() + 1);
}

/// Difference of the two roots' exponents, in powers of two.
/// @pre `smaller <= larger`, neither zero.
[[nodiscard]] constexpr auto exponent_gap(StakeRoot smaller, StakeRoot larger) noexcept -> int {
    ALLOT_ASSERT(!smaller.is_zero() && smaller <= larger, "the gap is asked from a positive root upwards");
    return larger.exponent() - smaller.exponent();
}

}}  // namespace allot::v0

#pragma once

#include <bit>
#include <cstdint>

namespace allot { inline namespace v0 { namespace detail {

/// 128 bits as two words. The operations on it are the portable implementation of `u128`: compiled on every target,
/// used where the compiler has no 128-bit integer.
struct WideWord {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend constexpr auto operator==(WideWord, WideWord) noexcept -> bool = default;
};

/// Quotient and remainder.
struct WideDivision {
    WideWord quotient;
    WideWord remainder;
};

/// Exact product of two words, from four products of half words.
[[nodiscard]] constexpr auto portable_multiply(std::uint64_t a, std::uint64_t b) noexcept -> WideWord {
    constexpr auto half_mask = std::uint64_t{0xFFFF'FFFF};
    const auto a_high = a >> 32U;
    const auto a_low = a & half_mask;
    const auto b_high = b >> 32U;
    const auto b_low = b & half_mask;
    const auto low = a_low * b_low;
    // Neither sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    const auto middle = a_high * b_low + (low >> 32U);
    const auto cross = a_low * b_high + (middle & half_mask);
    return {a_high * b_high + (middle >> 32U) + (cross >> 32U), (cross << 32U) | (low & half_mask)};
}

/// Product modulo 2^128.
[[nodiscard]] constexpr auto portable_multiply(WideWord a, WideWord b) noexcept -> WideWord {
    auto product = portable_multiply(a.low, b.low);
    product.high += a.high * b.low + a.low * b.high;
    return product;
}

/// Difference modulo 2^128.
[[nodiscard]] constexpr auto portable_subtract(WideWord a, WideWord b) noexcept -> WideWord {
    const auto borrow = static_cast<std::uint64_t>(a.low < b.low);
    return {a.high - b.high - borrow, a.low - b.low};
}

/// `value << count`.
/// @pre `count < 64`.
[[nodiscard]] constexpr auto portable_shift_left(WideWord value, unsigned count) noexcept -> WideWord {
    if (count == 0) { return value; }
    return {(value.high << count) | (value.low >> (64U - count)), value.low << count};
}

/// One step of schoolbook division: the 32-bit digit of `(remainder, next) / divisor`. Sets `remainder` to its
/// remainder.
///
/// The digit is estimated from the upper half of the divisor, which is then at most two too large.
/// @pre the top bit of `divisor` is set and `remainder < divisor`; `next < 2^32`.
/// @complexity constant: at most two corrections of the estimate.
[[nodiscard]] constexpr auto portable_digit(std::uint64_t& remainder, std::uint64_t next,
                                            std::uint64_t divisor) noexcept -> std::uint64_t {
    const auto divisor_high = divisor >> 32U;
    const auto divisor_low = divisor & 0xFFFF'FFFFU;
    auto digit = remainder / divisor_high;
    auto rest = remainder % divisor_high;
    while ((digit >> 32U) != 0 || digit * divisor_low > ((rest << 32U) | next)) {
        --digit;
        rest += divisor_high;
        if ((rest >> 32U) != 0) { break; }
    }
    // Modulo 2^64 on purpose: the true value is below the divisor.
    remainder = (remainder << 32U) + next - digit * divisor;
    return digit;
}

/// Quotient and remainder of a division by one word.
/// @pre `divisor > 0`.
[[nodiscard]] constexpr auto portable_divide(WideWord value, std::uint64_t divisor) noexcept -> WideDivision {
    const auto quotient_high = value.high / divisor;
    value.high %= divisor;
    if (value.high == 0) { return {{quotient_high, value.low / divisor}, {0, value.low % divisor}}; }
    const auto shift = static_cast<unsigned>(std::countl_zero(divisor));
    const auto scaled = portable_shift_left(value, shift);  // value.high < divisor, so nothing is lost
    auto remainder = scaled.high;
    const auto upper = portable_digit(remainder, scaled.low >> 32U, divisor << shift);
    const auto lower = portable_digit(remainder, scaled.low & 0xFFFF'FFFFU, divisor << shift);
    return {{quotient_high, (upper << 32U) | lower}, {0, remainder >> shift}};
}

/// Quotient and remainder.
/// @pre `divisor` is not zero.
[[nodiscard]] constexpr auto portable_divide(WideWord value, WideWord divisor) noexcept -> WideDivision {
    if (divisor.high == 0) { return portable_divide(value, divisor.low); }
    // The quotient is one word. Half the value, divided by the upper word of the scaled divisor, fits in a word as
    // well. It gives an estimate that is exact or one too large; less one, exact or one too small. The remainder
    // decides.
    const auto shift = static_cast<unsigned>(std::countl_zero(divisor.high));
    const auto divisor_top = portable_shift_left(divisor, shift).high;
    const auto half = WideWord{value.high >> 1U, (value.high << 63U) | (value.low >> 1U)};
    auto quotient = portable_divide(half, divisor_top).quotient.low >> (63U - shift);
    quotient -= static_cast<std::uint64_t>(quotient != 0);
    auto remainder = portable_subtract(value, portable_multiply(WideWord{0, quotient}, divisor));
    const auto at_least_divisor =
        remainder.high > divisor.high || (remainder.high == divisor.high && remainder.low >= divisor.low);
    if (at_least_divisor) {
        ++quotient;
        remainder = portable_subtract(remainder, divisor);
    }
    return {{0, quotient}, remainder};
}

}}}  // namespace allot::v0::detail

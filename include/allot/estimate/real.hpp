#pragma once

#include <compare>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// A real number, `mantissa` × 2^`exponent`, computed in integers and therefore the same on every machine. It is for
/// quantities beyond any fixed point, such as the squares of durations between milliseconds and weeks.
///
/// The mantissa is in magnitude in [2^61, 2^62), or zero, and then the exponent is zero too. Every result is the exact
/// one truncated towards zero: its relative error is below 2^-61 (for `+` and `-` below 2^-60). Magnitudes below
/// 2^-exponent_limit become zero; those above the largest become the largest.
struct Real {
    std::int64_t mantissa = 0;
    std::int32_t exponent = 0;

    static constexpr std::int32_t exponent_limit = 1 << 20;  ///< Exponents are less than this in magnitude.
    static constexpr int digits = 62;                        ///< Binary digits of the mantissa.

    /// The value of an unsigned integer, truncated.
    [[nodiscard]] static constexpr auto from(u128 value) noexcept -> Real { return normal(false, value, 0); }
    /// num / den, truncated.
    /// @pre `den > 0`.
    [[nodiscard]] static constexpr auto ratio(u128 num, u128 den) noexcept -> Real { return from(num) / from(den); }

    /// True for a number in the form that every operation gives; input of an untrusted party may have another.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool {
        const auto inside = exponent > -exponent_limit && exponent < exponent_limit;
        return mantissa == 0 ? exponent == 0 : inside && bit_width(u128{magnitude()}) == digits;
    }
    /// True for a value below zero.
    [[nodiscard]] constexpr auto negative() const noexcept -> bool { return mantissa < 0; }

    /// The nearest integer to value × 2^shift, the greater of two equally near; at most `most`.
    /// @pre the value is not negative.
    [[nodiscard]] constexpr auto rounded(int shift, std::uint64_t most) const noexcept -> std::uint64_t {
        ALLOT_ASSERT(!negative(), "what is rounded to an unsigned integer is not negative");
        const auto places = std::int64_t{exponent} + shift;
        if (mantissa == 0 || places < -digits - 1) { return 0; }
        if (places > 64 - digits) {
            return most;  // at least 2^64
        }
        const auto halves = places >= 0 ? u128{magnitude()} << (places + 1) : (u128{magnitude()} << 1) >> -places;
        const auto nearest = (halves + 1U) >> 1;
        return nearest > most ? most : nearest.low();
    }

    friend constexpr auto operator==(const Real&, const Real&) noexcept -> bool = default;
    [[nodiscard]] friend constexpr auto operator<=>(const Real& a, const Real& b) noexcept -> std::strong_ordering {
        return (a - b).mantissa <=> std::int64_t{0};
    }

    [[nodiscard]] friend constexpr auto operator-(const Real& a) noexcept -> Real { return {-a.mantissa, a.exponent}; }
    [[nodiscard]] friend constexpr auto operator+(const Real& a, const Real& b) noexcept -> Real {
        if (a.mantissa == 0 || b.mantissa == 0) { return a.mantissa == 0 ? b : a; }
        const auto& upper = a.exponent >= b.exponent ? a : b;
        const auto& lower = a.exponent >= b.exponent ? b : a;
        // 64 digits behind those of the upper one: the digits lost from the lower one are below 2^-64 of the upper,
        // which is then more than twice as great.
        const auto large = u128{upper.magnitude()} << 64;
        const auto small = (u128{lower.magnitude()} << 64) >> (upper.exponent - lower.exponent);
        const auto place = std::int64_t{upper.exponent} - 64;
        if (upper.negative() == lower.negative()) { return normal(upper.negative(), large + small, place); }
        return large >= small ? normal(upper.negative(), large - small, place)
                              : normal(lower.negative(), small - large, place);
    }
    [[nodiscard]] friend constexpr auto operator-(const Real& a, const Real& b) noexcept -> Real { return a + -b; }
    [[nodiscard]] friend constexpr auto operator*(const Real& a, const Real& b) noexcept -> Real {
        return normal(a.negative() != b.negative(), multiply_wide(a.magnitude(), b.magnitude()),
                      std::int64_t{a.exponent} + b.exponent);
    }
    /// Quotient, truncated.
    /// @pre `b` is not zero.
    [[nodiscard]] friend constexpr auto operator/(const Real& a, const Real& b) noexcept -> Real {
        ALLOT_ASSERT(b.mantissa != 0, "division by zero");
        return normal(a.negative() != b.negative(), (u128{a.magnitude()} << 64) / b.magnitude(),
                      std::int64_t{a.exponent} - b.exponent - 64);
    }
    constexpr auto operator+=(const Real& b) noexcept -> Real& { return *this = *this + b; }
    constexpr auto operator-=(const Real& b) noexcept -> Real& { return *this = *this - b; }

private:
    [[nodiscard]] constexpr auto magnitude() const noexcept -> std::uint64_t {
        return negative() ? std::uint64_t{0} - static_cast<std::uint64_t>(mantissa)
                          : static_cast<std::uint64_t>(mantissa);
    }
    [[nodiscard]] static constexpr auto normal(bool negative, u128 magnitude, std::int64_t exponent) noexcept -> Real {
        const auto surplus = bit_width(magnitude) - digits;
        exponent += surplus;
        if (!magnitude || exponent <= -exponent_limit) { return {}; }
        auto mantissa = static_cast<std::int64_t>((surplus >= 0 ? magnitude >> surplus : magnitude << -surplus).low());
        if (exponent >= exponent_limit) {
            mantissa = (std::int64_t{1} << digits) - 1;
            exponent = exponent_limit - 1;
        }
        return {negative ? -mantissa : mantissa, static_cast<std::int32_t>(exponent)};
    }
};
ALLOT_FIELDS(Real, mantissa, exponent)

}}  // namespace allot::v0

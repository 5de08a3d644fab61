#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <allot/assert.hpp>
#include <allot/core/wide_arithmetic.hpp>

namespace allot { inline namespace v0 {

namespace detail {

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 native_u128;
#endif

/// Integers that convert to `u128` without a cast: the built-in ones of at most 64 bits.
template <class I>
concept word_integral = std::integral<I> && sizeof(I) <= sizeof(std::uint64_t);

}  // namespace detail

/// Unsigned integer of 128 bits with the arithmetic of the built-in unsigned types: results are modulo 2^128.
///
/// It exists because not every supported compiler has such a type, and because a token amount needs more than 64 bits.
/// All operations take constant time but `/` and `%`, whose cost depends on the operands; a divisor below 2^64 is the
/// fast case. No operation throws.
class u128 {
public:
    /// Zero.
    constexpr u128() noexcept = default;

    /// The value of a built-in integer.
    /// @pre `value >= 0`.
    template <detail::word_integral I>
    constexpr u128(I value) noexcept  // NOLINT: implicit, it loses nothing
        : low_{static_cast<std::uint64_t>(value)} {
        if constexpr (std::signed_integral<I>) { ALLOT_ASSERT(value >= 0, "a u128 is never negative"); }
    }

    /// high * 2^64 + low.
    [[nodiscard]] static constexpr auto from_parts(std::uint64_t high, std::uint64_t low) noexcept -> u128 {
        auto value = u128{low};
        value.high_ = high;
        return value;
    }

    /// 2^128 - 1.
    [[nodiscard]] static constexpr auto max() noexcept -> u128 { return ~u128{}; }

    /// The upper 64 bits.
    [[nodiscard]] constexpr auto high() const noexcept -> std::uint64_t { return high_; }
    /// The lower 64 bits.
    [[nodiscard]] constexpr auto low() const noexcept -> std::uint64_t { return low_; }

    /// The lower 64 bits, as a cast of a built-in integer would give.
    [[nodiscard]] explicit constexpr operator std::uint64_t() const noexcept { return low_; }
    /// The lower 32 bits.
    [[nodiscard]] explicit constexpr operator std::uint32_t() const noexcept {
        return static_cast<std::uint32_t>(low_);
    }
    /// True unless zero.
    [[nodiscard]] explicit constexpr operator bool() const noexcept { return (high_ | low_) != 0; }

    friend constexpr auto operator==(u128, u128) noexcept -> bool = default;
    // The members are compared in order of declaration, the upper word first.
    friend constexpr auto operator<=>(u128, u128) noexcept -> std::strong_ordering = default;
    // By itself, for it is a third of the code of the one before, which compilers do not put in line everywhere.
    friend constexpr auto operator<(u128 a, u128 b) noexcept -> bool {
        return a.high_ == b.high_ ? a.low_ < b.low_ : a.high_ < b.high_;
    }

    [[nodiscard]] friend constexpr auto operator+(u128 a, u128 b) noexcept -> u128 {
        const auto low = a.low_ + b.low_;
        return from_parts(a.high_ + b.high_ + static_cast<std::uint64_t>(low < a.low_), low);
    }
    [[nodiscard]] friend constexpr auto operator-(u128 a, u128 b) noexcept -> u128 {
        const auto borrow = static_cast<std::uint64_t>(a.low_ < b.low_);
        return from_parts(a.high_ - b.high_ - borrow, a.low_ - b.low_);
    }
    [[nodiscard]] friend constexpr auto operator*(u128 a, u128 b) noexcept -> u128 {
#ifdef __SIZEOF_INT128__
        return from_native(a.native() * b.native());
#else
        return from_wide(detail::portable_multiply(a.wide(), b.wide()));
#endif
    }
    /// Quotient, rounded down.
    /// @pre `b != 0`, as for `%`.
    [[nodiscard]] friend constexpr auto operator/(u128 a, u128 b) noexcept -> u128 {
        ALLOT_ASSERT(b, "division by zero");
        if ((a.high_ | b.high_) == 0) { return a.low_ / b.low_; }
#ifdef __SIZEOF_INT128__
        return from_native(a.native() / b.native());
#else
        return from_wide(detail::portable_divide(a.wide(), b.wide()).quotient);
#endif
    }
    [[nodiscard]] friend constexpr auto operator%(u128 a, u128 b) noexcept -> u128 {
        ALLOT_ASSERT(b, "division by zero");
        if ((a.high_ | b.high_) == 0) { return a.low_ % b.low_; }
#ifdef __SIZEOF_INT128__
        return from_native(a.native() % b.native());
#else
        return from_wide(detail::portable_divide(a.wide(), b.wide()).remainder);
#endif
    }

    [[nodiscard]] friend constexpr auto operator&(u128 a, u128 b) noexcept -> u128 {
        return from_parts(a.high_ & b.high_, a.low_ & b.low_);
    }
    [[nodiscard]] friend constexpr auto operator|(u128 a, u128 b) noexcept -> u128 {
        return from_parts(a.high_ | b.high_, a.low_ | b.low_);
    }
    [[nodiscard]] friend constexpr auto operator^(u128 a, u128 b) noexcept -> u128 {
        return from_parts(a.high_ ^ b.high_, a.low_ ^ b.low_);
    }
    [[nodiscard]] friend constexpr auto operator~(u128 a) noexcept -> u128 { return from_parts(~a.high_, ~a.low_); }

    /// Shifts left. Unlike the built-in shifts these are defined for every count: 128 and more give zero.
    /// @pre `count >= 0`.
    template <detail::word_integral I>
    [[nodiscard]] friend constexpr auto operator<<(u128 a, I count) noexcept -> u128 {
        const auto bits = shift_count(count);
        if (bits >= 64) { return from_parts(bits >= 128 ? 0 : a.low_ << (bits - 64), 0); }
        return bits == 0 ? a : from_parts((a.high_ << bits) | (a.low_ >> (64 - bits)), a.low_ << bits);
    }
    template <detail::word_integral I>
    [[nodiscard]] friend constexpr auto operator>>(u128 a, I count) noexcept -> u128 {
        const auto bits = shift_count(count);
        if (bits >= 64) { return from_parts(0, bits >= 128 ? 0 : a.high_ >> (bits - 64)); }
        return bits == 0 ? a : from_parts(a.high_ >> bits, (a.low_ >> bits) | (a.high_ << (64 - bits)));
    }

    constexpr auto operator+=(u128 b) noexcept -> u128& { return *this = *this + b; }
    constexpr auto operator-=(u128 b) noexcept -> u128& { return *this = *this - b; }
    constexpr auto operator*=(u128 b) noexcept -> u128& { return *this = *this * b; }
    constexpr auto operator/=(u128 b) noexcept -> u128& { return *this = *this / b; }
    constexpr auto operator%=(u128 b) noexcept -> u128& { return *this = *this % b; }
    constexpr auto operator&=(u128 b) noexcept -> u128& { return *this = *this & b; }
    constexpr auto operator|=(u128 b) noexcept -> u128& { return *this = *this | b; }
    constexpr auto operator^=(u128 b) noexcept -> u128& { return *this = *this ^ b; }
    template <detail::word_integral I>
    constexpr auto operator<<=(I count) noexcept -> u128& {
        return *this = *this << count;
    }
    template <detail::word_integral I>
    constexpr auto operator>>=(I count) noexcept -> u128& {
        return *this = *this >> count;
    }

    constexpr auto operator++() noexcept -> u128& { return *this += std::uint64_t{1}; }
    constexpr auto operator--() noexcept -> u128& { return *this -= std::uint64_t{1}; }
    constexpr auto operator++(int) noexcept -> u128 {
        const auto before = *this;
        ++*this;
        return before;
    }
    constexpr auto operator--(int) noexcept -> u128 {
        const auto before = *this;
        --*this;
        return before;
    }

private:
    template <class I>
    [[nodiscard]] static constexpr auto shift_count(I count) noexcept -> std::uint64_t {
        if constexpr (std::signed_integral<I>) { ALLOT_ASSERT(count >= 0, "a shift count is never negative"); }
        return static_cast<std::uint64_t>(count);
    }

#ifdef __SIZEOF_INT128__
    [[nodiscard]] constexpr auto native() const noexcept -> detail::native_u128 {
        return (detail::native_u128{high_} << 64U) | low_;
    }
    [[nodiscard]] static constexpr auto from_native(detail::native_u128 value) noexcept -> u128 {
        return from_parts(static_cast<std::uint64_t>(value >> 64U), static_cast<std::uint64_t>(value));
    }
#else
    [[nodiscard]] constexpr auto wide() const noexcept -> detail::WideWord { return {high_, low_}; }
    [[nodiscard]] static constexpr auto from_wide(detail::WideWord value) noexcept -> u128 {
        return from_parts(value.high, value.low);
    }
#endif

    std::uint64_t high_ = 0;
    std::uint64_t low_ = 0;
};

/// Number of bits needed to write the value; 0 for zero.
[[nodiscard]] constexpr auto bit_width(u128 value) noexcept -> int {
    const auto word = value.high() != 0 ? value.high() : value.low();
    return (value.high() != 0 ? 128 : 64) - std::countl_zero(word);
}

/// Exact product of two words.
[[nodiscard]] constexpr auto multiply_wide(std::uint64_t a, std::uint64_t b) noexcept -> u128 {
#ifdef __SIZEOF_INT128__
    return u128{a} * u128{b};
#else
    const auto product = detail::portable_multiply(a, b);
    return u128::from_parts(product.high, product.low);
#endif
}

/// floor(a * b / 2^64).
[[nodiscard]] constexpr auto multiply_high(std::uint64_t a, std::uint64_t b) noexcept -> std::uint64_t {
    return multiply_wide(a, b).high();
}

/// The sum; empty when it exceeds 128 bits.
[[nodiscard]] constexpr auto checked_add(u128 a, u128 b) noexcept -> std::optional<u128> {
    const auto sum = a + b;
    return sum < a ? std::nullopt : std::optional{sum};
}

/// The value in decimal digits, without sign or leading zeros.
/// @complexity constant: at most 39 digits.
[[nodiscard]] inline auto to_decimal(u128 value) -> std::string {
    constexpr auto group = std::uint64_t{10'000'000'000'000'000'000U};  // the largest power of ten in a word
    if (value < group) { return std::to_string(value.low()); }
    const auto tail = std::to_string((value % group).low());
    return to_decimal(value / group) + std::string(19 - tail.size(), '0') + tail;
}

/// The value of a text of decimal digits. Empty when the text is empty, has another character, or needs more than 128
/// bits.
/// @complexity linear in the length of the text.
[[nodiscard]] constexpr auto parse_decimal(std::string_view digits) noexcept -> std::optional<u128> {
    if (digits.empty()) { return std::nullopt; }
    auto value = u128{};
    for (const auto digit : digits) {
        if (digit < '0' || digit > '9' || value > u128::max() / 10) { return std::nullopt; }
        const auto sum = checked_add(value * 10, digit - '0');
        if (!sum) { return std::nullopt; }
        value = *sum;
    }
    return value;
}

}}  // namespace allot::v0

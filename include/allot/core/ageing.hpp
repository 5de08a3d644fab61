#pragma once

#include <cstdint>
#include <utility>

#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// log2(num / den) + 32, in units of 2^-48, rounded down; zero for zero.
///
/// Equal ratios have equal logarithms, and a larger ratio never has a smaller one: integer part and mantissa are exact
/// floors, and each squaring keeps the order of the following ones. The result is below the true logarithm by less than
/// 2^-47.
/// @pre `num < 2^96` and `den > 0`.
/// @complexity constant: one division, 48 products.
[[nodiscard]] constexpr auto log2_of(u128 num, std::uint32_t den) noexcept -> std::uint64_t {
    if (!num) { return 0; }
    const auto shift = 128 - bit_width(num);
    const auto quotient = (num << shift) / den;  // of at least 96 bits
    const auto width = bit_width(quotient);
    auto mantissa = (quotient >> (width - 64)).low();  // in [1, 2), with 63 fraction bits
    auto log = std::uint64_t{static_cast<std::uint32_t>(width - 1 - shift + 32)};
    for (auto bit = 0; bit < 48; ++bit) {
        const auto square = multiply_wide(mantissa, mantissa);
        const auto above_two = square.high() >> 63U;
        mantissa = above_two != 0 ? square.high() : (square >> 63).low();
        log = 2 * log + above_two;
    }
    return log;
}

/// The queue's sort key of a task whose value doubles in each `doubling` since its submission: log2(value) - time /
/// doubling, in units of 2^-48 and above zero.
///
/// All values double in the same time, so the order among tasks never changes while they wait. A value of zero stays
/// zero.
/// @pre `doubling` is at least a minute and `submitted_at` at most 2^48 ms.
[[nodiscard]] constexpr auto aged(const Value& value, TimePoint submitted_at, Duration doubling) noexcept -> Value {
    if (!value.num()) { return value; }
    const auto left = static_cast<std::uint64_t>((time_point_max - submitted_at).count());
    const auto doublings_left = (u128{left} << 48) / static_cast<std::uint64_t>(doubling.count());
    return u128{log2_of(value.num(), value.den())} + doublings_left + u128{1};
}

/// True if `a` is at least `factor` times `b`, computed exactly.
/// @pre `factor.den > 0`.
[[nodiscard]] constexpr auto at_least(const Value& a, Ratio factor, const Value& b) noexcept -> bool {
    const auto times = [](u128 product, std::uint32_t by) {  // below 2^160: the upper words, the lowest
        const auto low = multiply_wide(product.low(), by);
        return std::pair{multiply_wide(product.high(), by) + u128{low.high()}, low.low()};
    };
    return times(a.num() * u128{b.den()}, factor.den) >= times(b.num() * u128{a.den()}, factor.num);
}

}}  // namespace allot::v0

#pragma once

#include <compare>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// Fixed-point number in [0, 1] with 30 fraction bits, for QoS, health, speed and similar quantities.
///
/// An integer has the same value on every target; 2^-30 is finer than the measurement of any score.
class Score {
public:
    /// Bits after the binary point.
    static constexpr int fraction_bits = 30;

    /// Zero.
    constexpr Score() noexcept = default;

    /// The score raw / 2^30, cut at one.
    [[nodiscard]] static constexpr auto from_raw(std::uint32_t raw) noexcept -> Score {
        auto score = Score{};
        score.raw_ = raw < one_raw ? raw : one_raw;
        return score;
    }

    /// num / den, rounded down to 2^-30, cut at one.
    /// @pre `den > 0`.
    [[nodiscard]] static constexpr auto from_ratio(std::uint64_t num, std::uint64_t den) noexcept -> Score {
        ALLOT_ASSERT(den != 0, "a score is no ratio to zero");
        return num >= den ? one() : from_raw(static_cast<std::uint32_t>((u128{num} << fraction_bits) / den));
    }

    /// Zero.
    [[nodiscard]] static constexpr auto zero() noexcept -> Score { return Score{}; }
    /// One, the best score.
    [[nodiscard]] static constexpr auto one() noexcept -> Score { return from_raw(one_raw); }

    /// The score in units of 2^-30.
    [[nodiscard]] constexpr auto raw() const noexcept -> std::uint32_t { return raw_; }

    /// The score in thousandths, rounded down, for people to read.
    [[nodiscard]] constexpr auto permille() const noexcept -> std::uint32_t {
        return static_cast<std::uint32_t>((std::uint64_t{raw_} * 1'000) >> fraction_bits);
    }

    /// The product, rounded down to 2^-30. One is neutral, and no product exceeds a factor.
    [[nodiscard]] friend constexpr auto operator*(Score a, Score b) noexcept -> Score {
        return from_raw(static_cast<std::uint32_t>((std::uint64_t{a.raw_} * b.raw_) >> fraction_bits));
    }
    /// Multiplies, as above.
    constexpr auto operator*=(Score other) noexcept -> Score& { return *this = *this * other; }

    friend constexpr auto operator==(Score, Score) noexcept -> bool = default;
    friend constexpr auto operator<=>(Score, Score) noexcept -> std::strong_ordering = default;

private:
    static constexpr auto one_raw = std::uint32_t{1} << fraction_bits;

    std::uint32_t raw_ = 0;
};

}}  // namespace allot::v0

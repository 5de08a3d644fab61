#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// Size of video memory: the nominal size that the embedder gives, in whole GiB. It is never rounded.
struct Gibibytes {
    std::uint32_t count = 0;

    friend constexpr auto operator<=>(Gibibytes, Gibibytes) noexcept -> std::strong_ordering = default;
};

namespace literals {

/// The size in GiB, as in `24_GiB`.
[[nodiscard]] constexpr auto operator""_GiB(unsigned long long count) noexcept -> Gibibytes {
    return Gibibytes{static_cast<std::uint32_t>(count)};
}

}  // namespace literals

/// Amount of tokens in their smallest unit (stake, fee).
///
/// Commands admit amounts below 2^96 and refuse the rest, so that a fee times a duration never overflows.
struct Amount {
    u128 units = 0;

    constexpr Amount() noexcept = default;
    constexpr Amount(std::integral auto count) noexcept : units{count} {}  // NOLINT: implicit, `.fee = 10`
    constexpr Amount(u128 count) noexcept : units{count} {}                // NOLINT: implicit

    /// True for amounts that commands admit.
    [[nodiscard]] constexpr auto admitted() const noexcept -> bool { return (units >> 96) == u128{0}; }

    friend constexpr auto operator==(Amount, Amount) noexcept -> bool = default;
    friend constexpr auto operator<=>(Amount, Amount) noexcept -> std::strong_ordering = default;
};

/// Positive rational parameter, such as queued tasks per node.
struct Ratio {
    std::uint32_t num = 0;
    std::uint32_t den = 1;

    constexpr Ratio() noexcept = default;
    constexpr Ratio(std::uint32_t numerator, std::uint32_t denominator = 1) noexcept  // NOLINT: implicit, `= 2`
        : num{numerator}, den{denominator} {}

    /// floor(count * num / den).
    /// @pre `den > 0`.
    [[nodiscard]] constexpr auto of(std::uint32_t count) const noexcept -> std::uint64_t {
        return std::uint64_t{count} * num / den;
    }

    friend constexpr auto operator==(Ratio, Ratio) noexcept -> bool = default;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// The shortest timeout that a node may set for itself, by its stake (seed 002, "The Timeout Setting").
///
/// A node that deliberately lets tasks time out has a rate of gain that falls with its timeout and with its stake. So
/// stake × timeout is kept above a safe product: a node of twice the stake may set half the timeout. The seed states
/// the direction and no formula; this one and its numbers are ours, the stake being that of the contracts (spec:
/// crynux.md 1.1).
struct TimeoutBound {
    Amount stake{u128{400} * 1'000'000'000'000'000'000U};  ///< Stake that is safe with `timeout`.
    Duration timeout = std::chrono::minutes{15};           ///< Timeout that is safe with `stake`.
    Duration least = std::chrono::minutes{1};              ///< O_min: the shortest timeout for any stake.
    Duration most = std::chrono::hours{2};                 ///< The longest required timeout for any stake.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {stake > Amount{} && stake.admitted(), "allot: TimeoutBound: stake must be positive and below 2^96"},
            {least > Duration{0} && least <= timeout,
             "allot: TimeoutBound: least must be positive and at most timeout"},
            {timeout <= most && most.count() < std::int64_t{1} << 32U,
             "allot: TimeoutBound: most must be at least timeout and below 2^32 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }

    /// ⌈safe timeout × safe stake / stake⌉ in milliseconds, between `least` and `most`. Never rises with the stake.
    /// @pre `valid()`.
    [[nodiscard]] constexpr auto of(Amount staked) const noexcept -> Duration {
        if (staked == Amount{}) { return most; }
        const auto safe = stake.units * static_cast<std::uint64_t>(timeout.count());  // below 2^128
        const auto whole = safe / staked.units;
        const auto bound = safe % staked.units == 0 ? whole : whole + 1;
        const auto cut = std::min(bound, u128{static_cast<std::uint64_t>(most.count())});
        return std::max(least, Duration{static_cast<std::int64_t>(cut.low())});
    }

    /// Checks a timeout for a stake; empty if it is allowed. Error: `duration_invalid` if it is shorter than its bound
    /// or above `most`, `amount_overflow` for a stake that no command admits.
    [[nodiscard]] constexpr auto check(Duration wanted, Amount staked) const noexcept -> std::optional<Error> {
        if (!staked.admitted()) { return Error::amount_overflow; }
        if (wanted < of(staked) || wanted > most) { return Error::duration_invalid; }
        return std::nullopt;
    }
    friend constexpr auto operator==(const TimeoutBound&, const TimeoutBound&) noexcept -> bool = default;
};
ALLOT_FIELDS(TimeoutBound, stake, timeout, least, most)

}}  // namespace allot::v0

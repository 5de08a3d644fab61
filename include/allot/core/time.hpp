#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <ratio>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Length of time in whole milliseconds.
using Duration = std::chrono::duration<std::int64_t, std::milli>;

/// A length of time below 2^32 ms (49 days) in four bytes, for records of which there are millions. It converts from
/// and to `Duration`, and arithmetic gives a `Duration`. Where a template asks for one type, write
/// `Duration{task.duration_estimate}`.
class ShortDuration {
public:
    /// No time.
    constexpr ShortDuration() noexcept = default;
    /// The same length; no time for a negative length or one of 2^32 ms and more.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, Duration>
    constexpr ShortDuration(std::chrono::duration<Rep, Period> length) noexcept  // NOLINT: implicit, as a `Duration`
        : ShortDuration{Duration{length}.count()} {}

    /// The same length as a `Duration`.
    constexpr operator Duration() const noexcept { return Duration{std::int64_t{milliseconds_}}; }  // NOLINT: implicit
    /// The number of milliseconds.
    [[nodiscard]] constexpr auto count() const noexcept -> Duration::rep { return milliseconds_; }

    friend constexpr auto operator==(ShortDuration, ShortDuration) noexcept -> bool = default;
    friend constexpr auto operator<=>(ShortDuration, ShortDuration) noexcept -> std::strong_ordering = default;
    friend constexpr auto operator==(ShortDuration a, Duration b) noexcept -> bool { return a.count() == b.count(); }
    friend constexpr auto operator<=>(ShortDuration a, Duration b) noexcept -> std::strong_ordering {
        return a.count() <=> b.count();
    }
    friend constexpr auto operator+(ShortDuration a, Duration b) noexcept -> Duration { return Duration{a} + b; }
    friend constexpr auto operator-(ShortDuration a, Duration b) noexcept -> Duration { return Duration{a} - b; }
    friend constexpr auto operator*(ShortDuration a, Duration::rep b) noexcept -> Duration { return Duration{a} * b; }
    friend constexpr auto operator/(ShortDuration a, Duration::rep b) noexcept -> Duration { return Duration{a} / b; }

private:
    constexpr explicit ShortDuration(Duration::rep milliseconds) noexcept
        : milliseconds_{milliseconds >> 32 == 0 ? static_cast<std::uint32_t>(milliseconds) : 0} {}

    std::uint32_t milliseconds_ = 0;
};

/// The time line of the network. It has no `now()`: time is always an argument, so equal inputs give equal bytes.
struct NetworkTime {
    using duration = Duration;
    using rep = Duration::rep;
    using period = Duration::period;
    using time_point = std::chrono::time_point<NetworkTime, Duration>;
    static constexpr bool is_steady = true;
};

/// Instant on the network's time line, in milliseconds since the embedder's origin (say, 1970 or the genesis block).
using TimePoint = NetworkTime::time_point;

[[nodiscard]] constexpr auto operator+(TimePoint from, ShortDuration length) noexcept -> TimePoint {
    return from + Duration{length};
}

/// Milliseconds from `from` to `to`; zero when `to` is earlier.
[[nodiscard]] constexpr auto elapsed_ms(TimePoint from, TimePoint to) noexcept -> std::uint64_t {
    return to > from ? static_cast<std::uint64_t>((to - from).count()) : 0U;
}

/// The latest instant that commands admit: 2^48 ms (8,900 years), so that deadlines never overflow.
inline constexpr auto time_point_max = TimePoint{Duration{std::int64_t{1} << 48}};
/// The longest time that a policy may name, 2^40 ms. Terms and placements that name more get this.
inline constexpr auto duration_max = Duration{std::int64_t{1} << 40};

/// The instant that never comes: nothing is due then.
inline constexpr auto never = TimePoint::max();

/// The length of an outage: the gap since the last command beyond `gap_max`, at most `outage_max`. It is zero for a
/// shorter gap. Pass it to `postpone` once, before anything else is settled.
[[nodiscard]] constexpr auto outage_between(TimePoint last, TimePoint now, Duration gap_max,
                                            Duration outage_max) noexcept -> Duration {
    const auto gap = now > last ? now - last : Duration{0};
    return gap > gap_max ? std::min(gap - gap_max, outage_max) : Duration{0};
}

/// A reading of the embedder's clock as network time with that clock's origin; fractions of a millisecond are dropped.
template <class Clock, class Length>
[[nodiscard]] constexpr auto network_time(std::chrono::time_point<Clock, Length> shown) noexcept -> TimePoint {
    return TimePoint{std::chrono::floor<Duration>(shown.time_since_epoch())};
}

/// Network time as a reading of `Clock`, as in `clock_time<Clock>(event.deadline)`: the inverse of `network_time`.
template <class Clock>
[[nodiscard]] constexpr auto clock_time(TimePoint time) noexcept -> std::chrono::time_point<Clock, Duration> {
    return std::chrono::time_point<Clock, Duration>{time.time_since_epoch()};
}

/// A time that never goes back, as commands require, from a clock that may be set back.
///
///     auto forward = allot::ForwardTime{dispatcher.now()};
///     dispatcher.advance({.time = forward(allot::network_time(clock::now()))});
class ForwardTime {
public:
    /// @param from The earliest result: for a restored dispatcher, its `now()`.
    constexpr explicit ForwardTime(TimePoint from = {}) noexcept : latest_{from} {}

    /// The latest of this time and all earlier results.
    constexpr auto operator()(TimePoint time) noexcept -> TimePoint {
        latest_ = time > latest_ ? time : latest_;
        return latest_;
    }

private:
    TimePoint latest_;
};

}}  // namespace allot::v0

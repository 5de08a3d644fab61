#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Length of time in whole milliseconds.
using Duration = std::chrono::duration<std::int64_t, std::milli>;

/// The time line of the network. It has no `now()`: time is always an argument, so the same inputs give the same bytes.
struct NetworkTime {
    using duration = Duration;
    using rep = Duration::rep;
    using period = Duration::period;
    using time_point = std::chrono::time_point<NetworkTime, Duration>;
    static constexpr bool is_steady = true;
};

/// Instant on the network's time line, in milliseconds since the embedder's origin (say, 1970 or the genesis block).
using TimePoint = NetworkTime::time_point;

/// Milliseconds from `from` to `to`; zero when `to` is earlier.
[[nodiscard]] constexpr auto elapsed_ms(TimePoint from, TimePoint to) noexcept -> std::uint64_t {
    return to > from ? static_cast<std::uint64_t>((to - from).count()) : 0U;
}

/// The latest instant commands admit: 2^48 ms (8,900 years), so that deadlines never overflow.
inline constexpr auto time_point_max = TimePoint{Duration{std::int64_t{1} << 48}};

/// The instant that does not come: nothing is due then.
inline constexpr auto never = TimePoint::max();

}}  // namespace allot::v0

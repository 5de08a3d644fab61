#include <chrono>
#include <cstdint>
#include <ratio>

#include <allot/core/time.hpp>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using allot::TimePoint;

TEST_CASE("a clock of the embedder's becomes network time, and comes back") {
    using Clock = std::chrono::system_clock;
    using Micro = std::chrono::time_point<Clock, std::chrono::microseconds>;
    CHECK(allot::network_time(Micro{5'999us}) == TimePoint{5ms});
    CHECK(allot::network_time(Micro{-1us}) == TimePoint{-1ms});
    CHECK(allot::network_time(Clock::time_point{3s}) == TimePoint{3s});
    CHECK(allot::clock_time<Clock>(TimePoint{3s}) == Clock::time_point{3s});
    static_assert(allot::network_time(Micro{1s}) == TimePoint{1s});
}

TEST_CASE("a short duration holds every length below 2^32 ms, and no other") {
    using allot::Duration, allot::ShortDuration;
    constexpr auto end = Duration{std::int64_t{1} << 32};
    static_assert(sizeof(ShortDuration) == 4);
    CHECK(ShortDuration{} == Duration{0});
    for (const auto length : {Duration{0}, Duration{1}, Duration{5s}, end - Duration{1}}) {
        CHECK(ShortDuration{length}.count() == length.count());
        CHECK(Duration{ShortDuration{length}} == length);
    }
    for (const auto length : {end, end + Duration{5}, Duration{-1}, Duration{-5s}, Duration::max(), Duration::min()}) {
        CHECK(ShortDuration{length} == Duration{0});
        CHECK(ShortDuration{5s} != length);
    }
    CHECK(ShortDuration{end} < end);
    CHECK(ShortDuration{5s} > ShortDuration{4s});
}

TEST_CASE("a short duration is counted with as a duration") {
    const auto length = allot::ShortDuration{5s};
    CHECK(length + 3s == allot::Duration{8s});
    CHECK(length - 7s == allot::Duration{-2s});
    CHECK(length * 1'000'000 == allot::Duration{5'000'000s});
    CHECK(length / 2 == allot::Duration{2'500});
    CHECK(TimePoint{1s} + length == TimePoint{6s});
}

TEST_CASE("forward time does not follow a clock that is set back") {
    auto forward = allot::ForwardTime{TimePoint{5s}};
    CHECK(forward(TimePoint{4s}) == TimePoint{5s});
    CHECK(forward(TimePoint{6s}) == TimePoint{6s});
    CHECK(forward(TimePoint{2s}) == TimePoint{6s});
    CHECK(forward(TimePoint{7s}) == TimePoint{7s});
}

#include <chrono>
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

TEST_CASE("forward time does not follow a clock that is set back") {
    auto forward = allot::ForwardTime{TimePoint{5s}};
    CHECK(forward(TimePoint{4s}) == TimePoint{5s});
    CHECK(forward(TimePoint{6s}) == TimePoint{6s});
    CHECK(forward(TimePoint{2s}) == TimePoint{6s});
    CHECK(forward(TimePoint{7s}) == TimePoint{7s});
}

#include <chrono>

#include <allot/estimate/timeout_bound.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using allot::Amount;
using allot::Duration;
using allot::Error;
using allot::TimeoutBound;

const auto bound = TimeoutBound{.stake = 400, .timeout = 15min, .least = 1min, .most = 2h};

}  // namespace

TEST_CASE("twice the stake allows half the timeout, down to the network's least") {
    CHECK(bound.of(400) == Duration{15min});
    CHECK(bound.of(800) == Duration{7min + 30s});
    CHECK(bound.of(6'000) == Duration{1min});
    CHECK(bound.of(1'000'000) == Duration{1min});
    CHECK(bound.of(200) == Duration{30min});
    CHECK(bound.of(50) == Duration{2h});
    CHECK(bound.of(1) == Duration{2h});
    CHECK(bound.of(0) == Duration{2h});
    CHECK(bound.of(401) == Duration{897'756});  // 897,755.6, rounded up: never too short
}

TEST_CASE("the bound never rises with the stake") {
    for (auto stake = 1; stake < 10'000; ++stake) { REQUIRE(bound.of(stake + 1) <= bound.of(stake)); }
}

TEST_CASE("the largest stakes lose nothing") {
    const auto most = Amount{(allot::u128{1} << 96) - 1};
    const auto huge = TimeoutBound{.stake = most, .timeout = Duration{0xFFFF'FFFF}, .most = Duration{0xFFFF'FFFF}};
    REQUIRE(huge.valid());
    CHECK(huge.of(most) == Duration{0xFFFF'FFFF});
    CHECK(huge.of(most.units / 2) == Duration{0xFFFF'FFFF});
    CHECK(TimeoutBound{}.of(most) == Duration{1min});
}

TEST_CASE("timeouts shorter than the bound or longer than any are refused") {
    CHECK_FALSE(bound.check(15min, 400));
    CHECK_FALSE(bound.check(2h, 400));
    CHECK(bound.check(15min - 1ms, 400) == Error::duration_invalid);
    CHECK(bound.check(2h + 1ms, 400) == Error::duration_invalid);
    CHECK(bound.check(15min, Amount{allot::u128{1} << 96}) == Error::amount_overflow);
}

TEST_CASE("bounds in the wrong order and safety of nothing are no parameters") {
    CHECK(TimeoutBound{}.valid());
    CHECK_FALSE(TimeoutBound{.stake = 0}.valid());
    CHECK_FALSE(TimeoutBound{.stake = Amount{allot::u128{1} << 96}}.valid());
    CHECK_FALSE(TimeoutBound{.least = 0ms}.valid());
    CHECK_FALSE(TimeoutBound{.timeout = 30s}.valid());
    CHECK_FALSE(TimeoutBound{.timeout = 3h}.valid());
    CHECK_FALSE(TimeoutBound{.most = Duration{std::int64_t{1} << 32}}.valid());
}

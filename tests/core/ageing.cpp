#include <cmath>
#include <cstdint>
#include <random>

#include <allot/core/ageing.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace ageing_test {
namespace {

using namespace std::chrono_literals;
using allot::aged;
using allot::at_least;
using allot::log2_of;
using allot::Ratio;
using allot::TimePoint;
using allot::u128;
using allot::Value;

constexpr auto unit = std::uint64_t{1} << 48U;

/// A numerator of any size, so that all exponents come.
auto any(std::mt19937_64& random) -> u128 {
    return ((u128::from_parts(random(), random()) >> 32) >> static_cast<int>(random() % 96)) + u128{1};
}

}  // namespace

TEST_CASE("powers of two have whole logarithms") {
    STATIC_REQUIRE(log2_of(1, 1) == 32 * unit);
    STATIC_REQUIRE(log2_of(8, 1) == 35 * unit);
    STATIC_REQUIRE(log2_of(1, 1U << 31U) == unit);
    STATIC_REQUIRE(log2_of(u128{1} << 95, 1) == 127 * unit);
    STATIC_REQUIRE(log2_of(u128{3} << 64, 3U << 30U) == 66 * unit);
    STATIC_REQUIRE(log2_of(0, 7) == 0);
}

TEST_CASE("a logarithm is the true one, rounded down") {
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto num = any(random);
        const auto den = static_cast<std::uint32_t>(random() >> (32U + random() % 32U)) | 1U;
        const auto real = [](auto word) { return static_cast<long double>(word); };
        const auto of_num = std::log2l(real(num.high()) * 18446744073709551616.0L + real(num.low()));
        const auto truth = (of_num - std::log2l(real(den)) + 32) * real(unit);
        const auto gap = truth - static_cast<long double>(log2_of(num, den));
        CAPTURE(num.high(), num.low(), den);
        REQUIRE(gap < 2.01L);
        REQUIRE(gap > -0.01L);
    }
}

TEST_CASE("a larger ratio never has a smaller logarithm, an equal one the same") {
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto num = any(random) >> 20;
        const auto den = static_cast<std::uint32_t>(random() >> 44U) | 1U;
        if (!num) { continue; }
        REQUIRE(log2_of(num, den) <= log2_of(num + u128{1}, den));
        REQUIRE(log2_of(num, den + 1) <= log2_of(num, den));
        REQUIRE(log2_of(num * u128{7}, den * 7) == log2_of(num, den));
    }
}

TEST_CASE("a task that waited one doubling ranks with one of twice its worth") {
    const auto at = [](auto time) { return TimePoint{time}; };
    CHECK(aged({10}, at(0h), 2h) == aged({20}, at(2h), 2h));
    CHECK(aged({10}, at(0h), 2h) == aged({40, 2}, at(2h), 2h));
    CHECK(aged({10}, at(0h), 2h) > aged({19}, at(2h), 2h));
    CHECK(aged({10}, at(0h), 2h) < aged({21}, at(2h), 2h));
    CHECK(aged({10}, at(0h), 1h) == aged({80}, at(3h), 1h));
    CHECK(aged({10}, at(0h), 2h) > aged({10}, at(1ms), 2h));
    CHECK(aged({0}, at(0h), 2h) < aged({1, 0xFFFF'FFFF}, allot::time_point_max, 1min));
    CHECK(aged({0}, at(0h), 2h) == aged({0}, at(9h), 2h));
    CHECK(aged({(u128{1} << 96) - 1}, at(0h), 1min).num() < u128{1} << 96);
}

TEST_CASE("so many times as much is told exactly") {
    const auto huge = (u128{1} << 96) - u128{1};
    CHECK(at_least({9}, {9, 8}, {8}));
    CHECK_FALSE(at_least({899}, {9, 8}, {800}));
    CHECK(at_least({0}, {9, 8}, {0}));
    CHECK(at_least({huge, 9}, {9, 8}, {huge, 9 * 9 / 8 + 1}));
    CHECK(at_least({huge, 8}, {9, 8}, {huge, 9}));
    CHECK_FALSE(at_least({huge - 1, 8}, {9, 8}, {huge, 9}));
    CHECK(at_least({huge, 0xFFFF'FFFF}, {0xFFFF'FFFF, 0xFFFF'FFFF}, {huge, 0xFFFF'FFFF}));
}

}  // namespace ageing_test

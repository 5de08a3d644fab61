#include <algorithm>
#include <chrono>
#include <vector>

#include <allot/valuation/fee_per_second.hpp>

#define ALLOT_MODEL allot::FeePerSecond
#include "conformance/valuation.ipp"

namespace {

using namespace std::chrono_literals;

auto worth(allot::Amount fee, allot::Duration estimate) -> allot::Value {
    auto task = allot::Task{};
    task.fee = fee;
    task.duration_estimate = estimate;
    return allot::FeePerSecond{}.value(task, {});
}
/// What `num / den` tokens a second are, in the unit of the model: tokens a millisecond.
auto a_second(std::uint64_t num, std::uint64_t den) -> allot::Value { return {num, den * 1'000}; }

constexpr auto image = 20s;     // seed 003: the time of one image ...
constexpr auto overhead = 30s;  // ... and of everything else

}  // namespace

TEST_CASE("by image time alone one image for 10 beats two for 15: 0.5 and 0.375 a second") {
    const auto one = worth(10, image);
    const auto two = worth(15, 2 * image);
    CHECK(one == a_second(1, 2));
    CHECK(two == a_second(3, 8));
    CHECK(one > two);
}

TEST_CASE("with the other 30 seconds the order flips: 0.2 and 0.214 a second") {
    const auto one = worth(10, image + overhead);
    const auto two = worth(15, 2 * image + overhead);
    CHECK(one == a_second(1, 5));
    CHECK(two == a_second(3, 14));
    CHECK(one < two);
}

TEST_CASE("values that differ in the 28th digit are ordered") {
    const auto most = (allot::u128{1} << 96) - 1;
    CHECK(worth(most, 1ms) > worth(most - 1, 1ms));
    CHECK(worth(most, allot::Duration{(std::int64_t{1} << 32) - 1}) >
          worth(most - 1, allot::Duration{(std::int64_t{1} << 32) - 1}));
    CHECK(worth(most, allot::Duration{(std::int64_t{1} << 32) - 1}) <
          worth(most, allot::Duration{(std::int64_t{1} << 32) - 2}));
}

TEST_CASE("a common factor of fee and time changes nothing") {
    CHECK(worth(10, 20s) == worth(1, 2s));
    CHECK(worth(0, 1s) == worth(0, 7s));
}

#include <chrono>

#include <allot/valuation/fee_per_size.hpp>

#define ALLOT_MODEL allot::FeePerSize
#include "conformance/valuation.ipp"

namespace {

using namespace std::chrono_literals;

auto price(allot::Amount fee, std::uint32_t size) -> allot::Value {
    const auto policy = allot::FeePerSize{};
    auto task = allot::Task{};
    task.fee = fee;
    task.duration_estimate = policy.estimate(size).value();
    return policy.value(task, {});
}

}  // namespace

TEST_CASE("the contracts' price is the fee over the size, rounded down") {
    CHECK(price(11, 2) == allot::Value{5});
    CHECK(price(46, 3) == allot::Value{15});
    CHECK(price(2, 3) == allot::Value{0});
    const auto most = (allot::u128{1} << 96) - 1;
    CHECK(price(most, 1) == allot::Value{most});
}

TEST_CASE("a size begun counts whole") {
    const auto policy = allot::FeePerSize{{.unit = 10s}};
    auto task = allot::Task{};
    task.fee = 100;
    task.duration_estimate = 10'001ms;
    CHECK(policy.value(task, {}) == allot::Value{50});
    task.duration_estimate = 1ms;
    CHECK(policy.value(task, {}) == allot::Value{100});
}

TEST_CASE("size zero and one beyond the longest task are refused") {
    const auto policy = allot::FeePerSize{};
    CHECK(policy.estimate(0).error() == allot::Error::duration_invalid);
    CHECK(policy.estimate(71'582) == allot::Duration{71'582min});
    CHECK(policy.estimate(71'583).error() == allot::Error::duration_invalid);
    CHECK(allot::FeePerSizeParameters{}.valid());
    CHECK_FALSE(allot::FeePerSizeParameters{.unit = 0s}.valid());
    CHECK_FALSE(allot::FeePerSizeParameters{.unit = -1s}.valid());
}

#include <chrono>

#include <allot/valuation/fee_per_weighted_second.hpp>

#define ALLOT_MODEL allot::FeePerWeightedSecond
#include "conformance/valuation.ipp"

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
using allot::Requirement;
using allot::Value;

auto priority(allot::Amount fee, allot::Duration estimate, const Requirement& requirement,
              const allot::FeePerWeightedSecond& policy = {}) -> Value {
    auto task = allot::Task{};
    task.fee = fee;
    task.duration_estimate = estimate;
    return policy.value(task, requirement);
}
auto vram(allot::Gibibytes least) -> Requirement { return {.vram_min = least}; }

}  // namespace

TEST_CASE("a second of a card of 24 GiB is worth three of one of 8") {
    CHECK(priority(900, 10s, vram(8_GiB)) == Value{90});
    CHECK(priority(900, 10s, vram(24_GiB)) == Value{30});
    CHECK(priority(900, 10s, vram(12_GiB)) == Value{60});
    CHECK(priority(900, 10s, vram(4_GiB)) == Value{90});  // no less than eight
}

TEST_CASE("priorities are whole, and the shortest time is a second") {
    CHECK(priority(899, 10s, vram(8_GiB)) == Value{89});
    CHECK(priority(7, 1ms, vram(8_GiB)) == Value{7});
    CHECK(priority(38, 204s, vram(8_GiB)) == Value{0});
}

TEST_CASE("the exact card overrules the least VRAM, the smallest of several counts, a name alone does not") {
    CHECK(priority(80, 1s, {.vram_min = 80_GiB, .gpus = {{"A100", 40_GiB}}}) == Value{16});
    CHECK(priority(80, 1s, {.gpus = {{"A100", 40_GiB}, {"RTX 3080", 10_GiB}}}) == Value{64});
    CHECK(priority(80, 1s, {.vram_min = 16_GiB, .gpus = {{"A100", 0_GiB}}}) == Value{40});
}

TEST_CASE("the largest fee loses nothing") {
    const auto most = (allot::u128{1} << 96) - 1;
    CHECK(priority(most, 1s, vram(8_GiB)) == Value{most});
    const auto wide = allot::FeePerWeightedSecond{{.vram_base = 4'096_GiB}};
    CHECK(priority(most, 1s, vram(8_GiB), wide) == Value{most});
    CHECK(priority(most, 2s, vram(8'192_GiB), wide) == Value{most / 4});
}

TEST_CASE("a base of nothing and a shortest time of nothing are no parameters") {
    using Parameters = allot::FeePerWeightedSecondParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.vram_base = 0_GiB}.valid());
    CHECK_FALSE(Parameters{.vram_base = 4'097_GiB}.valid());
    CHECK_FALSE(Parameters{.estimate_min = 0ms}.valid());
}

#include <chrono>

#include <allot/estimate/overhead_estimate.hpp>
#include <allot/valuation/fee_per_second.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using allot::Duration;
using allot::Error;
using allot::OverheadEstimate;

/// Worth of an image task in tokens a second, by the estimate's own word.
auto worth(const OverheadEstimate& estimate, allot::Amount fee, std::uint32_t images) -> allot::Value {
    auto task = allot::Task{};
    task.fee = fee;
    task.duration_estimate = estimate.images(images).value();
    return allot::FeePerSecond{}.value(task, {});
}
auto a_second(std::uint64_t num, std::uint64_t den) -> allot::Value { return {num, den * 1'000}; }

}  // namespace

TEST_CASE("first table of seed 003: by image time alone one image for 10 goes before two for 15") {
    const auto images_only = OverheadEstimate{{.overhead = 0s}};
    CHECK(images_only.images(1) == Duration{20s});
    CHECK(images_only.images(2) == Duration{40s});
    CHECK(worth(images_only, 10, 1) == a_second(1, 2));
    CHECK(worth(images_only, 15, 2) == a_second(375, 1'000));
    CHECK(worth(images_only, 10, 1) > worth(images_only, 15, 2));
}

TEST_CASE("second table of seed 003: with the other 30 seconds the order flips, 0.2 and 0.214") {
    const auto all = OverheadEstimate{};
    CHECK(all.images(1) == Duration{50s});
    CHECK(all.images(2) == Duration{70s});
    CHECK(worth(all, 10, 1) == a_second(2, 10));
    CHECK(worth(all, 15, 2) == a_second(15, 70));
    CHECK(worth(all, 15, 2) > worth(all, 10, 1));
}

TEST_CASE("nine images take far less than nine times as long as one") {
    const auto all = OverheadEstimate{};
    CHECK(all.images(9) == Duration{210s});
    CHECK(*all.images(9) < 9 * *all.images(1));
}

TEST_CASE("a text takes a fixed time") {
    CHECK(OverheadEstimate{}.text() == Duration{50s});
    CHECK(OverheadEstimate{{.overhead = 1s, .text = 2s}}.text() == Duration{3s});
}

TEST_CASE("an estimate of nothing, or beyond what a task may last, is refused") {
    const auto long_images = OverheadEstimate{{.overhead = 0ms, .image = 1ms}};
    CHECK(long_images.images(0xFFFF'FFFF) == Duration{0xFFFF'FFFF});
    CHECK(long_images.images(0).error() == Error::duration_invalid);
    CHECK(OverheadEstimate{{.overhead = 1ms, .image = 1ms}}.images(0xFFFF'FFFF).error() == Error::duration_invalid);
    CHECK(OverheadEstimate{}.images(0xFFFF'FFFF).error() == Error::duration_invalid);
    CHECK(OverheadEstimate{{.overhead = 0s, .text = 0s}}.text().error() == Error::duration_invalid);
}

TEST_CASE("negative times and those of 2^32 ms are no parameters") {
    using Parameters = allot::OverheadEstimateParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.overhead = -1ms}.valid());
    CHECK_FALSE(Parameters{.image = Duration{std::int64_t{1} << 32}}.valid());
    CHECK_FALSE(Parameters{.text = -1ms}.valid());
}

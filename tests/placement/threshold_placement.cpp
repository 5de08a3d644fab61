#include <chrono>

#include <allot/placement/threshold_placement.hpp>

#define ALLOT_MODEL allot::ThresholdPlacement
#include "conformance/pure.ipp"

using namespace std::chrono_literals;

TEST_CASE("fewer than three available holders are filled up to ten") {
    const auto placement = allot::ThresholdPlacement{};
    CHECK(placement.wanted({0}).copies == 10);
    CHECK(placement.wanted({1}).copies == 9);
    CHECK(placement.wanted({2}).copies == 8);
    CHECK(placement.wanted({3}).copies == 0);
    CHECK(placement.wanted({1'000'000}).copies == 0);
    CHECK(placement.asked_for() == 30min);
}

TEST_CASE("trigger and target are parameters") {
    auto placement = allot::ThresholdPlacement{{.holders_min = 5, .holders_target = 5, .asked_for = 1s}};
    CHECK(placement.wanted({4}).copies == 1);
    CHECK(placement.wanted({5}).copies == 0);
    CHECK(placement.asked_for() == 1s);
    placement.configure({.holders_min = 0, .holders_target = 0});
    CHECK(placement.wanted({0}).copies == 0);
    CHECK(placement.parameters().holders_min == 0);
}

TEST_CASE("a target below the trigger and requests that end_unsuccessfully at once are not valid") {
    using Parameters = allot::ThresholdPlacementParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.holders_min = 4, .holders_target = 3}.valid());
    CHECK_FALSE(Parameters{.holders_target = 1'001}.valid());
    CHECK_FALSE(Parameters{.asked_for = 0s}.valid());
}

#include <chrono>

#include <allot/estimate/demand_control.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using allot::DemandControl;
using allot::Duration;
using allot::Error;
using allot::NodeId;
using allot::TimePoint;

constexpr auto at(Duration time) -> TimePoint { return TimePoint{time}; }

/// So many tasks at once.
void arrive(DemandControl& control, int tasks, Duration run_time, TimePoint now) {
    for (auto i = 0; i < tasks; ++i) { REQUIRE_FALSE(control.arrived(now, run_time)); }
}

}  // namespace

TEST_CASE("the target is rate times run time times two, between one and ten") {
    auto control = DemandControl{};
    CHECK(control.target(at(0s)) == 0U);
    arrive(control, 1, 1ms, at(0s));
    CHECK(control.target(at(0s)) == 1U);
    arrive(control, 44, 100s, at(0s));  // 44 · 100 s · 2 / 1800 s = 4.9
    CHECK(control.target(at(0s)) == 5U);
    arrive(control, 1'000, 100s, at(1s));
    CHECK(control.target(at(1s)) == 10U);
}

TEST_CASE("the target is rounded up exactly") {
    auto control = DemandControl{};
    arrive(control, 18, 100s, at(0s));
    CHECK(control.target(at(0s)) == 2U);
    arrive(control, 1, 1ms, at(0s));
    CHECK(control.target(at(0s)) == 3U);
}

TEST_CASE("arrivals count for half an hour") {
    auto control = DemandControl{};
    arrive(control, 27, 100s, at(0s));
    arrive(control, 9, 100s, at(900s));
    CHECK(control.target(at(1'799s)) == 4U);
    CHECK(control.target(at(1'800s)) == 1U);
    CHECK(control.target(at(2'700s)) == 0U);
}

TEST_CASE("holders and nodes that were asked are not wanted again, until the deadline") {
    auto control = DemandControl{};
    arrive(control, 45, 100s, at(0s));
    CHECK(control.wanted(at(0s), 1) == 4U);
    CHECK_FALSE(control.asked(NodeId{1}, at(0s)));
    CHECK_FALSE(control.asked(NodeId{2}, at(0s)));
    CHECK(control.wanted(at(0s), 1) == 2U);
    CHECK_FALSE(control.settled(NodeId{1}));  // it has the model: a holder now
    CHECK(control.wanted(at(0s), 2) == 2U);
    CHECK(control.wanted(at(0s), 7) == 0U);
    arrive(control, 45, 100s, at(1'000s));
    CHECK(control.pending(at(1'799s)) == 1);
    CHECK(control.pending(at(1'800s)) == 0);
    CHECK(control.wanted(at(1'800s), 2) == 3U);  // node 2 did not make it
}

TEST_CASE("nobody is asked twice in one demand period, and everybody may be in the next") {
    auto control = DemandControl{};
    arrive(control, 45, 100s, at(0s));
    CHECK_FALSE(control.asked(NodeId{1}, at(0s)));
    CHECK_FALSE(control.settled(NodeId{1}));
    CHECK_FALSE(control.may_ask(NodeId{1}));
    CHECK(control.may_ask(NodeId{2}));
    CHECK(control.asked(NodeId{1}, at(1s)) == Error::node_duplicate);
    arrive(control, 1, 100s, at(1'000s));
    CHECK(control.target(at(2'799s)) == 1U);
    CHECK_FALSE(control.may_ask(NodeId{1}));
    CHECK(control.target(at(2'800s)) == 0U);
    CHECK(control.may_ask(NodeId{1}));
}

TEST_CASE("time that goes back, run times of nothing and unknown nodes are refused and change nothing") {
    auto control = DemandControl{};
    arrive(control, 1, 100s, at(10s));
    CHECK(control.arrived(at(9s), 1s) == Error::time_went_back);
    CHECK(control.target(at(9s)).error() == Error::time_went_back);
    CHECK(control.wanted(at(9s), 0).error() == Error::time_went_back);
    CHECK(control.asked(NodeId{1}, at(9s)) == Error::time_went_back);
    CHECK(control.arrived(allot::time_point_max + 1ms, 1s) == Error::time_too_late);
    CHECK(control.arrived(at(10s), 0s) == Error::duration_invalid);
    CHECK(control.arrived(at(10s), Duration{std::int64_t{1} << 32}) == Error::duration_invalid);
    CHECK(control.settled(NodeId{1}) == Error::node_unknown);
    CHECK(control.target(at(10s)) == 1U);
    CHECK(control.may_ask(NodeId{1}));
}

TEST_CASE("a window of nothing and targets in the wrong order are no parameters") {
    using Parameters = allot::DemandControlParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.window = 0s}.valid());
    CHECK_FALSE(Parameters{.safety = {1, 0}}.valid());
    CHECK_FALSE(Parameters{.holders_min = 11}.valid());
    CHECK_FALSE(Parameters{.holders_max = 1'001}.valid());
    CHECK_FALSE(Parameters{.deadline = -1s}.valid());
}

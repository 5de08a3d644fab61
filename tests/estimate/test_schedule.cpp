#include <array>
#include <chrono>

#include <allot/estimate/test_schedule.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using namespace std::chrono_literals;
using allot::Entropy;
using allot::NodeId;
using allot::NodeState;
using allot::TestNeed;
using allot::TestSchedule;
using allot::TimePoint;

const auto schedule = TestSchedule{{.window = 1'000s, .margin = 100s}};
const auto start = TimePoint{7'000s};
auto entropy(std::uint64_t i) -> Entropy { return Entropy{support::seed() + i}; }
auto time_of(std::uint64_t i, std::uint64_t node, TimePoint from = start) -> TimePoint {
    return schedule.time_of(entropy(i), NodeId{node}, from);
}

}  // namespace

TEST_CASE("every node gets a task in every window, before the margin") {
    for (std::uint64_t node = 1; node < 200; ++node) {
        for (std::uint64_t window = 0; window < 20; ++window) {
            const auto from = TimePoint{1'000s * window};
            const auto time = time_of(window, node, from);
            REQUIRE(time >= from);
            REQUIRE(time < from + 900s);
            REQUIRE(schedule.window_start(time) == from);
        }
    }
}

TEST_CASE("times are uniform: each ninth of the window gets its part") {
    auto counts = std::array<std::uint32_t, 9>{};
    for (std::uint64_t node = 1; node <= 9'000; ++node) {
        ++counts[static_cast<std::size_t>((time_of(0, node) - start) / 100s)];
    }
    for (const auto count : counts) {
        CHECK(count > 840);  // 1,000 less five standard deviations
        CHECK(count < 1'160);
    }
}

TEST_CASE("the time depends on entropy, node and window, and on nothing else") {
    CHECK(time_of(0, 1) == time_of(0, 1));
    CHECK(time_of(0, 1) != time_of(1, 1));
    CHECK(time_of(0, 1) != time_of(0, 2));
    CHECK(time_of(0, 1) - start != time_of(0, 1, start + 1'000s) - start - 1'000s);
}

TEST_CASE("a node that joins in the middle gets one in the rest, and one that joins within the margin at once") {
    for (std::uint64_t node = 1; node < 100; ++node) {
        REQUIRE(time_of(0, node, start + 500s) >= start + 500s);
        REQUIRE(time_of(0, node, start + 500s) < start + 900s);
    }
    CHECK(time_of(0, 1, start + 900s) == start + 900s);
    CHECK(time_of(0, 1, start + 950s) == start + 950s);
}

TEST_CASE("the need comes with the time and goes with any task of the window") {
    const auto due = time_of(0, 1);
    const auto need = [&](NodeState state, TimePoint now, std::optional<TimePoint> last_task = {},
                          TimePoint since = {}) {
        return schedule.need(entropy(0), NodeId{1}, state, since, last_task, now);
    };
    CHECK(need(NodeState::available, due - 1ms) == TestNeed::none);
    CHECK(need(NodeState::available, due) == TestNeed::now);
    CHECK(need(NodeState::busy, due) == TestNeed::on_release);
    CHECK(need(NodeState::available, start + 999s) == TestNeed::now);  // forced while it lasts
    CHECK(need(NodeState::available, due, start) == TestNeed::none);
    CHECK(need(NodeState::available, due, start - 1ms) == TestNeed::now);  // of the window before
    CHECK(need(NodeState::busy, due, start + 1s) == TestNeed::none);
    for (const auto state : {NodeState::paused, NodeState::pending_pause, NodeState::pending_leave, NodeState::left}) {
        CHECK(need(state, due) == TestNeed::none);
    }
    CHECK(need(NodeState::available, start + 950s, {}, start + 950s) == TestNeed::now);
    CHECK(need(NodeState::available, start + 940s, {}, start + 950s) == TestNeed::none);  // has not joined yet
}

TEST_CASE("a margin as long as the window is no parameter") {
    using Parameters = allot::TestScheduleParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.window = 1s, .margin = 1s}.valid());
    CHECK_FALSE(Parameters{.window = 0s, .margin = -1s}.valid());
}

#include <algorithm>
#include <random>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace job_test::queue_control {
using allot::QueueControl;
using allot::QueueReign;

namespace {

const auto plan = plan_of({1, 2, 0, 3, 0}).macro(0);

auto good() -> QueueControl {
    auto state = allot::QueueState{plan, node(1), {}};
    auto control = state.fresh(1);
    control.clock = at(20s);
    control.items[0].hold = allot::MicroLeases::Grant{node(1).node, {1, 1, 1}, at(10s), at(25s), 0};
    control.tokens = 2;
    control.items[0].attempts = control.items[1].attempts = 1;
    control.given = {{1, node(3).node, {1, 1, 0}}, {0, node(1).node, {1, 1, 1}}};
    control.requests.push_back({node(2).node, node(2).wallet, 1, at(15s)});
    return control;
}

template <class F>
auto fault_with(F&& change) -> std::optional<JobError> {
    auto control = good();
    change(control);
    return fault_of(plan, control);
}

}  // namespace

TEST_CASE("a control has the shape of its MacroJob and times in order, or is refused") {
    using C = QueueControl;
    CHECK(fault_with([](C&) {}) == std::nullopt);
    CHECK(fault_with([](C& c) { c.reign.owner = allot::NodeId{""}; }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.items.pop_back(); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.accepted.pop_back(); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[1].key = 0; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[0].closed = true; }) == JobError::message_shape_wrong);    // closed and held
    CHECK(fault_with([](C& c) { c.accepted[1] = hash_of(1); }) == JobError::message_shape_wrong);  // accepted and open
    CHECK(fault_with([](C& c) { c.items[0].hold->holder = allot::NodeId{""}; }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.items[0].hold->expires = at(10s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[0].hold->granted = at(21s); }) ==
          JobError::message_time_wrong);  // in the future
    CHECK(fault_with([](C& c) { c.clock = at(-1ms); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.clock = TimePoint::max(); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.progress = at(21s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[1].not_before = TimePoint::min(); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.reign.epoch = ~std::uint64_t{0}; }) == JobError::message_too_large);
    CHECK(fault_with([](C& c) { c.revision = ~std::uint64_t{0}; }) == JobError::message_too_large);
    CHECK(fault_with([](C& c) { c.tokens = ~std::uint64_t{0}; }) == JobError::message_too_large);
    CHECK(fault_with([](C& c) { c.given.pop_back(); }) == JobError::message_shape_wrong);  // held and never given
    CHECK(fault_with([](C& c) { c.given[1].holder = node(2).node; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.given[0].micro = 2; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { std::swap(c.given[0].token, c.given[1].token); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[0].attempts = 0; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[1].attempts = 2; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.tokens = 0; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.given[0].holder = allot::NodeId{""}; }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.requests.resize(1025, c.requests[0]); }) == JobError::message_too_large);
    CHECK(fault_with([](C& c) { c.owners_before.resize(9, node(1).node); }) == JobError::message_too_large);
    CHECK(fault_with([](C& c) { c.requests[0].wallet = allot::WalletId{""}; }) == JobError::node_invalid);
}

TEST_CASE("P1: reigns are totally ordered, by epoch first, and two of one epoch never tie") {
    auto random = std::mt19937_64{support::seed()};
    auto reigns = std::vector<QueueReign>{};
    for (auto i = 0; i < 60; ++i) {
        reigns.push_back({random() % 4, node(static_cast<std::uint32_t>(random() % 3)).node, random() % 2, random() % 2,
                          random() % 2 == 0});
    }
    for (const auto& a : reigns) {
        for (const auto& b : reigns) {
            REQUIRE(((a < b) + (b < a) + (a == b)) == 1);
            if (a.epoch < b.epoch) { REQUIRE(a < b); }
            for (const auto& c : reigns) {
                if (a < b && b < c) { REQUIRE(a < c); }
            }
        }
    }
}

TEST_CASE("no node is always first in a fork") {
    auto wins = 0;
    for (std::uint64_t epoch = 1; epoch <= 200; ++epoch) {
        wins += QueueReign{epoch, node(1).node, 1, 0, true} > QueueReign{epoch, node(2).node, 1, 0, true} ? 1 : 0;
    }
    CHECK(wins > 60);
    CHECK(wins < 140);
}

TEST_CASE("of one reign the higher revision is newer") {
    auto older = good();
    auto newer = older;
    ++newer.revision;
    CHECK(newer.newer_than(older));
    CHECK_FALSE(older.newer_than(newer));
    CHECK_FALSE(older.newer_than(older));
    older.reign.epoch = 2;
    CHECK(older.newer_than(newer));
}

}  // namespace job_test::queue_control

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

/// Appends a reign to a control's chain.
auto reigns(QueueControl& c, const allot::NodeId& owner, bool taken, TimePoint began = at(0s)) -> void {
    c.chain.push_back({{c.reign().epoch + 1, owner, 1, c.reign().rank(), taken, began}, {}});
}

/// The first node created the queue; the third took a MicroJob, and the first one the other.
auto good() -> QueueControl {
    auto state = allot::QueueState{plan, node(1), {}};
    auto control = state.fresh(1);
    reigns(control, node(3).node, false);
    control.given.push_back({1, node(3).node, {2, control.reign().rank(), 1}});
    reigns(control, node(1).node, false, at(10s));
    control.given.push_back({0, node(1).node, {3, control.reign().rank(), 2}});
    control.clock = at(20s);
    control.items[0].hold = allot::MicroLeases::Grant{node(1).node, control.given[1].token, at(10s), at(25s), 0};
    control.tokens = 2;
    control.items[0].attempts = control.items[1].attempts = 1;
    control.requests.push_back({node(2).node, node(2).wallet, 1, at(15s)});
    return control;
}

template <class F>
auto fault_with(F&& change) -> std::optional<JobError> {
    auto control = good();
    change(control);
    return fault_of(plan, control, allot::QueueParameters{});
}

}  // namespace

TEST_CASE("a control has the shape of its MacroJob and times in order, or is refused") {
    using C = QueueControl;
    CHECK(fault_with([](C&) {}) == std::nullopt);
    CHECK(fault_with([](C& c) { c.chain.back().reign.owner = allot::NodeId{""}; }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.items.pop_back(); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.accepted.pop_back(); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[1].key = 0; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.items[0].closed = true; }) == JobError::message_shape_wrong);    // closed and held
    CHECK(fault_with([](C& c) { c.accepted[1] = hash_of(1); }) == JobError::message_shape_wrong);  // accepted and open
    CHECK(fault_with([](C& c) { c.items[0].hold->holder = allot::NodeId{""}; }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.items[0].hold->expires = at(10s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[0].hold->granted = at(21s); }) ==
          JobError::message_time_wrong);  // in the future
    // Each renewal had a further block of the plan, and adds one lock at most.
    const auto renewed = [](std::uint32_t renewals, allot::BlockProgress progress, TimePoint expires) {
        return fault_with([&](C& c) {
            c.items[0].hold->renewals = renewals;
            c.items[0].hold->expires = expires;
            c.given[1].progress = progress;
        });
    };
    CHECK(renewed(0, {}, at(25s) + 1ms) == JobError::message_time_wrong);
    CHECK(renewed(1, {1, hash_of(1)}, at(35s)) == std::nullopt);
    CHECK(renewed(1, {}, at(35s)) == JobError::message_shape_wrong);
    CHECK(renewed(1, {3, hash_of(1)}, at(35s)) == std::nullopt);
    CHECK(renewed(1, {4, hash_of(1)}, at(35s)) == JobError::message_shape_wrong);
    CHECK(renewed(0, {1, {}}, at(25s)) == JobError::message_shape_wrong);
    CHECK(renewed(0, {0, hash_of(1)}, at(25s)) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.clock = at(-1ms); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.clock = TimePoint::max(); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.progress = at(21s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[1].not_before = TimePoint::min(); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.chain.back().reign.epoch = ~std::uint64_t{0}; }) == JobError::message_shape_wrong);
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
    CHECK(fault_with([](C& c) { c.requests[0].heard = at(26s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[0].hold->expires = at(36s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[1].not_before = at(85s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.items[1].not_before = at(84s); }) == std::nullopt);
    CHECK(fault_with([](C& c) { c.disclosed = 3; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.requests[0].wallet = allot::WalletId{""}; }) == JobError::node_invalid);
}

TEST_CASE("K6: a chain of reigns has no gap, and no reign that its author could not begin") {
    using C = QueueControl;
    CHECK(fault_with([](C& c) { c.chain.clear(); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.erase(c.chain.begin()); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.erase(c.chain.begin() + 1); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.front().reign.taken = false; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.front().reign.epoch = 0; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.back().reign.parent = 5; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain[1].reign.owner = allot::NodeId::null(); }) == JobError::node_invalid);
    CHECK(fault_with([](C& c) { c.chain.back().reign.began = at(-1s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { c.chain.back().reign.began = at(21s); }) == JobError::message_time_wrong);
    CHECK(fault_with([](C& c) { reigns(c, node(2).node, true, at(15s)); }) == std::nullopt);
    CHECK(fault_with([](C& c) {
              reigns(c, node(2).node, true, at(15s));
              c.chain.back().reign.epoch = 3 + allot::epoch_step_max;
          }) == std::nullopt);
    CHECK(fault_with([](C& c) {
              reigns(c, node(2).node, true, at(15s));
              c.chain.back().reign.epoch = 4 + allot::epoch_step_max;
          }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { reigns(c, node(1).node, false, at(15s)); }) == JobError::reign_too_early);  // to itself
    CHECK(fault_with([](C& c) { reigns(c, node(1).node, true, at(15s)); }) == std::nullopt);  // its next life
    // A lease that its holder's reign did not give.
    CHECK(fault_with([](C& c) { c.given[0].token.rank ^= 1U; }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.given[0].token.epoch = 1; }) == JobError::message_shape_wrong);
    // Two that pass the queue to and fro without leasing anything come to an end.
    const auto to_and_fro = [](std::size_t times) {
        return [times](C& c) {
            for (std::size_t i = 0; i < times; ++i) { reigns(c, node(4 + i % 2).node, false, at(15s)); }
        };
    };
    CHECK(fault_with(to_and_fro(2 * C::reigns_spare)) == std::nullopt);
    CHECK(fault_with(to_and_fro(2 * C::reigns_spare + 1)) == JobError::message_too_large);
}

TEST_CASE("nobody changes when a reign of a chain began, nor when the queue did") {
    using C = QueueControl;
    CHECK(fault_with([](C& c) { c.chain[1].reign.began = at(1s); }) == JobError::message_shape_wrong);
    CHECK(fault_with([](C& c) { c.chain.front().reign.began = at(1ms); }) == JobError::message_time_wrong);
    auto alone = allot::QueueState{plan, node(9), {}}.fresh(1);
    alone.clock = at(1s);
    CHECK(fault_of(plan, alone, {}) == std::nullopt);
    alone.chain.front().reign.began = at(1ms);
    CHECK(fault_of(plan, alone, {}) == JobError::message_time_wrong);
    // Leases name the reign that gave them as it was.
    CHECK(fault_with([](C& c) { c.chain.back().reign.began = at(11s); }) == JobError::message_shape_wrong);
}

TEST_CASE("an owner that was taken over rests, and so does the one that took over, longer each time") {
    // 5 s after the first time, then 10 s, 20 s.
    auto control = good();
    const auto says = [&](const allot::NodeId& owner, bool taken, allot::Duration time) {
        auto c = control;
        c.clock = at(1'000s);
        reigns(c, owner, taken, at(time));
        const auto fault = fault_of(plan, c, allot::QueueParameters{});
        if (!fault) { control = c; }
        return fault;
    };
    CHECK(says(node(2).node, true, 20s) == std::nullopt);  // from the first node
    CHECK(says(node(1).node, false, 24'999ms) == JobError::reign_too_early);
    CHECK(says(node(1).node, true, 24'999ms) == JobError::reign_too_early);
    CHECK(says(node(1).node, false, 25s) == std::nullopt);
    CHECK(says(node(2).node, true, 24'999ms) == JobError::message_time_wrong);
    CHECK(says(node(2).node, true, 25s) == std::nullopt);  // for the second time
    CHECK(says(node(1).node, false, 34'999ms) == JobError::reign_too_early);
    CHECK(says(node(1).node, false, 35s) == std::nullopt);
    CHECK(says(node(2).node, true, 34'999ms) == JobError::message_time_wrong);
    CHECK(says(node(2).node, true, 35s) == std::nullopt);  // for the third time
    CHECK(says(node(3).node, false, 36s) == std::nullopt);
    CHECK(says(node(2).node, true, 54'999ms) == JobError::reign_too_early);
    CHECK(says(node(2).node, true, 55s) == std::nullopt);
    // Rests are bounded, so that nobody is shut out for ever.
    auto rests = allot::ReignRests{{}, 5s};
    for (auto i = 0; i < 100; ++i) {
        rests.follow({1, node(1).node, 1, 0, true, {}}, {2, node(2).node, 1, 0, true, at(1s)});
    }
    CHECK(rests.may_own_from(node(1).node) == at(1s + 5s * 1024));
    CHECK(rests.may_take_from(node(2).node) == at(1s + 5s * 1024));
    CHECK(rests.may_take_from(node(1).node) == at(1s + 5s * 1024));
    CHECK(rests.may_own_from(node(3).node) == TimePoint{});
}

TEST_CASE("K6: a few members cannot replace a queue that more of them have owned") {
    auto honest = good();  // two members have signed it
    reigns(honest, node(2).node, false, at(15s));
    reigns(honest, node(4).node, false, at(16s));  // node 2 has, too
    // A liar creates the queue anew, under any epoch, or takes it over from an old reign.
    auto forged = allot::QueueState{plan, node(9), {}}.fresh(1'000'000);
    CHECK(honest.newer_than(forged));
    CHECK_FALSE(forged.newer_than(honest));
    reigns(forged, node(8).node, false);
    reigns(forged, node(9).node, false);
    forged.chain.back().reign.epoch += 1'000'000;
    CHECK(honest.newer_than(forged));
    auto old = good();
    old.chain.pop_back();
    reigns(old, node(9).node, true, at(15s));
    old.chain.back().reign.epoch += 1'000'000;
    CHECK(honest.newer_than(old));
    // Members that it hands the queue to without their knowledge sign nothing.
    reigns(old, node(20).node, false, at(16s));
    CHECK(authors_of(old.chain) == 2);
    CHECK(honest.newer_than(old));
    // The chain itself goes on.
    auto next = honest;
    reigns(next, node(5).node, false, at(17s));
    CHECK(next.newer_than(honest));
}

TEST_CASE("K6: a new owner cannot change what earlier owners decided, nor end work before its time") {
    const auto known = good();
    const auto p = allot::QueueParameters{};
    auto own = allot::OwnTimes{at(1'000s), 1'000s, 1'000s};
    const auto says = [&](auto change) {
        auto next = known;
        reigns(next, node(2).node, true, at(20s));
        change(next);
        return fault_of_change(known, own, next, p);
    };
    using C = QueueControl;
    CHECK(says([](C&) {}) == std::nullopt);
    own.clock_max = at(19s);
    CHECK(says([](C&) {}) == JobError::message_time_wrong);
    own.clock_max = at(1'000s);
    // The lease of the last owner may be unknown to one that took over; those before may not.
    CHECK(says([](C& c) { c.given.pop_back(); }) == std::nullopt);
    CHECK(says([](C& c) { c.given.erase(c.given.begin()); }) == JobError::history_changed);
    CHECK(says([](C& c) { c.given[0].micro = 0; }) == JobError::history_changed);
    CHECK(says([](C& c) { c.given[0].withheld = true; }) == std::nullopt);  // 15 s after the last progress
    CHECK(says([](C& c) { c.given[0].withheld = true, c.clock = at(14s); }) == JobError::history_changed);
    CHECK(says([](C& c) { c.items[1].closed = true; }) == JobError::history_changed);  // dead after 20 s
    CHECK(says([](C& c) { c.items[1].closed = true, c.clock = at(600s); }) == std::nullopt);
    CHECK(says([](C& c) { c.items[1].closed = true, c.items[1].attempts = 5; }) == std::nullopt);
    CHECK(says([](C& c) { c.items[1].closed = true, c.accepted[1] = hash_of(1); }) == std::nullopt);
    // The queue's clock alone ends nothing.
    own.rested = 11s;
    CHECK(says([](C& c) { c.given[0].withheld = true; }) == JobError::history_changed);
    CHECK(says([](C& c) { c.items[1].closed = true, c.clock = at(600s); }) == JobError::history_changed);
    own.rested = 12s;
    CHECK(says([](C& c) { c.given[0].withheld = true; }) == std::nullopt);
    // Nothing is withheld before it is to be disclosed, for so long.
    own.disclosing = 11s;
    CHECK(says([](C& c) { c.given[0].withheld = true; }) == JobError::history_changed);
    own.disclosing = 12s;
    CHECK(says([](C& c) { c.given[0].withheld = true; }) == std::nullopt);
}

TEST_CASE("K6: who goes on from a control changes neither when results were disclosed nor the last progress") {
    auto known = good();
    known.progress = at(12s);
    known.disclosed = 1;
    const auto says = [&](auto change) {
        auto next = known;
        reigns(next, node(2).node, true, at(20s));
        change(next);
        return fault_of_change(known, {at(1'000s), 1'000s, 1'000s}, next, allot::QueueParameters{});
    };
    using C = QueueControl;
    CHECK(says([](C&) {}) == std::nullopt);
    CHECK(says([](C& c) { c.progress = at(13s); }) == std::nullopt);
    CHECK(says([](C& c) { c.progress = at(11s); }) == JobError::history_changed);
    CHECK(says([](C& c) { c.disclosed = 2; }) == JobError::history_changed);
    CHECK(says([](C& c) { c.disclosed = 0; }) == JobError::history_changed);
    // In a fork others may have disclosed at another time.
    CHECK(says([](C& c) { c.chain[2].reign.boot = 9, c.disclosed = 2; }) == std::nullopt);
}

TEST_CASE("results were disclosed no earlier than each MicroJob that is not dead had a lease") {
    using C = QueueControl;
    CHECK(fault_with([](C& c) { c.disclosed = 1; }) == JobError::message_shape_wrong);  // the second lease came later
    CHECK(fault_with([](C& c) { c.disclosed = 2; }) == std::nullopt);
    CHECK(fault_with([](C& c) { c.disclosed = 1, c.items[0].hold.reset(), c.items[0].closed = true; }) == std::nullopt);
    auto fresh = allot::QueueState{plan, node(9), {}}.fresh(1);
    fresh.tokens = fresh.disclosed = 1;
    CHECK(fault_of(plan, fresh, {}) == JobError::message_shape_wrong);
}

TEST_CASE("an owner cannot put the disclosure before a lease that is known") {
    const auto known = good();
    const auto says = [&](bool taken, std::uint64_t disclosed) {
        auto next = known;
        reigns(next, node(2).node, taken, at(20s));
        next.tokens = 3;
        next.disclosed = disclosed;
        return fault_of_change(known, {at(1'000s), 1'000s, 1'000s}, next, allot::QueueParameters{});
    };
    CHECK(says(false, 1) == JobError::history_changed);
    CHECK(says(false, 2) == std::nullopt);
    CHECK(says(false, 3) == std::nullopt);
    CHECK(says(true, 1) == std::nullopt);  // it may not have heard of the last owner's lease
    CHECK(says(true, 0) == std::nullopt);
}

TEST_CASE("an owner takes back of no result that it was withheld; one that took over may not have heard of it") {
    auto known = good();
    known.given[0].withheld = known.given[1].withheld = true;
    const auto says = [&](bool taken, auto change) {
        auto next = known;
        reigns(next, node(2).node, taken, at(20s));
        change(next);
        return fault_of_change(known, {at(1'000s), 1'000s, 1'000s}, next, allot::QueueParameters{});
    };
    using C = QueueControl;
    CHECK(says(false, [](C&) {}) == std::nullopt);
    for (const auto i : {0U, 1U}) {
        CHECK(says(false, [&](C& c) { c.given[i].withheld = false; }) == JobError::history_changed);
        CHECK(says(true, [&](C& c) { c.given[i].withheld = false; }) == std::nullopt);
        CHECK(says(false, [&](C& c) { c.given[i].withheld = false, c.chain.pop_back(), ++c.revision; }) ==
              JobError::history_changed);
    }
    CHECK(says(false, [](C& c) { c.given.pop_back(); }) == JobError::history_changed);
}

TEST_CASE("the last lease of a MicroJob is for a new holder") {
    auto p = allot::QueueParameters{};
    p.attempts_max = 2;
    auto control = good();
    control.given.push_back({1, node(1).node, {3, control.reign().rank(), 3}});
    control.items[1].attempts = 2;
    control.tokens = 3;
    CHECK(fault_of(plan, control, p) == std::nullopt);
    control.given[2].micro = 0;
    control.items[1].attempts = 1;
    control.items[0].attempts = 2;
    control.items[0].hold->token = control.given[2].token;
    CHECK(fault_of(plan, control, p) == JobError::message_shape_wrong);
    CHECK(fault_of(plan, control, allot::QueueParameters{}) == std::nullopt);
}

TEST_CASE("two chains contradict where one member signed both ways on") {
    const auto known = good().chain;
    const auto with = [&](auto change) {
        auto chain = known;
        change(chain.back().reign);
        return chain;
    };
    using R = QueueReign;
    CHECK(allot::contradicts(known, known) == nullptr);
    CHECK(allot::contradicts(known, {known[0], known[1]}) == nullptr);
    const auto handed = with([](R& r) { r.owner = node(7).node; });
    REQUIRE(allot::contradicts(known, handed) != nullptr);
    CHECK(*allot::contradicts(known, handed) == node(3).node);
    CHECK(allot::contradicts(known, with([](R& r) { r.taken = true; })) == nullptr);  // two authors
    const auto taken = with([](R& r) { r.taken = true; });
    const auto later = with([](R& r) { r.taken = true, r.epoch = 9; });
    REQUIRE(allot::contradicts(taken, later) != nullptr);
    CHECK(*allot::contradicts(taken, later) == node(1).node);
    CHECK(allot::contradicts(taken, with([](R& r) { r.taken = true, r.boot = 2; })) == nullptr);  // another life
}

TEST_CASE("P1: reigns are totally ordered, by epoch first, and two of one epoch never tie") {
    auto random = std::mt19937_64{support::seed()};
    auto reigns = std::vector<QueueReign>{};
    for (auto i = 0; i < 60; ++i) {
        reigns.push_back({random() % 4,
                          node(static_cast<std::uint32_t>(random() % 3)).node,
                          random() % 2,
                          random() % 2,
                          random() % 2 == 0,
                          {}});
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
        wins +=
            QueueReign{epoch, node(1).node, 1, 0, true, {}} > QueueReign{epoch, node(2).node, 1, 0, true, {}} ? 1 : 0;
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
    older.chain.back().reign.epoch = 9;
    CHECK(older.newer_than(newer));
}

}  // namespace job_test::queue_control

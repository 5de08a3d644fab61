#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <allot/allot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

// An outage moves deadlines instead of punishing nodes.

namespace outage_test { namespace {

using namespace support;
using namespace std::chrono_literals;

/// One node at work on a task of a minute, and another task that waits.
struct Working {
    Working() {
        (void)d.join(plain_node(1), at(0s)).or_throw();
        auto task = plain_task(1);
        task.duration_estimate = 30s;
        lease = *d.submit(task, at(0s)).or_throw().lease();
        task.id = 2;
        (void)d.submit(task, at(0s)).or_throw();
        REQUIRE(d.task(2)->state == allot::TaskState::queued);
    }
    allot::Dispatcher<> d{};
    Lease lease{1, 1};
};

TEST_CASE("after an outage a node at work keeps its lease, and is paid") {
    auto w = Working{};
    const auto score = w.d.qos_score(*w.d.node(1));
    const auto postponed = w.d.postpone(2h, at(2h));
    REQUIRE(postponed.accepted());
    CHECK(postponed.size() == 1);  // nothing was settled before
    CHECK(postponed.get<event::Postponed>()->by == 2h);
    CHECK(w.d.lease(1)->deadline == w.lease.deadline + 2h);
    CHECK(w.d.complete(w.lease, at(2h + 10s)).get<event::TaskDone>() != nullptr);
    CHECK(w.d.qos_score(*w.d.node(1)) >= score);
}

TEST_CASE("without a postponement the same outage ends the lease") {
    auto w = Working{};
    CHECK(w.d.advance(at(2h)).get<event::LeaseEnded>()->how == event::LeaseEnd::timed_out);
}

TEST_CASE("a waiting task waits longer by the outage") {
    auto w = Working{};
    const auto due = w.d.task(2)->due_at;
    REQUIRE(w.d.postpone(7h, at(7h)).accepted());
    CHECK(w.d.task(2)->due_at == due + 7h);
    CHECK(w.d.next_deadline() == w.lease.deadline + 7h);
    CHECK(w.d.advance(at(7h)).size() == 1);
}

TEST_CASE("what an outage is too long for is settled by the next command") {
    auto w = Working{};
    REQUIRE(w.d.postpone(1h, at(2h)).accepted());
    CHECK(w.d.lease(1)->deadline < at(2h).time);
    CHECK(w.d.advance(at(2h)).get<event::LeaseEnded>()->how == event::LeaseEnd::timed_out);
}

TEST_CASE("all outages together give a lease at most postponed_max") {
    auto w = Working{};
    for (auto hour = 1; hour <= 60; ++hour) {
        REQUIRE(w.d.postpone(1h, at(1s)).accepted());
        CHECK(w.d.lease(1)->deadline ==
              w.lease.deadline + std::min<Duration>(std::chrono::hours{hour}, allot::postponed_max));
    }
}

TEST_CASE("a renewal keeps what an outage gave") {
    auto w = Working{};
    REQUIRE(w.d.postpone(20h, at(20h)).accepted());
    REQUIRE(w.d.renew(w.lease, at(20h + 30s)).accepted());
    CHECK(w.d.lease(1)->deadline == at(20h + 90s).time);  // 8 hours after the start a lease ends otherwise
}

TEST_CASE("a member of a gang that has completed gets no deadline by an outage") {
    auto d = allot::Dispatcher<>{};
    for (auto n = 1; n <= 2; ++n) { (void)d.join(plain_node(n), at(0s)).or_throw(); }
    auto task = plain_task(1);
    task.gang_size = 2;
    (void)d.submit(task, at(0s)).or_throw();
    (void)d.complete(*d.lease(1, 0), at(1s)).or_throw();
    REQUIRE(d.postpone(1h, at(1h)).accepted());
    CHECK(d.lease(1, 0)->deadline == allot::never);
    CHECK(d.lease(1, 1)->deadline > at(1h).time);
}

TEST_CASE("a postponement is undone as any command is") {
    auto w = Working{};
    const auto before = w.d;
    {
        auto session = w.d.session();
        REQUIRE(w.d.postpone(1h, at(1h)).accepted());
        CHECK_FALSE(w.d == before);
        session.rollback();
    }
    CHECK(w.d == before);
    CHECK(w.d.next_deadline() == before.next_deadline());
}

TEST_CASE("more waiting tasks and leases than one command settles are postponed at once") {
    auto d = allot::Dispatcher{allot::Rules{{.due_max = 2}}};
    for (auto n = 1; n <= 5; ++n) { (void)d.join(plain_node(n), at(0s)).or_throw(); }
    for (auto t = 1; t <= 5; ++t) { (void)d.submit(plain_task(t), at(0s)).or_throw(); }
    REQUIRE(d.postpone(1h, at(1h)).accepted());
    CHECK(d.next_deadline() > at(1h).time);
}

TEST_CASE("exclusions, wishes and what is to be forgotten keep their times through an outage") {
    auto d = allot::Dispatcher<>{};
    for (auto n = 1; n <= 3; ++n) { (void)d.join(plain_node(n), at(0s)).or_throw(); }
    const auto lease = *d.submit(with(plain_task(1), [](auto& t) { t.models = {"m"}; }), at(0s)).or_throw().lease();
    ok(d.complete(lease, at(1s)));
    for (auto i = 0; i < 3; ++i) { ok(d.observe(2, allot::OutcomeKind::timeout, at(1s))); }
    REQUIRE(d.node(2)->node.excluded);
    ok(d.leave(3, at(1s)));
    auto twin = d;
    ok(d.postpone(5h, at(1s)));
    auto times = 0;
    for (auto due = twin.next_deadline(); due; due = twin.next_deadline()) {
        REQUIRE(d.next_deadline() == due);
        ok(d.advance(dark(due->time_since_epoch())));
        ok(twin.advance(dark(due->time_since_epoch())));
        ++times;
    }
    CHECK(!d.next_deadline());
    CHECK(times >= 4);  // the exclusion, wishes, the task, the node
}

TEST_CASE("a gap between commands is an outage only beyond its bound, and at most so long") {
    constexpr auto t = [](Duration time) { return allot::TimePoint{time}; };
    CHECK(allot::outage_between(t(10s), t(15s), 5s, 1h) == 0s);
    CHECK(allot::outage_between(t(10s), t(16s), 5s, 1h) == 1s);
    CHECK(allot::outage_between(t(10s), t(2h), 5s, 1h) == 1h);
    CHECK(allot::outage_between(t(10s), t(5s), 5s, 1h) == 0s);
}

}}  // namespace outage_test

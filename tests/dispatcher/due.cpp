#include <string>
#include <vector>

#include <allot/dispatcher/look.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Time: what is due is settled first, in deadline order, a bounded number a command (rule 5).

namespace {

/// The ids in the events that tell of a deadline, in order.
auto told(const Events& events) -> std::vector<std::string> {
    auto ids = std::vector<std::string>{};
    events.each([&](const event::TaskTimedOut& e) { ids.push_back(e.task.text()); },
                [&](const event::NodeReadmitted& e) { ids.push_back(e.node.text()); });
    return ids;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("time never goes back, and ends at 2^48 ms") {
    auto d = allot::Dispatcher<>{};
    ok(d.advance(at(5s)));
    const auto before = d;
    CHECK(refusal(d.advance(at(5s - 1ms))) == Error::time_went_back);
    CHECK(refusal(d.join(plain_node(1), at(-1ms))) == Error::time_went_back);
    CHECK(refusal(d.advance({allot::time_point_max + 1ms, 1})) == Error::time_too_late);
    CHECK(d == before);
    CHECK(d.now() == TimePoint{5s});
    CHECK(d.advance(at(5s)).accepted());
    CHECK(d.advance({allot::time_point_max, 1}).get<event::Advanced>()->now == allot::time_point_max);
}

TEST_CASE("deadlines at the end of time do not overflow") {
    auto d = allot::Dispatcher<>{};
    const auto end = Moment{allot::time_point_max, 1};
    ok(d.join(plain_node(1), end));
    CHECK(leased(d.submit(plain_task(1), end)).deadline > end.time);
    CHECK(d.submit(plain_task(2), end).get<event::TaskQueued>()->deadline > end.time);
}

TEST_CASE("deadlines are settled in their order, ties by id") {
    auto d = allot::Dispatcher<>{};
    struct Waiting {
        const char* id;
        Duration since;
    };
    for (const auto& w : {Waiting{"z", 0s}, Waiting{"m", 1s}, Waiting{"a", 1s}, Waiting{"k", 1s}, Waiting{"b", 2s}}) {
        ok(d.submit(plain_task(w.id), dark(w.since)));
    }
    CHECK(told(d.advance(dark(7h))) == Names{"z", "a", "k", "m", "b"});
}

TEST_CASE("expiries of different kinds are settled by their deadlines") {
    auto d = allot::Dispatcher{allot::FixedTerms{{.patience = 100s}}};
    ok(d.join(plain_node("late"), at(0s)));
    ok(d.join(plain_node("sick"), dark(0s)));
    for (auto i = 0; i < 3; ++i) {
        ok(d.observe("sick", allot::OutcomeKind::timeout_in_group, dark(0s)));  // back after 45.6 min
    }
    ok(d.submit(with(plain_task("long"), [](auto& t) { t.duration_estimate = 1'500s; }), at(0s)));  // until 3,000 s
    ok(d.submit(plain_task("second"), at(10s)));                                                    // waits until 110 s
    ok(d.submit(plain_task("third"), at(20s)));                                                     // waits until 120 s
    CHECK(told(d.advance(dark(1h))) == Names{"second", "third", "sick", "long"});
}

TEST_CASE("the effects of what was due are dated by the moment, and it comes before the answer") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    const auto events = d.submit(plain_task(2), at(1'000s));
    CHECK(std::holds_alternative<event::LeaseEnded>(events[0]));
    CHECK(std::holds_alternative<event::TaskTimedOut>(events[1]));
    CHECK(events.answer() == 2);
    CHECK(allot::find_task(d, 1)->due_at ==
          TimePoint{1'000s + 1h});  // forgotten an hour after the command, not after the deadline
}

TEST_CASE("at most so much is settled in one command; until all is, only advance is heard") {
    auto d = allot::Dispatcher{allot::Rules{{.due_max = 2}}};
    for (auto id = 1; id <= 5; ++id) { ok(d.submit(plain_task(id), dark(0s))); }
    const auto time = at(6h);
    auto events = d.join(plain_node(1), time);
    CHECK(refusal(events) == Error::advance_first);
    CHECK(told(events) == Names{"1", "2"});  // what is due happens all the same
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(d.next_deadline() == TimePoint{6h});
    CHECK(refusal(d.match(time)) == Error::advance_first);
    CHECK(d.queued() == 1);
    events = d.advance(time);
    CHECK(events.accepted());
    CHECK(told(events) == Names{"5"});
    CHECK(d.join(plain_node(1), time).accepted());
}

TEST_CASE("exactly as much as one command settles is settled without complaint") {
    auto d = allot::Dispatcher{allot::Rules{{.due_max = 2}}};
    ok(d.submit(plain_task(1), dark(0s)));
    ok(d.submit(plain_task(2), dark(0s)));
    CHECK(d.join(plain_node(1), at(6h)).accepted());
}

TEST_CASE("the next deadline is the earliest of all, and none when nothing is to come") {
    auto d = allot::Dispatcher<>{};
    CHECK(d.next_deadline() == std::nullopt);
    join_plain(d, 1);
    CHECK(d.next_deadline() == std::nullopt);
    ok(d.submit(with(plain_task("big"), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    CHECK(d.next_deadline() == TimePoint{6h});
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(d.next_deadline() == TimePoint{200s});
    ok(d.complete(lease, at(10s)));
    CHECK(d.next_deadline() == TimePoint{1h + 10s});  // its id is forgotten
    ok(d.advance(at(1h + 10s)));
    CHECK(d.next_deadline() == TimePoint{6h});
    ok(d.cancel("big", at(2h)));
    ok(d.advance(at(3h)));
    CHECK(d.next_deadline() == std::nullopt);
}

TEST_CASE("nodes freed by what is due pull before the command is applied") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.score(1, 10, at(0s)));
    ok(d.submit(plain_task("running"), at(0s)));
    ok(d.submit(plain_task("waiting"), at(0s)));
    const auto events = d.submit(plain_task("new"), at(200s));
    CHECK(started(events) == Names{"waiting"});
    CHECK(events.lease() == nullptr);
    CHECK(is_queued(d, "new"));
}

TEST_CASE("a queued task and the lease before it may end in the same command; then nothing starts") {
    auto d = allot::Dispatcher{allot::FixedTerms{{.patience = 200s}}};
    join_plain(d, 1);
    ok(d.score(1, 10, at(0s)));
    ok(d.submit(plain_task("a"), at(0s)));
    ok(d.submit(plain_task("b"), at(0s)));
    const auto events = d.advance(at(200s));
    CHECK(told(events) == Names{"a", "b"});
    CHECK(started(events).empty());
    CHECK(state_of(d, 1) == NodeState::available);
}

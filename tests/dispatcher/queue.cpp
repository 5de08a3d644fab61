#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Tasks that wait: their order, their bound, and who gives way (rules 14, 15, 18, 28).

namespace {

using Names = std::vector<std::string>;

/// A dispatcher whose queue holds so many tasks, however few nodes there are.
auto bounded(std::uint32_t capacity) {
    return allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = capacity}}};
}

}  // namespace

TEST_CASE("match starts waiting tasks by value, and by submission among equals") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 6);
    struct Waiting {
        const char* id;
        std::uint64_t fee;
        Duration time;
    };
    for (const auto& w : {Waiting{"low", 1, 100s}, Waiting{"equal-1", 10, 100s}, Waiting{"equal-2", 20, 200s},
                          Waiting{"high", 7, 50s}, Waiting{"higher", 7, 49'999ms}, Waiting{"equal-3", 1, 10s}}) {
        ok(d.submit(with(plain_task(w.id),
                         [&](auto& t) {
                             t.fee = w.fee;
                             t.duration_estimate = w.time;
                         }),
                    dark(0s)));
    }
    const auto events = d.match(at(0s));
    CHECK(events.get<event::Matched>()->started == 6);
    CHECK(std::holds_alternative<event::Matched>(events[0]));  // the direct answer comes first
    CHECK(started(events) == Names{"higher", "high", "equal-1", "equal-2", "equal-3", "low"});
}

TEST_CASE("values are compared exactly, where a quotient of doubles would not tell them apart") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    const auto huge = (allot::u128{1} << 95) - 1;
    const auto submit = [&](const char* id, allot::u128 fee, Duration time) {
        ok(d.submit(with(plain_task(id),
                         [&](auto& t) {
                             t.fee = allot::Amount{fee};
                             t.duration_estimate = time;
                         }),
                    dark(0s)));
    };
    submit("less", huge - 1, 4'294'967'295ms);
    submit("more", huge, 4'294'967'295ms);
    CHECK(started(d.match(at(0s))) == Names{"more", "less"});
}

TEST_CASE("a task without a candidate holds up no other") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.submit(with(paying("huge", 1'000), [](auto& t) { t.vram_min = 80_GiB; }), dark(0s)));
    ok(d.submit(paying("plain", 1), dark(0s)));
    CHECK(started(d.match(at(0s))) == Names{"plain"});
    CHECK(is_queued(d, "huge"));  // nobody could ever run it; it is queued all the same (rule 18)
}

TEST_CASE("a node given to a task of higher value is gone for the others") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.submit(paying(1, 1), dark(0s)));
    ok(d.submit(paying(2, 2), dark(0s)));
    CHECK(started(d.match(at(0s))) == Names{"2"});
    CHECK(d.match(at(0s)).get<event::Matched>()->started == 0);
}

TEST_CASE("a new task is tried at once, whatever is queued") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.submit(paying("rich", 1'000), dark(0s)));
    CHECK(started(d.submit(paying("poor", 1), at(0s))) == Names{"poor"});
    CHECK(is_queued(d, "rich"));
}

TEST_CASE("a full queue evicts the lowest value among itself and the newcomer") {
    auto d = bounded(3);
    for (const auto fee : {30, 10, 20}) { ok(d.submit(paying(fee, fee), dark(0s))); }
    CHECK(d.queued() == 3);
    const auto events = d.submit(paying(40, 40), dark(1s));
    CHECK(events.accepted());
    CHECK(events.get<event::TaskQueued>()->task == allot::TaskId{40});
    const auto* victim = events.get<event::TaskEvicted>();
    REQUIRE(victim != nullptr);
    CHECK(victim->task == allot::TaskId{10});
    CHECK(victim->owner == allot::OwnerId{"owner"});
    CHECK(victim->refunded == allot::Amount{10});
    CHECK(victim->reason == event::Eviction::queue_full);
    CHECK(d.queued() == 3);
    CHECK(refusal(d.cancel(10, dark(1s))) == Error::task_ended);
}

TEST_CASE("a newcomer of the lowest value is the victim, and its submission a success") {
    auto d = bounded(2);
    ok(d.submit(paying(20, 20), dark(0s)));
    ok(d.submit(paying(30, 30), dark(0s)));
    const auto events = d.submit(paying(10, 10), dark(0s));
    CHECK(events.accepted());
    CHECK(events.size() == 1);  // it is never said to be queued
    CHECK(evicted(events) == Names{"10"});
    CHECK(d.queued() == 2);
}

TEST_CASE("among equal values the newest gives way") {
    auto d = bounded(2);
    ok(d.submit(paying(1, 5), dark(0s)));
    ok(d.submit(paying(2, 5), dark(0s)));
    CHECK(evicted(d.submit(paying(3, 5), dark(0s))) == Names{"3"});
    CHECK(evicted(d.submit(paying(4, 6), dark(0s))) == Names{"2"});
}

TEST_CASE("capacity follows the number of nodes that have not left, above a floor") {
    struct Case {
        allot::Ratio per_node;
        std::uint32_t floor;
        int nodes;
        std::uint32_t capacity;
    };
    const auto c = GENERATE(values<Case>({
        {1, 50, 0, 50},
        {1, 50, 50, 50},
        {1, 50, 51, 51},
        {2, 1, 3, 6},
        {{3, 2}, 1, 5, 7},
        {{1, 3}, 1, 2, 1},
        {{1, 3}, 1, 6, 2},
        {0, 4, 9, 4},
    }));
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = c.per_node, .capacity_min = c.floor}}};
    join_plain(d, c.nodes);
    CAPTURE(c.nodes, c.floor);
    CHECK(d.queue_capacity() == c.capacity);
}

TEST_CASE("paused and busy nodes count in N; those that left do not") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 1}}};
    join_plain(d, 4);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    for (auto id = 1; id <= 4; ++id) {
        if (lease.node != allot::NodeId{id}) { ok(d.pause(id, at(0s))); }
    }
    CHECK(d.queue_capacity() == 4);
    ok(d.leave(lease.node, at(0s)));
    CHECK(d.queue_capacity() == 4);  // it leaves when its lease ends
    ok(d.complete(lease, at(0s)));
    CHECK(d.queue_capacity() == 3);
}

TEST_CASE("when the network shrinks the surplus goes: lowest value first, newest first among equals") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 2, .capacity_min = 1}}};
    join_plain(d, 3);
    struct Waiting {
        const char* id;
        int fee;
    };
    for (const auto& w :
         {Waiting{"a", 3}, Waiting{"b", 1}, Waiting{"c", 1}, Waiting{"d", 2}, Waiting{"e", 1}, Waiting{"f", 9}}) {
        ok(d.submit(paying(w.id, w.fee), dark(0s)));
    }
    const auto events = d.leave(3, dark(0s));
    CHECK(evicted(events) == Names{"e", "c"});
    for (const auto& eviction : all<event::TaskEvicted>(events)) {
        CHECK(eviction.reason == event::Eviction::queue_shrunk);
        CHECK(eviction.owner == allot::OwnerId{"owner"});
        CHECK(eviction.refunded == allot::Amount{1});
    }
    CHECK(evicted(d.leave(2, dark(0s))) == Names{"b", "d"});
}

TEST_CASE("at most so many surplus tasks go within one command, the rest with later ones") {
    auto d = allot::Dispatcher{allot::Rules{{.evictions_max = 3}},
                               allot::ValueQueue{{.tasks_per_node = 8, .capacity_min = 1}}};
    join_plain(d, 2);
    for (auto id = 1; id <= 16; ++id) { ok(d.submit(paying(id, id), dark(0s))); }
    CHECK(evicted(d.leave(1, dark(0s))) == Names{"1", "2", "3"});
    CHECK(evicted(d.advance(dark(0s))) == Names{"4", "5", "6"});
    CHECK(d.queued() == 10);
    CHECK(evicted(d.advance(dark(0s))) == Names{"7", "8"});
    CHECK(evicted(d.advance(dark(0s))).empty());
    CHECK(d.queued() == 8);
}

TEST_CASE("a retried task may find the queue full, and is then weighed like any other") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = 1}},
                               allot::FixedTerms{{.after_timeout = allot::Next::retry_elsewhere}}};
    join_plain(d, 1);
    ok(d.submit(paying("cheap", 1), at(0s)));
    ok(d.submit(with(paying("dear", 9), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    const auto events = d.advance(at(200s));
    CHECK(count<event::TaskRetried>(events) == 1);
    CHECK(evicted(events) == Names{"cheap"});
    CHECK(d.queued() == 1);
}

TEST_CASE("a waiting task ends with its patience, and its owner is told") {
    auto d = allot::Dispatcher<>{};
    const auto queued = d.submit(plain_task(1), at(5s));
    CHECK(queued.get<event::TaskQueued>()->deadline == TimePoint{6h + 5s});
    CHECK(queued.get<event::TaskQueued>()->owner == allot::OwnerId{"owner"});
    CHECK(d.next_deadline() == TimePoint{6h + 5s});
    CHECK(d.advance(at(6h + 5s - 1ms)).size() == 1);
    const auto events = d.advance(at(6h + 5s));
    const auto* expired = events.get<event::TaskTimedOut>();
    REQUIRE(expired != nullptr);
    CHECK(expired->expiry == event::Expiry::queue);
    CHECK(expired->refunded == allot::Amount{100});
    CHECK(expired->owner == allot::OwnerId{"owner"});
    CHECK(d.queued() == 0);
}

TEST_CASE("a cancelled task leaves the queue with its fee") {
    auto d = allot::Dispatcher<>{};
    ok(d.submit(plain_task(1), at(0s)));
    const auto events = d.cancel(1, at(1s));
    CHECK(events.get<event::TaskCancelled>()->refunded == allot::Amount{100});
    CHECK(events.get<event::TaskCancelled>()->owner == allot::OwnerId{"owner"});
    CHECK(d.queued() == 0);
    CHECK(refusal(d.cancel(1, at(1s))) == Error::task_ended);
    CHECK(d.state().fits().requirements().size() == 0);  // no group is left behind
}

TEST_CASE("an id is taken until its task is forgotten, and free from then on") {
    auto d = allot::Dispatcher{allot::Rules{{.forget_tasks_after = 10s}}};
    ok(d.submit(plain_task(1), at(0s)));
    CHECK(refusal(d.submit(plain_task(1), at(0s))) == Error::task_duplicate);
    ok(d.cancel(1, at(1s)));
    CHECK(refusal(d.submit(plain_task(1), at(11s - 1ms))) == Error::task_duplicate);
    CHECK(d.submit(plain_task(1), at(11s)).get<event::TaskQueued>() != nullptr);
    CHECK(d.state().tasks().size() == 1);
}

// Tasks pinned to one node, such as a system's test tasks (rule 22): only that node runs them, and no queue holds them.
#include <map>

#include <allot/estimate/test_schedule.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/task.hpp>
#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

namespace {

auto pinned(allot::TaskId id, allot::NodeId node) -> TaskSpec {
    return with(plain_task(id), [&](auto& task) {
        task.owner.reset();
        task.node = node;
    });
}

/// Two plain nodes, of which 1 runs task 1.
auto one_busy() -> allot::Dispatcher<> {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.submit(plain_task(1), at(0s)));
    ok(d.join(plain_node(2), at(0s)));
    return d;
}

auto lease_of(const allot::Dispatcher<>& d, allot::TaskId id) -> Lease {
    const auto& lease = d.state().leases()[d.task(id)->lease];
    return {id, d.state().nodes()[lease.node].node.id, lease.token, 0, 1, lease.deadline};
}

auto is_held(const allot::Dispatcher<>& d, allot::TaskId id) -> bool {
    return d.task(id) != nullptr && d.task(id)->state == allot::TaskState::held;
}

/// How often a task ended.
auto endings(const Events& events, allot::TaskId id) -> int {
    auto count = 0;
    events.each([&](const event::TaskCancelled& e) { count += e.task == id ? 1 : 0; },
                [&](const event::TaskFailed& e) { count += e.task == id ? 1 : 0; },
                [&](const event::TaskTimedOut& e) { count += e.task == id ? 1 : 0; },
                [&](const event::TaskEvicted& e) { count += e.task == id ? 1 : 0; },
                [&](const event::TaskDone& e) { count += e.task == id ? 1 : 0; });
    return count;
}

}  // namespace

TEST_CASE("a pinned task starts on its free node at once, and needs no entropy", "[A11]") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 5);
    const auto lease = leased(d.submit(with(pinned(1, 3), [](auto& t) { t.models = {"m"}; }), dark(1s)));
    CHECK(lease.node == allot::NodeId{3});
    const auto done = d.complete(lease, dark(2s));
    CHECK(done.get<event::TaskDone>()->owner == std::nullopt);
    CHECK(holding(d, 3, "m") == allot::Holding::in_use);
}

TEST_CASE("a pinned task waits for its busy node, beside the queue, and starts before anything is pulled", "[A11]") {
    auto d = allot::Dispatcher<allot::ValueQueue>{allot::ValueQueue{{.tasks_per_node = {1, 2}, .capacity_min = 1}}};
    ok(d.join(plain_node(1), at(0s)));
    const auto first = leased(d.submit(plain_task(1), at(0s)));
    ok(d.submit(paying(2, 9'000), at(1s)));
    const auto waits = d.submit(pinned(3, 1), at(2s));
    CHECK(waits.get<event::TaskQueued>()->task == allot::TaskId{3});
    CHECK(d.queued() == 1);  // and full
    CHECK(d.task(3)->state == allot::TaskState::held);
    CHECK(evicted(d.submit(paying(4, 10'000), at(3s))) == std::vector<std::string>{"2"});
    CHECK(started(d.match(at(4s))).empty());
    CHECK(started(d.complete(first, at(5s))) == std::vector<std::string>{"3"});
}

TEST_CASE("a retried task does not take a node for which a pinned task waits", "[A11]") {
    auto terms = allot::FixedTermsParameters{};
    terms.after_failure = allot::Next::retry;
    auto d = allot::Dispatcher<allot::FixedTerms>{allot::FixedTerms{terms}};
    ok(d.join(plain_node(1), at(0s)));
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    ok(d.submit(pinned(2, 1), at(0s)));
    CHECK(started(d.fail(lease, allot::FailCause::execution_error, at(1s))) == std::vector<std::string>{"2"});
}

TEST_CASE("an excluded node and one without stake run what is pinned to them", "[A11]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node(1), [](auto& n) { n.stake = 0; }), at(0s)));
    ok(d.join(plain_node(2), at(0s)));
    for (auto i = 0; i < 4; ++i) { ok(d.observe(2, allot::OutcomeKind::timeout, at(0s))); }
    REQUIRE(d.node(2)->node.excluded);
    CHECK(where(d.submit(pinned(1, 1), dark(1s))) == "1");
    CHECK(where(d.submit(pinned(2, 2), dark(1s))) == "2");
}

TEST_CASE("what may not be pinned is refused, and changes nothing", "[A11]") {
    auto d = one_busy();
    ok(d.submit(pinned(2, 1), at(1s)));
    ok(d.join(plain_node(3), dark(1s)));
    const auto before = d;
    const auto refused = [&](const TaskSpec& task, Error error) {
        CHECK(d.check(command::Submit{task}) == error);
        CHECK(refusal(d.submit(task, dark(1s))) == error);
        CHECK(d == before);
    };
    refused(pinned(9, 1), Error::node_holds_task);
    refused(pinned(9, 8), Error::node_unknown);
    refused(pinned(9, ""), Error::id_invalid);
    refused(with(pinned(9, 2), [](auto& t) { t.owner = allot::OwnerId{"owner"}; }), Error::pinned_shared);
    refused(with(pinned(9, 2), [](auto& t) { t.group = allot::GroupId{"group"}; }), Error::pinned_shared);
    refused(with(pinned(9, 2), [](auto& t) { t.gang_size = 2; }), Error::pinned_shared);
    refused(with(pinned(9, 2), [](auto& t) { t.vram_min = 48_GiB; }), Error::task_unrunnable);
    ok(d.leave(1, dark(1s)));
    CHECK(refusal(d.submit(pinned(9, 1), dark(1s))) == Error::already_leaving);
}

TEST_CASE("a pinned task ends once when its node goes", "[A11]") {
    const auto how = GENERATE(0, 1, 2);
    auto d = one_busy();
    ok(d.submit(pinned(2, 1), at(1s)));
    if (how == 0) {
        ok(d.leave(1, at(2s)));
        CHECK(is_held(d, 2));  // the node may yet be slashed, but nothing of its own will follow
        const auto left = d.complete(lease_of(d, 1), at(3s));
        CHECK(left.get<event::NodeLeft>() != nullptr);
        CHECK(endings(left, 2) == 1);
    } else if (how == 1) {
        const auto slashed = d.slash(1, at(2s));
        CHECK(endings(slashed, 2) == 1);
        CHECK(endings(slashed, 1) == 1);
    } else {
        ok(d.pause(1, at(2s)));
        ok(d.complete(lease_of(d, 1), at(3s)));
        CHECK(is_held(d, 2));
        const auto left = d.leave(1, at(4s));
        CHECK(left.get<event::TaskCancelled>()->refunded == allot::Amount{100});
        CHECK(endings(left, 2) == 1);
    }
    CHECK(d.ended(2) == allot::TaskEnd{.ending = allot::Ending::cancelled});
    CHECK(refusal(d.cancel(2, at(5s))) == Error::task_ended);
}

TEST_CASE("a pinned task waits while its node is paused, until it is resumed, withdrawn or out of patience", "[A11]") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    ok(d.pause(1, at(0s)));
    ok(d.submit(pinned(1, 1), dark(1s)));
    REQUIRE(is_held(d, 1));
    auto resumed = d;
    CHECK(where(resumed.resume(1, dark(2s))) == "1");
    auto withdrawn = d;
    CHECK(endings(withdrawn.cancel(1, dark(2s)), 1) == 1);
    CHECK(where(withdrawn.submit(pinned(2, 1), dark(2s))).empty());  // its place is free again
    const auto late = d.advance(dark(24h));
    REQUIRE(late.get<event::TaskTimedOut>() != nullptr);
    CHECK(late.get<event::TaskTimedOut>()->expiry == event::Expiry::queue);
    CHECK(where(d.resume(1, dark(25h))).empty());
}

TEST_CASE("a node that no longer fits its pinned task loses it when it is free", "[A11]") {
    auto d = one_busy();
    ok(d.submit(with(pinned(2, 1), [](auto& t) { t.vram_min = 24_GiB; }), at(1s)));
    auto smaller = allot::NodeUpdate{.id = 1};
    smaller.vram = 16_GiB;
    ok(d.update(smaller, at(2s)));
    CHECK(is_held(d, 2));
    CHECK(endings(d.complete(lease_of(d, 1), at(3s)), 2) == 1);
}

TEST_CASE("a pinned task that fails or is declined ends, whatever the terms say of retries", "[A11]") {
    auto terms = allot::FixedTermsParameters{};
    terms.after_failure = terms.after_timeout = allot::Next::retry;
    auto d = allot::Dispatcher<allot::FixedTerms>{allot::FixedTerms{terms}};
    join_plain(d, 3);
    const auto failed = d.fail(leased(d.submit(pinned(1, 2), at(0s))), allot::FailCause::out_of_memory, at(1s));
    CHECK(endings(failed, 1) == 1);
    const auto declined = d.decline(leased(d.submit(pinned(2, 2), at(2s))), at(3s));
    CHECK(declined.get<event::LeaseEnded>()->how == event::LeaseEnd::declined);
    CHECK(endings(declined, 2) == 1);
    ok(d.submit(pinned(3, 2), at(4s)));
    CHECK(endings(d.advance(at(1h)), 3) == 1);
    CHECK(state_of(d, 2) == NodeState::available);
}

TEST_CASE("a waiting pinned task can be taken back, saved and loaded", "[A11]") {
    auto d = one_busy();
    const auto before = d;
    {
        auto session = d.session();
        ok(d.submit(pinned(2, 1), at(1s)));
        ok(d.complete(lease_of(d, 1), at(2s)));
        session.rollback();
    }
    CHECK(d == before);
    ok(d.submit(pinned(2, 1), at(1s)));
    CHECK(d.digest() != before.digest());
    auto loaded = allot::load_snapshot(allot::snapshot(d, 0), allot::Dispatcher<>{}).value().dispatcher;
    CHECK(loaded == d);
    CHECK(started(loaded.complete(lease_of(d, 1), at(2s))) == std::vector<std::string>{"2"});
}

TEST_CASE("an explanation says that a task is pinned, and to whom it waits", "[A11]") {
    auto d = one_busy();
    ok(d.submit(pinned(2, 1), at(1s)));
    const auto told = allot::explain(d, allot::TaskId{2}).value();
    CHECK(told.count(allot::Reason::pinned) == 1);
    CHECK(told.count(allot::Reason::busy) == 1);
    CHECK(told.candidates == 0);
    CHECK(told.position == 0);
    CHECK(told.next.on_lease_end == lease_of(d, 1).deadline);
    CHECK(allot::explain(d, allot::NodeId{1}).value().held == allot::TaskId{2});
    CHECK(allot::explain(d, allot::NodeId{2}).value().held == std::nullopt);
    CHECK(allot::why_not(d, allot::question(d, allot::TaskId{2}).value(), 2).value() == allot::Reason::pinned);
}

TEST_CASE("the schedule of tests and pinned tasks give each node one task a window", "[A11]") {
    const auto schedule = allot::TestSchedule{{.window = 24h, .margin = 1h}};
    const auto secret = allot::Entropy{7};
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    ok(d.submit(with(plain_task(100), [](auto& t) { t.duration_estimate = 60s; }),
                at(0s)));  // a real task does for its node
    const auto real = lease_of(d, 100);
    auto last = std::map<allot::NodeId, TimePoint>{{real.node, TimePoint{0s}}};
    ok(d.complete(real, at(1s)));
    auto tests = std::map<allot::NodeId, int>{};
    for (auto time = TimePoint{10min}; time < TimePoint{24h}; time += 10min) {
        for (auto node = 1; node <= 3; ++node) {
            const auto seen = last.contains(node) ? std::optional{last.at(node)} : std::nullopt;
            if (schedule.need(secret, node, state_of(d, node), TimePoint{0s}, seen, time) == allot::TestNeed::none) {
                continue;
            }
            const auto id = allot::TaskId{static_cast<std::uint64_t>(node)};
            const auto lease = leased(d.submit(pinned(id, node), {time, std::nullopt}));
            CHECK(lease.node == allot::NodeId{node});
            last[node] = time;
            ++tests[node];
            ok(d.complete(lease, {time, std::nullopt}));
        }
    }
    for (auto node = 1; node <= 3; ++node) { CHECK(tests[node] == (allot::NodeId{node} == real.node ? 0 : 1)); }
}

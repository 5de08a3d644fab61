#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Nodes join, change, pause, resume and leave; what a busy node is told waits for its lease to end (rule 7).

TEST_CASE("a joined node is available, counts in N and answers to its id") {
    auto d = allot::Dispatcher<>{};
    const auto events = d.join(with(plain_node("relay-7"), [](auto& n) { n.models = {"sdxl"}; }), at(0s));
    REQUIRE(events.size() == 1);
    CHECK(events.get<event::NodeJoined>()->node == allot::NodeId{"relay-7"});
    CHECK_FALSE(events.get<event::NodeJoined>()->again);
    CHECK(state_of(d, "relay-7") == NodeState::available);
    CHECK(holding(d, "relay-7", "sdxl") == allot::Holding::on_disk);
    CHECK(d.state().present() == 1);
    CHECK(d.node("relay-8") == nullptr);
}

TEST_CASE("a node stands alone unless it names its operator") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.join(with(plain_node(2), [](auto& n) { n.operator_id = "farm"; }), at(0s)));
    CHECK(d.node(1)->node.operator_id() == allot::OperatorId{1});
    CHECK(d.node(2)->node.operator_id() == allot::OperatorId{"farm"});
}

TEST_CASE("an update changes what it names and nothing else") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node(1),
                   [](auto& n) {
                       n.models = {"a", "b"};
                       n.platform = "Linux";
                   }),
              at(0s)));
    const auto events = d.update({.id = 1, .vram = 48_GiB, .stake = 900}, at(1s));
    CHECK(events.get<event::NodeUpdated>()->node == allot::NodeId{1});
    const auto& record = *d.node(1);
    CHECK(record.node.stake == allot::Amount{900});
    const auto& node_class = d.state().fits().value(record.node.node_class);
    CHECK(node_class == allot::NodeClass{"RTX 4090", 48_GiB, "Linux", {}});
    CHECK(holding(d, 1, "a") == allot::Holding::on_disk);
    CHECK(holding(d, 1, "b") == allot::Holding::on_disk);
    CHECK(d.state().fits().classes().size() == 1);  // nobody is of the old class any more
}

TEST_CASE("a node whose card has too long a name by now can still change its stake") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.configure(allot::RulesParameters{.name_bytes_max = 4}, 2, at(0s)));
    ok(d.update({.id = 1, .stake = 1}, at(0s)));
    CHECK(d.node(1)->node.stake == allot::Amount{1});
    CHECK(refusal(d.update({.id = 1, .gpu = "RTX 5090"}, at(0s))) == Error::name_too_long);
}

TEST_CASE("an idle node pauses, resumes and leaves at once") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    CHECK(d.pause(1, at(1s)).get<event::NodePaused>() != nullptr);
    CHECK(state_of(d, 1) == NodeState::paused);
    CHECK(d.submit(plain_task(1), at(2s)).get<event::TaskQueued>() != nullptr);
    CHECK(d.resume(1, dark(3s)).get<event::NodeResumed>() != nullptr);
    CHECK(state_of(d, 1) == NodeState::available);
    const auto left = d.leave(1, at(4s));
    CHECK(left.get<event::NodeLeft>()->stake_returned == allot::Amount{400});
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(d.state().present() == 0);
}

TEST_CASE("a paused node may leave") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.pause(1, at(0s)));
    CHECK(d.leave(1, at(0s)).get<event::NodeLeft>() != nullptr);
}

TEST_CASE("a busy node's pause waits until its lease ends, however that ends") {
    const auto ending = GENERATE(0, 1, 2, 3, 4);
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(d.pause(1, at(1s)).get<event::NodePausePending>() != nullptr);
    CHECK(state_of(d, 1) == NodeState::pending_pause);
    ok(d.submit(plain_task(2), at(1s)));
    auto events = Events{};
    switch (ending) {
        case 0: events = d.complete(lease, at(2s)); break;
        case 1: events = d.fail(lease, allot::FailCause::execution_error, at(2s)); break;
        case 2: events = d.decline(lease, at(2s)); break;
        case 3: events = d.cancel(1, at(2s)); break;
        default: events = d.advance(at(200s)); break;
    }
    CAPTURE(ending);
    REQUIRE(events.accepted());
    CHECK(count<event::NodePaused>(events) == 1);
    CHECK(state_of(d, 1) == NodeState::paused);
    CHECK(started(events).empty());  // the waiting task must not get a node that pauses
    CHECK(is_queued(d, 2));
}

TEST_CASE("a busy node's leave waits until its lease ends, and then returns the stake") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto events = d.leave(1, at(1s));
    CHECK(events.get<event::NodeLeavePending>() != nullptr);
    CHECK(events.get<event::NodeLeft>() == nullptr);
    CHECK(d.state().present() == 1);  // it counts until it is gone
    const auto done = d.complete(lease, at(2s));
    CHECK(done.get<event::TaskDone>() != nullptr);
    CHECK(done.get<event::NodeLeft>()->stake_returned == allot::Amount{400});
    CHECK(d.state().present() == 0);
}

TEST_CASE("what follows what on a busy node") {
    enum Verb { pausing, resuming, leaving };
    struct Case {
        std::vector<Verb> before;
        Verb verb;
        std::optional<Error> refused;
        NodeState after;
    };
    const auto c = GENERATE(values<Case>({
        {{}, pausing, {}, NodeState::pending_pause},
        {{}, resuming, Error::not_paused, NodeState::busy},
        {{}, leaving, {}, NodeState::pending_leave},
        {{pausing}, pausing, Error::already_paused, NodeState::pending_pause},
        {{pausing}, resuming, {}, NodeState::busy},          // resume withdraws a pending pause
        {{pausing}, leaving, {}, NodeState::pending_leave},  // leave overrides a pending pause
        {{leaving}, pausing, Error::already_leaving, NodeState::pending_leave},
        {{leaving}, resuming, Error::already_leaving, NodeState::pending_leave},
        {{leaving}, leaving, Error::already_leaving, NodeState::pending_leave},
        {{pausing, leaving}, resuming, Error::already_leaving, NodeState::pending_leave},
    }));
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto apply = [&](Verb verb) {
        return verb == pausing ? d.pause(1, at(1s)) : verb == resuming ? d.resume(1, at(1s)) : d.leave(1, at(1s));
    };
    for (const auto verb : c.before) { ok(apply(verb)); }
    CAPTURE(c.before.size(), int{c.verb});
    CHECK(refusal(apply(c.verb)) == c.refused);
    CHECK(state_of(d, 1) == c.after);
    CHECK(d.complete(lease, at(2s)).accepted());  // the lease is not touched by any of it
}

TEST_CASE("what follows what on an idle node") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    CHECK(refusal(d.resume(1, at(0s))) == Error::not_paused);
    ok(d.pause(1, at(0s)));
    CHECK(refusal(d.pause(1, at(0s))) == Error::already_paused);
    ok(d.leave(1, at(0s)));
    for (const auto& events :
         {d.pause(1, at(0s)), d.resume(1, at(0s)), d.leave(1, at(0s)), d.slash(1, at(0s)),
          d.update({.id = 1, .stake = 1}, at(0s)), d.report_model(1, command::Report::add, {"m"}, at(0s))}) {
        CHECK(refusal(events) == Error::node_unknown);
    }
}

TEST_CASE("a resumed pending pause leaves the node free to take the next task") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    ok(d.submit(plain_task(2), at(0s)));
    ok(d.pause(1, at(1s)));
    CHECK(started(d.resume(1, at(1s))).empty());  // it is still busy
    CHECK(started(d.complete(lease, at(2s))) == std::vector<std::string>{"2"});
}

TEST_CASE("a node that left may join again as another machine") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node(1),
                   [](auto& n) {
                       n.models = {"a"};
                       n.labels = {"old"};
                   }),
              at(0s)));
    ok(d.leave(1, at(1s)));
    CHECK(d.state().models().names().size() == 0);  // nobody holds "a" any more
    const auto events = d.join(with(plain_node(1),
                                    [](auto& n) {
                                        n.gpu = "H100";
                                        n.vram = 80_GiB;
                                        n.stake = 1;
                                    }),
                               at(2s));
    CHECK(events.get<event::NodeJoined>()->again);
    CHECK(d.state().fits().value(d.node(1)->node.node_class).gpu == "H100");
    CHECK(d.node(1)->node.stake == allot::Amount{1});
    CHECK(d.node(1)->node.labels().empty());
    CHECK_FALSE(holding(d, 1, "a"));
    CHECK(refusal(d.join(plain_node(1), at(3s))) == Error::node_duplicate);
}

TEST_CASE("the history of a node that left is forgotten after thirty days") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.leave(1, at(0s)));
    CHECK(d.next_deadline() == TimePoint{std::chrono::hours{720}});
    ok(d.advance(at(std::chrono::hours{720} - 1ms)));
    CHECK(d.node(1) != nullptr);
    ok(d.advance(at(std::chrono::hours{720})));
    CHECK(d.node(1) == nullptr);
    CHECK(d.state().nodes().size() == 0);
    CHECK_FALSE(d.join(plain_node(1), at(std::chrono::hours{720})).get<event::NodeJoined>()->again);
}

TEST_CASE("a slashed node is gone at once and its stake with it; its task is not to blame") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    const auto events = d.slash(1, at(1s));
    CHECK(events.get<event::NodeSlashed>()->stake_forfeited == allot::Amount{400});
    CHECK(events.get<event::NodeLeft>() == nullptr);
    const auto* failed = events.get<event::TaskFailed>();
    REQUIRE(failed != nullptr);
    CHECK(failed->cause == allot::FailCause::incorrect_result);
    CHECK(failed->refunded == allot::Amount{100});
    CHECK(failed->owner == allot::OwnerId{"owner"});
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(d.state().leases().size() == 0);
}

TEST_CASE("a task of a slashed node starts over on another node when the terms say so") {
    auto d = allot::Dispatcher{allot::FixedTerms{{.after_failure = allot::Next::retry_elsewhere}}};
    join_plain(d, 2);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto events = d.slash(lease.node, at(1s));
    CHECK(events.get<event::TaskFailed>() == nullptr);
    CHECK(count<event::TaskRetried>(events) == 1);
    CHECK(leased(events).node != lease.node);
    CHECK(leased(events).token > lease.token);
    CHECK(refusal(d.complete(lease, at(2s))) == Error::lease_stale);
}

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/node.hpp>
#include <allot/explain/task.hpp>
#include <allot/format/explain.hpp>
#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

// A class of fewer nodes than `Rules::class_nodes_min` is given no task (the name policy of 2026).

namespace name_policy_test {
namespace {

using namespace support;
using allot::Reason;
using Names = std::vector<std::string>;
using D = allot::Dispatcher<allot::Rules>;

auto wanting(std::uint32_t class_nodes_min) -> D { return D{allot::Rules{{.class_nodes_min = class_nodes_min}}}; }
auto rare(allot::NodeId id) -> NodeSpec {
    return with(plain_node(id), [](auto& n) { n.gpu = "H100", n.vram = 80_GiB; });
}
/// Where every task of a command started, in order.
auto places(const Events& events) -> Names {
    auto names = Names{};
    for (const auto& start : all<event::TaskStarted>(events)) {
        names.push_back(start.lease.task.text() + " on " + start.lease.node.text());
    }
    return names;
}
auto is_open(const D& d, allot::NodeId id) -> bool { return d.state().fits().open(d.node(id)->node.node_class); }

}  // namespace

TEST_CASE("nodes of a class take no task until there are enough; then all that wait are started, by handle") {
    auto d = wanting(3);
    ok(d.join(rare(1), at(0s)));
    ok(d.join(rare(2), at(0s)));
    for (const auto fee : {5U, 20U, 10U}) { ok(d.submit(paying("fee " + std::to_string(fee), fee), at(0s))); }
    CHECK(started(d.match(at(0s))).empty());
    const auto why = allot::explain(d, allot::TaskId{"fee 20"}).value();
    CHECK(why.count(Reason::name_policy) == 2);
    CHECK(why.candidates == 0);
    CHECK(allot::why_not(d, allot::question(d, "fee 20").value(), 1).value() == Reason::name_policy);
    CHECK(places(d.join(rare(3), at(0s))) == Names{"fee 20 on 1", "fee 10 on 2", "fee 5 on 3"});
}

TEST_CASE("only nodes of the very class count: card, VRAM, platform and version") {
    auto d = wanting(2);
    ok(d.join(rare("one"), at(0s)));
    ok(d.join(with(rare("smaller"), [](auto& n) { n.vram = 40_GiB; }), at(0s)));
    ok(d.join(with(rare("platform"), [](auto& n) { n.platform = "Linux"; }), at(0s)));
    ok(d.join(with(rare("version"), [](auto& n) { n.software = {1, 0, 0}; }), at(0s)));
    ok(d.join(plain_node("card"), at(0s)));
    CHECK(where(d.submit(plain_task(1), at(0s))).empty());
    CHECK(allot::explain(d, allot::TaskId{1}).value().count(Reason::name_policy) == 5);
    CHECK(places(d.update({.id = "smaller", .vram = 80_GiB}, at(0s))).size() == 1);
    CHECK(is_open(d, "one"));
    ok(d.update({.id = "smaller", .vram = 40_GiB}, at(0s)));
    CHECK_FALSE(is_open(d, "one"));
}

TEST_CASE("paused and departed nodes do not count; busy, excluded and leaving ones do") {
    auto d = wanting(2);
    ok(d.join(rare(1), at(0s)));
    ok(d.join(rare(2), at(0s)));
    const auto first = leased(d.submit(plain_task("first"), at(0s)));
    const auto other = allot::NodeId{first.node == allot::NodeId{1} ? 2U : 1U};
    CHECK(is_open(d, 1));  // one is busy
    ok(d.leave(first.node, at(0s)));
    CHECK(is_open(d, 1));  // about to leave
    const auto second = leased(d.submit(plain_task("second"), at(0s)));
    ok(d.pause(second.node, at(0s)));
    CHECK(is_open(d, 1));  // about to pause
    ok(d.complete(second, at(0s)));
    CHECK_FALSE(is_open(d, 1));
    CHECK(started(d.resume(other, at(0s))).empty());
    CHECK(is_open(d, 1));
    ok(d.complete(first, at(0s)));
    CHECK_FALSE(is_open(d, other));
    ok(d.join(rare(3), at(0s)));
    for (auto i = 0; i < 4; ++i) { ok(d.observe(3, allot::OutcomeKind::timeout, dark(0s))); }
    REQUIRE(d.node(3)->node.excluded);
    CHECK(is_open(d, 3));
}

TEST_CASE("a class that falls short keeps what it runs, and takes no more") {
    auto d = wanting(2);
    join_plain(d, 2);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto other = allot::NodeId{lease.node == allot::NodeId{1} ? 2U : 1U};
    ok(d.pause(other, at(0s)));
    ok(d.submit(plain_task(2), at(0s)));
    CHECK(started(d.complete(lease, at(0s))).empty());
    CHECK(d.queued() == 1);
    CHECK(places(d.resume(other, at(0s))) == Names{"2 on 1"});  // the pause was all that kept both from it
}

TEST_CASE("without entropy a class that opens waits for a match") {
    auto d = wanting(2);
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    CHECK(started(d.join(plain_node(2), dark(0s))).empty());
    CHECK(started(d.match(at(0s))) == Names{"1"});
}

TEST_CASE("a gang needs an open class, and is pulled by the node that opens it") {
    auto d = wanting(3);
    join_plain(d, 2);
    ok(d.submit(with(plain_task("pair"), [](auto& t) { t.gang_size = 2; }), at(0s)));
    CHECK(d.queued() == 1);
    CHECK(started(d.join(plain_node(3), at(0s))) == Names{"pair", "pair"});
}

TEST_CASE("what opened a class is taken back with it, and a snapshot knows which are open") {
    auto d = wanting(2);
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    const auto before = d;
    auto session = d.session();
    CHECK(started(d.join(plain_node(2), at(0s))) == Names{"1"});
    CHECK(is_open(d, 1));
    session.rollback();
    CHECK(d == before);
    CHECK_FALSE(is_open(d, 1));
    auto loaded = allot::load_snapshot(allot::snapshot(d, 0), wanting(2));
    REQUIRE(loaded);
    CHECK_FALSE(is_open(loaded->dispatcher, 1));
    CHECK(started(loaded->dispatcher.join(plain_node(2), at(0s))) == Names{"1"});
    CHECK(started(d.join(plain_node(2), at(0s))) == Names{"1"});
}

TEST_CASE("a changed minimum opens and closes classes, for the next match") {
    auto d = wanting(2);
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    auto session = d.session();
    CHECK(started(d.configure(allot::RulesParameters{}, 2, at(0s))).empty());
    CHECK(started(d.match(at(0s))) == Names{"1"});
    session.rollback();
    CHECK(started(d.match(at(0s))).empty());
    CHECK(refusal(d.configure(allot::RulesParameters{.class_nodes_min = 1'025}, 2, at(0s))) ==
          Error::parameter_invalid);
}

TEST_CASE("the operator of a rare node is told how many more are needed") {
    auto d = wanting(3);
    join_plain(d, 1);
    const auto e = allot::explain(d, allot::NodeId{1}).value();
    CHECK(e.obstacle == Reason::name_policy);
    CHECK(e.class_nodes_missing == 2);
    CHECK(fmt::format("{}", e).find("once 2 more of it are there") != std::string::npos);
    ok(d.join(plain_node(2), at(0s)));
    CHECK(fmt::format("{}", allot::explain(d, allot::NodeId{1}).value()).find("once 1 more of it is there") !=
          std::string::npos);
    ok(d.join(plain_node(3), at(0s)));
    CHECK(allot::explain(d, allot::NodeId{1}).value().obstacle == Reason::none);
    CHECK(allot::explain(d, allot::NodeId{1}).value().class_nodes_missing == 0);
}

TEST_CASE("where tasks that nobody can run are refused, those for rare nodes are") {
    auto d = D{allot::Rules{{.class_nodes_min = 2, .refuse_unrunnable = true}}};
    join_plain(d, 1);
    CHECK(refusal(d.submit(plain_task(1), at(0s))) == Error::task_unrunnable);
    ok(d.join(plain_node(2), at(0s)));
    CHECK(where(d.submit(plain_task(4), at(0s))) != "");
}

}  // namespace name_policy_test

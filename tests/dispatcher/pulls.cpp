#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// A node that becomes free takes the best waiting task that it can run, on every path that makes it free (rules 16,
// 17).

namespace {

using Names = std::vector<std::string>;

auto needing(const char* id, int fee, std::uint32_t vram, std::vector<allot::GpuChoice> gpus = {}) -> TaskSpec {
    return with(paying(id, fee), [&](TaskSpec& t) {
        t.vram_min = allot::Gibibytes{vram};
        t.gpus = std::move(gpus);
    });
}

/// Starts a task on the only node there is and leaves another waiting.
template <class Dispatcher>
auto busy_with_one_waiting(Dispatcher& d) -> Lease {
    const auto lease = leased(d.submit(plain_task("first"), at(0s)));
    ok(d.submit(plain_task("waiting"), at(0s)));
    return lease;
}

/// The default weight, counting how often it is asked.
struct CountedWeight {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    int* asked;
    [[nodiscard]] auto weight(const allot::Node&, const allot::Task&, allot::Factors factors) const -> allot::Weight {
        ++*asked;
        return allot::harmonic(factors);
    }
};

/// Lets no node run a dear task, counting how often it is asked.
struct CountedAdmission {
    using role = allot::role::eligibility;
    int* asked;
    [[nodiscard]] auto fits(const allot::NodeClass&, const allot::Requirement&) const -> allot::Reason {
        return allot::Reason::none;
    }
    [[nodiscard]] auto admits(const allot::Node&, const allot::Task& task, const allot::Situation&) const
        -> allot::Reason {
        ++*asked;
        return task.fee > allot::Amount{100} ? allot::Reason::first_of_embedder : allot::Reason::none;
    }
};

}  // namespace

TEST_CASE("a free node takes the best over its own GPU groups and every group that fits") {
    auto d = allot::Dispatcher<>{};
    for (const auto& task :
         {needing("any-8", 5, 8), needing("any-24", 7, 24), needing("any-80", 99, 80),
          needing("this-card", 6, 0, {{"RTX 4090", 24_GiB}}), needing("other-card", 98, 0, {{"H100", 80_GiB}}),
          needing("same-name-other-vram", 97, 0, {{"RTX 4090", 48_GiB}}), needing("by-name", 4, 8, {{"RTX 4090", {}}}),
          needing("set", 8, 0, {{"A100", 80_GiB}, {"RTX 4090", 24_GiB}})}) {
        ok(d.submit(task, at(0s)));
    }
    auto order = Names{};
    auto events = d.join(plain_node(1), at(0s));
    while (const auto* lease = events.lease()) {
        order.push_back(lease->task.text());
        events = d.complete(Lease{*lease}, at(0s));
    }
    CHECK(order == Names{"set", "any-24", "this-card", "any-8", "by-name"});
    CHECK(d.queued() == 3);
}

TEST_CASE("equal values are pulled in the order of their submission, across groups") {
    auto d = allot::Dispatcher<>{};
    for (const auto& task :
         {needing("1", 5, 16), needing("2", 5, 8), needing("3", 5, 16), needing("4", 5, 0, {{"RTX 4090", 24_GiB}})}) {
        ok(d.submit(task, at(0s)));
    }
    auto order = Names{};
    auto events = d.join(plain_node(1), at(0s));
    while (const auto* lease = events.lease()) {
        order.push_back(lease->task.text());
        events = d.complete(Lease{*lease}, at(0s));
    }
    CHECK(order == Names{"1", "2", "3", "4"});
}

TEST_CASE("the pull is exact though the heads of groups are not for this node") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node("old"),
                   [](auto& n) {
                       n.software = {1, 2, 0};
                       n.platform = "Darwin";
                       n.operator_id = "farm";
                   }),
              at(0s)));
    ok(d.join(with(plain_node("twin"), [](auto& n) { n.operator_id = "farm"; }), at(0s)));
    ok(d.pause("twin", at(0s)));
    const auto lease = leased(d.submit(paying("declined", 50), at(0s)));  // runs on "old"
    ok(d.submit(with(paying("newer", 60), [](auto& t) { t.software = allot::SoftwareVersion{1, 3, 0}; }), at(0s)));
    ok(d.submit(with(paying("linux", 55), [](auto& t) { t.platforms = {"Linux"}; }), at(0s)));
    ok(d.submit(paying("good", 10), at(0s)));
    ok(d.submit(paying("worse", 9), at(0s)));
    SECTION("version, platform and a task that avoids it") {
        CHECK(started(d.decline(lease, at(0s))) == Names{"good"});
        CHECK(is_queued(d, "declined"));
    }
    SECTION("a validation group whose member it has, or its operator has") {
        const auto grouped = [](const char* id, int fee) {
            return with(paying(id, fee), [](auto& t) { t.group = "group"; });
        };
        ok(d.complete(lease, dark(0s)));
        ok(d.submit(grouped("member-1", 70), dark(0s)));
        ok(d.submit(grouped("member-2", 69), dark(0s)));
        ok(d.submit(grouped("member-3", 68), dark(0s)));
        const auto first = leased(d.match(at(0s)));
        CHECK(first.task == allot::TaskId{"member-1"});
        CHECK(started(d.complete(first, at(0s))) == Names{"good"});
        CHECK(started(d.resume("twin", at(0s))) == Names{"worse"});
    }
}

TEST_CASE("members of a validation group never share a node or an operator") {
    auto d = allot::Dispatcher<>{};
    for (auto id = 1; id <= 6; ++id) {
        ok(d.join(with(plain_node(id), [&](auto& n) { n.operator_id = id <= 4   ? "farm"
                                                                      : id == 5 ? "b"
                                                                                : "c"; }),
                  at(0s)));
    }
    auto operators = std::vector<std::string>{};
    for (auto id = 1; id <= 5; ++id) {
        const auto events = d.submit(with(plain_task(id), [](auto& t) { t.group = "g"; }), at(0s));
        if (const auto* lease = events.lease()) {
            operators.push_back(d.node(lease->node)->node.operator_id().text());
            ok(d.complete(Lease{*lease}, at(0s)));  // one after the other counts, too
        }
    }
    std::sort(operators.begin(), operators.end());
    CHECK(operators == Names{"b", "c", "farm"});
    CHECK(d.queued() == 2);
}

TEST_CASE("a pull is tried on every path that ends a lease") {
    const auto path = GENERATE(0, 1, 2, 3, 4);
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = busy_with_one_waiting(d);
    auto events = Events{};
    switch (path) {
        case 0: events = d.complete(lease, at(1s)); break;
        case 1: events = d.fail(lease, allot::FailCause::out_of_memory, at(1s)); break;
        case 2: events = d.decline(lease, at(1s)); break;
        case 3: events = d.cancel("first", at(1s)); break;
        default: events = d.advance(at(200s)); break;  // timed out
    }
    CAPTURE(path);
    CHECK(started(events) == Names{"waiting"});
}

TEST_CASE("a pull is tried when a node joins, resumes, or is readmitted") {
    auto d = allot::Dispatcher<>{};
    ok(d.submit(plain_task("waiting"), at(0s)));
    SECTION("join") { CHECK(started(d.join(plain_node(1), at(0s))) == Names{"waiting"}); }
    SECTION("resume") {
        ok(d.join(plain_node(1), dark(0s)));
        ok(d.pause(1, at(0s)));
        CHECK(started(d.resume(1, at(0s))) == Names{"waiting"});
    }
    SECTION("readmitted after exclusion") {
        ok(d.join(plain_node(1), dark(0s)));
        for (auto i = 0; i < 3; ++i) { ok(d.observe(1, allot::OutcomeKind::timeout, at(0s))); }
        const auto back = *d.next_deadline();
        CHECK(started(d.match(at(0s))).empty());
        CHECK(started(d.advance(at(back.time_since_epoch() - 1ms))).empty());
        const auto events = d.advance(at(back.time_since_epoch()));
        CHECK(count<event::NodeReadmitted>(events) == 1);
        CHECK(started(events) == Names{"waiting"});
    }
}

TEST_CASE("a pull is tried when a node's weight becomes positive") {
    auto d = allot::Dispatcher{allot::RollingQos{{.score_floor = {}}}};
    ok(d.submit(plain_task("waiting"), at(0s)));
    SECTION("by its stake") {
        ok(d.join(with(plain_node(1), [](auto& n) { n.stake = 0; }), at(0s)));
        CHECK(is_queued(d, "waiting"));
        CHECK(started(d.update({.id = 1, .stake = 1}, at(0s))) == Names{"waiting"});
    }
    SECTION("by a verdict") {
        ok(d.join(plain_node(1), dark(0s)));
        ok(d.score(1, 0, dark(0s)));
        CHECK(started(d.match(at(0s))).empty());
        CHECK(started(d.score(1, 1, at(0s))) == Names{"waiting"});
    }
}

TEST_CASE("a pull is tried when a node's class changes") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    const auto wait_for = [&](auto change) { ok(d.submit(with(plain_task("waiting"), change), at(0s))); };
    SECTION("GPU") {
        wait_for([](auto& t) { t.gpus = {{"H100", 24_GiB}}; });
        CHECK(started(d.update({.id = 1, .gpu = "H100"}, at(0s))) == Names{"waiting"});
    }
    SECTION("VRAM") {
        wait_for([](auto& t) { t.vram_min = 48_GiB; });
        CHECK(started(d.update({.id = 1, .vram = 48_GiB}, at(0s))) == Names{"waiting"});
    }
    SECTION("platform") {
        wait_for([](auto& t) { t.platforms = {"Linux"}; });
        CHECK(started(d.update({.id = 1, .platform = "Linux"}, at(0s))) == Names{"waiting"});
    }
    SECTION("version") {
        wait_for([](auto& t) { t.software = allot::SoftwareVersion{1, 0, 0}; });
        CHECK(started(d.update({.id = 1, .software = allot::SoftwareVersion{1, 0, 7}}, at(0s))) == Names{"waiting"});
    }
}

TEST_CASE("a pull is tried when an operator changes that a validation group refused") {
    auto d = allot::Dispatcher<>{};
    const auto grouped = [](const char* id) { return with(plain_task(id), [](auto& t) { t.group = "g"; }); };
    ok(d.join(with(plain_node(1), [](auto& n) { n.operator_id = "farm"; }), at(0s)));
    ok(d.submit(grouped("a"), at(0s)));
    ok(d.join(with(plain_node(2), [](auto& n) { n.operator_id = "farm"; }), at(0s)));
    ok(d.submit(grouped("b"), at(0s)));
    CHECK(is_queued(d, "b"));
    CHECK(started(d.update({.id = 2, .operator_id = allot::OperatorId{"own"}}, at(0s))) == Names{"b"});
}

TEST_CASE("under a hard gate a pull is tried when a node reports models") {
    const auto report = GENERATE(command::Report::add, command::Report::inventory);
    auto d = allot::Dispatcher{allot::Rules{{.narrowing = allot::Narrowing::gate}}};
    join_plain(d, 1);
    ok(d.submit(with(plain_task("waiting"), [](auto& t) { t.models = {"a", "b"}; }), at(0s)));
    CHECK(started(d.report_model(1, command::Report::add, {"a"}, at(0s))).empty());
    CHECK(started(d.report_model(1, report, {"a", "b"}, at(0s))) == Names{"waiting"});
}

TEST_CASE("at most one task starts on a node that becomes free, and none without entropy") {
    auto d = allot::Dispatcher<>{};
    for (auto id = 1; id <= 5; ++id) { ok(d.submit(plain_task(id), at(0s))); }
    CHECK(started(d.join(plain_node(1), dark(0s))).empty());
    CHECK(started(d.join(plain_node(2), at(0s))).size() == 1);
    CHECK(started(d.match(at(0s))).size() == 1);
    CHECK(d.queued() == 3);
}

TEST_CASE("nodes that become free together pull in the order of their handles") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    for (auto id = 1; id <= 3; ++id) { ok(d.submit(plain_task(id), at(0s))); }
    for (auto fee : {30, 20, 10}) { ok(d.submit(paying(fee, fee), at(0s))); }
    const auto events = d.advance(at(200s));
    CHECK(count<event::TaskTimedOut>(events) == 3);
    auto order = std::vector<std::pair<std::string, std::string>>{};
    for (const auto& start : all<event::TaskStarted>(events)) {
        order.emplace_back(start.lease.task.text(), start.lease.node.text());
    }
    CHECK(order == std::vector<std::pair<std::string, std::string>>{{"30", "1"}, {"20", "2"}, {"10", "3"}});
}

TEST_CASE("a declined task is tried on the other nodes before its node takes another") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    const auto lease = leased(d.submit(plain_task("picky"), at(0s)));
    ok(d.submit(with(plain_task("waiting"), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    const auto events = d.decline(lease, at(0s));
    CHECK(started(events) == Names{"picky"});
    CHECK(leased(events).node != lease.node);
}

TEST_CASE("a pull for a node without weight asks about one task, however many wait") {
    auto asked = 0;
    auto d = allot::Dispatcher{CountedWeight{&asked}};
    ok(d.join(with(plain_node(1), [](auto& n) { n.stake = 0; }), dark(0s)));
    for (auto i = 0; i < 50; ++i) { ok(d.submit(plain_task(i), dark(0s))); }
    ok(d.pause(1, at(0s)));
    asked = 0;
    CHECK(started(d.resume(1, at(0s))).empty());
    CHECK(asked < 5);
    CHECK(started(d.update({.id = 1, .stake = 1}, at(0s))) == Names{"0"});
}

TEST_CASE("a match asks once about each task that cannot start, and the queue has them all afterwards") {
    auto asked = 0;
    auto d = allot::Dispatcher{CountedAdmission{&asked}, allot::ValueQueue{{.capacity_min = 200}}};
    constexpr auto nodes = 40;
    constexpr auto blocked = 30;
    join_plain(d, nodes, dark(0s));
    for (auto i = 0; i < blocked; ++i) { ok(d.submit(paying(i, 200 + i), dark(0s))); }
    for (auto i = 0; i < nodes + 10; ++i) { ok(d.submit(paying(100 + i, 100 - i), dark(0s))); }
    asked = 0;
    const auto events = d.match(at(0s));
    CHECK(events.get<event::Matched>()->started == nodes);
    CHECK(asked <
          blocked * (32 + nodes) + nodes * 10);  // a draw that falls on no one tries 32 times, and looks at each node
    auto order = started(events);
    CHECK(std::is_sorted(order.begin(), order.end()));  // by value, which falls with the number
    CHECK(d.queued() == blocked + 10);
    const auto groups = d.state().fits().requirements_of(allot::ClassId{0});
    CHECK(d.queue().best(groups, [](auto) { return true; }) == d.state().tasks().find(blocked - 1));
}

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/oracle.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

// Each attack is carried out twice, by the same commands: on the defaults, where it pays, and on the hardened preset.

namespace hardened_test {
namespace {

using namespace support;
using allot::FixedTerms;
using allot::ShareQueue;
using allot::ValueQueue;
using allot::preset::CrynuxSingle;
using allot::preset::Hardened;
using Names = std::vector<std::string>;

constexpr auto hardened = Hardened{1'000};

/// What the nodes whose name begins so have of a draw for a plain task, in millionths.
template <class D>
auto share(const D& d, const std::string& prefix) -> std::uint64_t {
    const auto drawn = allot::probabilities(d, plain_task("question")).value();
    auto sum = allot::u128{0};
    for (const auto& one : drawn.nodes) { sum += one.node.text().rfind(prefix, 0) == 0 ? one.weight : allot::u128{0}; }
    return (sum / 1'000'000U * allot::u128{1'000'000U} / (drawn.total / 1'000'000U)).low();
}

auto staked(const std::string& id, std::uint64_t stake) -> NodeSpec {
    return with(plain_node(allot::NodeId{id}), [&](auto& n) { n.stake = stake; });
}

/// Ten honest nodes of 100 each, and an attacker's 1,000 on so many nodes; what he has of a draw.
template <class D>
auto attackers_share(D d, int nodes) -> std::uint64_t {
    for (auto i = 0; i < 10; ++i) { ok(d.join(staked("honest" + std::to_string(i), 100), at(0s))); }
    for (auto i = 0; i < nodes; ++i) {
        ok(d.join(staked("evil" + std::to_string(i), static_cast<std::uint64_t>(1'000 / nodes)), at(0s)));
    }
    return share(d, "evil");
}

/// How many of so many draws, each from the same state, fall on a node.
template <class D>
auto times_drawn(const D& d, const std::string& node, int draws, const std::vector<std::string>& models) -> int {
    auto times = 0;
    for (auto i = 0; i < draws; ++i) {
        auto copy = d;
        const auto task = with(plain_task(i + 1), [&](auto& t) { t.models = models; });
        times += where(copy.submit(task, at(0s))) == node ? 1 : 0;
    }
    return times;
}

/// A node that is there, but takes nothing, so that tasks wait.
template <class D>
auto with_a_paused_node(D d) -> D {
    join_plain(d, 1);
    ok(d.pause(1, at(0s)));
    return d;
}

}  // namespace

TEST_CASE("splitting a stake over nodes pays by the square root, and nothing by the linear weight") {
    const auto seed_one = attackers_share(allot::Dispatcher{CrynuxSingle{}}, 1);
    const auto seed_hundred = attackers_share(allot::Dispatcher{CrynuxSingle{}}, 100);
    CHECK(seed_one < 200'000);
    CHECK(seed_hundred > 700'000);
    CHECK(attackers_share(allot::Dispatcher{hardened}, 1) == 500'000);
    for (const auto nodes : {10, 100, 1'000}) {
        const auto split = attackers_share(allot::Dispatcher{hardened}, nodes);
        CHECK(split >= 499'998);
        CHECK(split <= 500'000);
    }
}

TEST_CASE("a stake above the cap counts as the cap") {
    auto d = allot::Dispatcher{hardened};
    ok(d.join(staked("whale", 1'000'000), at(0s)));
    ok(d.join(staked("honest", 1'000), at(0s)));
    CHECK(share(d, "whale") == 500'000);
    auto seed = allot::Dispatcher{CrynuxSingle{}};
    ok(seed.join(staked("whale", 1'000'000), at(0s)));
    ok(seed.join(staked("honest", 1'000), at(0s)));
    CHECK(share(seed, "whale") > 900'000);
    static_assert(!std::is_default_constructible_v<Hardened>);  // nobody forgets to say the cap
}

TEST_CASE("stake that is added does not count at once, however good the node's score is") {
    auto d = allot::Dispatcher{hardened};
    for (const auto* name : {"honest", "raises"}) {
        ok(d.join(staked(name, 100), at(0s)));
        for (auto i = 0; i < 50; ++i) { REQUIRE(d.score(name, 10U, at(0s)).accepted()); }
    }
    CHECK(share(d, "raises") == 500'000);
    ok(d.update({.id = "raises", .stake = 200}, at(0s)));
    CHECK(share(d, "raises") <= 500'000);
    CHECK(share(d, "raises") >= 499'998);
    ok(d.advance(at(1h)));
    CHECK(share(d, "raises") > 660'000);
}

TEST_CASE("narrowed to holders of all models, a draw asks what those of each model weigh; a gate asks nothing") {
    struct Case {
        allot::Narrowing narrowing;
        std::size_t a_and_dust;
        std::size_t dust;
    };
    for (const auto& [narrowing, a_and_dust, dust] :
         {Case{allot::Narrowing::any, 9, 12}, Case{allot::Narrowing::all, 12, 12},
          Case{allot::Narrowing::gate, 3, 3}}) {
        CAPTURE(static_cast<int>(narrowing));
        auto rules = std::get<allot::Rules>(hardened.policies()).parameters();
        rules.narrowing = narrowing;
        auto d = allot::Dispatcher{hardened, allot::Rules{rules}};
        for (auto i = 1; i <= 12; ++i) {
            auto node = staked("n" + std::to_string(i), i > 6 && i < 10 ? 1 : 1'000);
            if (i <= 6) { node.models.emplace_back("a"); }
            if (i > 6 && i < 10) { node.models = {"a", "dust"}; }
            ok(d.join(node, at(0s)));
            for (auto times = 0; times < 12; ++times) { REQUIRE(d.score(node.id, 5U, at(0s)).accepted()); }
        }
        const auto candidates = [&](const Names& models) {
            const auto task = with(plain_task("question"), [&](auto& t) { t.models = models; });
            return allot::probabilities(d, task).value().nodes.size();
        };
        CHECK(candidates({"a", "dust"}) == a_and_dust);
        CHECK(candidates({"dust"}) == dust);
    }
}

TEST_CASE("a node that its owners praise gets more draws, unless praise has a cap") {
    const auto praised = [](auto d) {
        for (const auto* name : {"honest", "evil"}) {
            ok(d.join(staked(name, 1'000), at(0s)));
            for (auto i = 0; i < 50; ++i) { REQUIRE(d.score(name, *name == 'e' ? 10U : 5U, at(0s)).accepted()); }
        }
        return share(d, "evil");
    };
    CHECK(praised(allot::Dispatcher{CrynuxSingle{}}) > 550'000);
    CHECK(praised(allot::Dispatcher{hardened}) == 500'000);
}

TEST_CASE("an operator's many nodes weigh their sum, unless they share four caps") {
    const auto attack = [](auto d) {
        for (auto i = 0; i < 12; ++i) {
            const auto name = "evil" + std::to_string(i);
            ok(d.join(with(staked(name, 1'000), [](auto& n) { n.operator_id = allot::OperatorId{"evil"}; }), at(0s)));
        }
        for (auto i = 0; i < 4; ++i) { ok(d.join(staked("honest" + std::to_string(i), 1'000), at(0s))); }
        return d;
    };
    CHECK(share(attack(allot::Dispatcher{CrynuxSingle{}}), "evil") == 750'000);
    CHECK(share(attack(allot::Dispatcher{hardened}), "evil") == 750'000);  // names are free, so it may hide them
    auto d = attack(allot::Dispatcher{hardened, allot::LinearWeight{{.stake_cap = 1'000, .operator_caps = 4}}});
    CHECK(share(d, "evil") == 500'000);
    // When some of them leave, the others count for more; when nobody says who runs them, each stands alone.
    for (auto i = 0; i < 10; ++i) { ok(d.leave(allot::NodeId{"evil" + std::to_string(i)}, at(0s))); }
    CHECK(share(d, "evil") == 333'333);
    {
        auto session = d.session();
        ok(d.update({.id = "honest0", .stake = 8'000, .operator_id = allot::OperatorId{"evil"}}, at(0s)));
        ok(d.advance(at(1h)));               // it rests after the update, and its added stake counts from now on
        CHECK(share(d, "evil") == 166'666);  // each 1,000 of 10,000 that are four caps, beside four nodes at the cap
        session.rollback();
    }
    CHECK(share(d, "evil") == 333'333);
}

TEST_CASE("a lone node that claims a model gets every task that wants it, unless three of weight must hold it") {
    const auto attack = [](auto d) {
        for (auto i = 0; i < 9; ++i) {
            ok(d.join(with(plain_node(100 + i), [](auto& n) { n.stake = 1'000; }), at(0s)));
        }
        ok(d.join(with(plain_node("liar"), [](auto& n) { n.stake = 1'000, n.models = {"rare"}; }), at(0s)));
        for (auto verdict = 0; verdict < 12; ++verdict) {  // all are known, and none is excellent
            for (auto i = 0; i < 9; ++i) { ok(d.score(100 + i, 5, at(0s))); }
            ok(d.score("liar", 5, at(0s)));
        }
        return d;
    };
    const auto seed = attack(allot::Dispatcher{CrynuxSingle{}});
    CHECK(times_drawn(seed, "liar", 100, {"rare"}) == 100);
    auto d = attack(allot::Dispatcher{hardened});
    CHECK(times_drawn(d, "liar", 100, {"rare"}) < 40);
    CHECK(allot::probabilities(d, with(plain_task(1), [](auto& t) { t.models = {"rare"}; }))->nodes.size() == 10);

    // Claims of several models by one node are those of one node.
    ok(d.report_model("liar", command::Report::add, {"other", "third"}, at(0s)));
    CHECK(times_drawn(d, "liar", 100, {"other", "rare", "third"}) < 40);

    // Two are too few, three are enough.
    ok(d.report_model(100, command::Report::add, {"rare"}, at(0s)));
    CHECK(allot::probabilities(d, with(plain_task(1), [](auto& t) { t.models = {"rare"}; }))->nodes.size() == 10);
    ok(d.report_model(101, command::Report::add, {"rare"}, at(0s)));
    CHECK(allot::probabilities(d, with(plain_task(1), [](auto& t) { t.models = {"rare"}; }))->nodes.size() == 3);
    auto by_holders = 0;
    for (const auto* const holder : {"liar", "100", "101"}) { by_holders += times_drawn(d, holder, 60, {"rare"}); }
    CHECK(by_holders == 60);

    // Three of hardly any stake are too few, however many models they claim, and are enough beside one of weight.
    const auto dust = [](const std::string& id) {
        return with(plain_node(allot::NodeId{id}), [](auto& n) {
            n.stake = 1;
            for (auto i = 0; i < 9; ++i) { n.models.emplace_back("private-" + std::to_string(i)); }
        });
    };
    for (const auto* const id : {"dust-1", "dust-2", "dust-3", "dust-4"}) { ok(d.join(dust(id), at(0s))); }
    const auto drawn_from = [&](const std::vector<std::string>& models) {
        return allot::probabilities(d, with(plain_task(1), [&](auto& t) { t.models = models; }))->nodes.size();
    };
    const auto all = std::vector<std::string>{"private-0", "private-1", "private-2", "private-3"};
    CHECK(drawn_from({"private-0"}) == 14);
    CHECK(drawn_from(all) == 14);
    for (const auto* const id : {"dust-1", "dust-2", "dust-3"}) { CHECK(times_drawn(d, id, 60, all) == 0); }
    const auto reasons =
        allot::explain(d, allot::question(d, with(plain_task(1), [&](auto& t) { t.models = all; })).value());
    CHECK(reasons.count(allot::Reason::narrowed_out) == 0);
    ok(d.report_model("liar", command::Report::add, {"private-0"}, at(0s)));
    ok(d.report_model(100, command::Report::add, {"private-0"}, at(0s)));
    CHECK(drawn_from({"private-0"}) == 14);  // two at the cap and dust weigh too little
    for (auto verdict = 0; verdict < 50; ++verdict) {
        ok(d.score("liar", 10, at(0s)));
        ok(d.score(100, 10, at(0s)));
    }
    CHECK(drawn_from({"private-0"}) == 14);  // also when they are praised
    ok(d.report_model(101, command::Report::add, {"private-0"}, at(0s)));
    CHECK(drawn_from({"private-0"}) == 7);  // three, and the dust
}

TEST_CASE("a node that outweighs all others counts as the cap, or gets a third of the draws where lots are drawn") {
    const auto attack = [](auto d) {
        for (auto i = 0; i < 9; ++i) { ok(d.join(staked(std::to_string(i + 1), 1), at(0s))); }
        ok(d.join(staked("whale", 1'000'000), at(0s)));
        return d;
    };
    CHECK(times_drawn(attack(allot::Dispatcher{CrynuxSingle{}}), "whale", 300, {}) > 270);
    CHECK(share(attack(allot::Dispatcher{Hardened{1}}), "whale") == 100'000);
    const auto lots = allot::Rules{{.draw_among = 3}};
    const auto capped = times_drawn(attack(allot::Dispatcher{Hardened{1'000'000}, lots}), "whale", 300, {});
    CHECK(capped > 60);
    CHECK(capped < 140);
    auto alone = allot::Dispatcher{hardened, lots};
    ok(alone.join(staked("whale", 1'000'000), at(0s)));
    CHECK(times_drawn(alone, "whale", 10, {}) == 10);  // fewer candidates than lots
}

TEST_CASE("tasks that nobody can run evict those that can, unless they are refused") {
    const auto queue = ValueQueue{{.tasks_per_node = 0, .capacity_min = 5}};
    const auto attack = [](auto d) {
        join_plain(d, 1);
        ok(d.submit(paying("honest", 100), dark(0s)));
        for (auto i = 0; i < 10; ++i) {
            const auto vram = allot::Gibibytes{1'024U + static_cast<std::uint32_t>(i % 5)};
            (void)d.submit(with(paying(i + 1, 1'000'000), [&](auto& t) { t.vram_min = vram; }), dark(0s));
        }
        return is_queued(d, "honest");
    };
    CHECK_FALSE(attack(allot::Dispatcher{CrynuxSingle{}, queue}));
    CHECK(attack(allot::Dispatcher{hardened, queue}));
}

TEST_CASE("one owner fills the queue, unless he has a quota") {
    const auto attack = [](auto& d) {
        auto admitted = 0;
        for (auto i = 0; i < 100; ++i) {
            const auto task = with(plain_task(i + 1), [](auto& t) { t.owner = allot::OwnerId{"evil"}; });
            admitted += d.submit(task, dark(0s)).accepted() ? 1 : 0;
        }
        return admitted;
    };
    auto seed = with_a_paused_node(allot::Dispatcher{CrynuxSingle{}});
    CHECK(attack(seed) == 100);
    auto d = with_a_paused_node(allot::Dispatcher{hardened, ValueQueue{{.tasks_per_node = 0, .capacity_min = 1'000}}});
    CHECK(attack(d) == 64);
    const auto one_more = with(plain_task(1'000), [](auto& t) { t.owner = allot::OwnerId{"evil"}; });
    CHECK(refusal(d.submit(one_more, dark(0s))) == Error::owner_quota_reached);
    ok(d.submit(plain_task("of another"), dark(0s)));
    ok(d.submit(with(plain_task("of nobody"), [](auto& t) { t.owner.reset(); }), dark(0s)));
    {
        auto session = d.session();
        ok(d.cancel(1, dark(0s)));
        ok(d.submit(one_more, dark(0s)));
        session.rollback();
    }
    CHECK(refusal(d.submit(one_more, dark(0s))) == Error::owner_quota_reached);
    ok(d.resume(1, at(0s)));
    CHECK(started(d.advance(at(1min))).size() == 1);  // one of his tasks starts, and goes on to count
    CHECK(refusal(d.submit(one_more, dark(1min))) == Error::owner_quota_reached);
    ok(d.cancel(64, dark(1min)));
    ok(d.submit(one_more, dark(1min)));
}

TEST_CASE("one token more evicts, unless an eighth more must be bid") {
    const auto queue = ValueQueue{{.tasks_per_node = 0, .capacity_min = 2}};
    auto seed = with_a_paused_node(allot::Dispatcher{CrynuxSingle{}, queue});
    auto d = with_a_paused_node(allot::Dispatcher{hardened, queue});
    auto plain = with_a_paused_node(allot::Dispatcher{allot::Rules{{.outbid_by = {9, 8}}}, queue});
    const auto both = [&](auto id, int fee) {
        return std::tuple{evicted(seed.submit(paying(id, fee), dark(0s))), evicted(d.submit(paying(id, fee), dark(0s))),
                          evicted(plain.submit(paying(id, fee), dark(0s)))};
    };
    (void)both("a", 800);
    (void)both("b", 1'000);
    CHECK(both("c", 801) == std::tuple{Names{"a"}, Names{"c"}, Names{"c"}});
    CHECK(both("d", 899) == std::tuple{Names{"c"}, Names{"d"}, Names{"d"}});
    CHECK(both("e", 900) == std::tuple{Names{"d"}, Names{"a"}, Names{"a"}});  // nine eighths exactly
    CHECK(d.queued() == 2);
}

TEST_CASE("a stream of dear tasks starves a cheap one, unless its worth grows with waiting") {
    const auto attack = [](auto d, int dear) {
        d = with_a_paused_node(std::move(d));
        ok(d.submit(paying("cheap", 10), dark(0s)));
        ok(d.resume(1, dark(3h)));                     // it has rested by then
        ok(d.submit(paying("dear", dear), dark(4h)));  // twice two hours later: four times as much is worth as much
        const auto first = allot::explain(d, "cheap")->position;
        const auto which = started(d.match(at(4h)));
        CHECK((first == 1) == (which == Names{"cheap"}));
        return which;
    };
    CHECK(attack(allot::Dispatcher{CrynuxSingle{}}, 11) == Names{"dear"});
    CHECK(attack(allot::Dispatcher{hardened}, 11) == Names{"cheap"});
    CHECK(attack(allot::Dispatcher{hardened}, 40) == Names{"cheap"});  // equal worth: first come
    CHECK(attack(allot::Dispatcher{hardened}, 41) == Names{"dear"});
}

TEST_CASE("what has waited is also harder to evict") {
    const auto queue = ValueQueue{{.tasks_per_node = 0, .capacity_min = 1}};
    auto d = with_a_paused_node(allot::Dispatcher{hardened, queue});
    ok(d.submit(paying("old", 800), dark(0s)));
    CHECK(evicted(d.submit(paying("young", 1'700), dark(2h))) == Names{"young"});  // less than 9/8 of twice 800
    CHECK(evicted(d.submit(paying("rich", 1'801), dark(2h))) == Names{"old"});
}

TEST_CASE("a task that times out everywhere harms node after node, unless blame needs evidence") {
    const auto attack = [](auto d) {
        join_plain(d, 6);
        const auto fresh = d.node(1)->qos;
        auto events = d.submit(plain_task("poison"), at(0s));
        auto nodes = Names{where(events)};
        for (auto i = 1; i <= 6 && !nodes.back().empty(); ++i) {
            events = d.advance(at(i * 200s));
            nodes.push_back(where(events));
        }
        nodes.pop_back();
        CHECK(count<event::TaskTimedOut>(events) == 1);
        auto blamed = 0;
        for (auto id = 1; id <= 6; ++id) { blamed += d.node(id)->qos == fresh ? 0 : 1; }
        return std::pair{nodes, blamed};
    };
    const auto elsewhere = FixedTerms{{.after_timeout = allot::Next::retry_elsewhere, .attempts_max = 6}};
    const auto [seed_nodes, seed_blamed] = attack(allot::Dispatcher{CrynuxSingle{}, elsewhere});
    CHECK(seed_nodes.size() == 6);
    CHECK(seed_blamed == 6);
    const auto [nodes, blamed] = attack(allot::Dispatcher{hardened});
    CHECK(std::set<std::string>{nodes.begin(), nodes.end()}.size() == 3);
    CHECK(blamed == 0);  // no node has finished it
}

TEST_CASE("a failed task ends, unless another node is tried; a refusal is no strike") {
    auto seed = allot::Dispatcher{CrynuxSingle{}};
    join_plain(seed, 2);
    const auto lease = leased(seed.submit(plain_task(1), at(0s)));
    CHECK(count<event::TaskFailed>(seed.fail(lease, allot::FailCause::model_download, at(0s))) == 1);

    auto d = allot::Dispatcher{hardened};
    join_plain(d, 6);
    auto now = leased(d.submit(plain_task(1), at(0s)));
    auto seen = std::set<std::string>{now.node.text()};
    for (auto i = 0; i < 3; ++i) {
        now = leased(d.decline(now, at(0s)));
        seen.insert(now.node.text());
    }
    for (auto i = 0; i < 2; ++i) {
        now = leased(d.fail(now, allot::FailCause::model_download, at(0s)));
        seen.insert(now.node.text());
    }
    CHECK(seen.size() == 6);
    CHECK(count<event::TaskFailed>(d.fail(now, allot::FailCause::model_download, at(0s))) == 1);
}

TEST_CASE("a new identity is as good as a half, unless it must prove itself") {
    auto seed = allot::Dispatcher{CrynuxSingle{}};
    auto d = allot::Dispatcher{Hardened{1'000, 50}};
    join_plain(seed, 1);
    join_plain(d, 1);
    CHECK(seed.qos_score(*seed.node(1)) == allot::Score::from_ratio(1, 2));
    CHECK(d.qos_score(*d.node(1)) == allot::Score::from_ratio(1, 8));

    CHECK(where(seed.submit(paying("dear", 51), at(0s))) == "1");
    CHECK(where(d.submit(paying("dear", 51), at(0s))).empty());
    CHECK(allot::explain(d, "dear")->count(allot::Reason::unproven) == 1);
    const auto cheap = leased(d.submit(paying("cheap", 50), at(0s)));
    for (auto i = 0; i < 7; ++i) { CHECK(started(d.score(1, 10, at(0s))).empty()); }
    ok(d.complete(cheap, dark(0s)));
    CHECK(started(d.score(1, 10, at(0s))) ==
          Names{"dear"});  // the eighth ends probation, and it takes the task at once
    CHECK(d.qos_score(*d.node(1)) == allot::Score::one());
}

TEST_CASE("order and quota are changed while tasks wait, and taken back") {
    auto d = with_a_paused_node(allot::Dispatcher{allot::Rules{}});
    ok(d.submit(paying("cheap", 10), dark(0s)));
    ok(d.submit(paying("dear", 11), dark(1h)));
    const auto before = d;
    const auto rules = allot::RulesParameters{.tasks_per_owner_max = 2, .value_doubles_in = 1h};
    const auto first = [](auto copy) { return started(copy.resume(1, at(1h))); };
    CHECK(first(d) == Names{"dear"});
    {
        auto session = d.session();
        ok(d.configure(rules, 2, dark(1h)));
        CHECK(refusal(d.submit(plain_task(3), dark(1h))) == Error::owner_quota_reached);
        CHECK(first(d) == Names{"cheap"});
        session.rollback();
    }
    CHECK(d == before);
    CHECK(first(d) == Names{"dear"});
    ok(d.configure(rules, 2, dark(1h)));
    CHECK(first(d) == Names{"cheap"});
    ok(d.cancel("cheap", dark(1h)));
    ok(d.submit(plain_task(3), dark(1h)));
    ok(d.cancel("dear", dark(1h)));
    ok(d.configure(allot::RulesParameters{}, 3, dark(1h)));
    ok(d.cancel(3, dark(1h)));
    CHECK(d.queued() == 0);
}

namespace {

/// Parameters so tight that few nodes and tasks meet them.
struct Tight {
    using role = allot::role::preset;
    std::optional<allot::Rules> given{};

    [[nodiscard]] auto policies() const {
        auto policies = Hardened{500, 10}.policies();
        auto& rules = std::get<allot::Rules>(policies);
        auto parameters = rules.parameters();
        parameters.narrow_from = 2;
        parameters.draw_among = 2;
        parameters.tasks_per_owner_max = 4;
        parameters.value_doubles_in = 1min;
        rules = given.value_or(allot::Rules{parameters});
        auto& weight = std::get<allot::LinearWeight>(policies);
        weight = allot::LinearWeight{
            {.stake_cap = 500, .holder_caps = {1, 20}, .score_cap = allot::Score::from_ratio(1, 2)}};
        std::get<ShareQueue<>>(policies) = ShareQueue{ValueQueue{{.tasks_per_node = 0, .capacity_min = 3}}};
        return policies;
    }
};

}  // namespace

TEST_CASE("a new node that fails all it gets goes on getting tasks, unless it rests and is blamed by evidence") {
    // It fails at once, while honest nodes are at work, so it is nearly always the one that is free.
    const auto hour = [](auto d) {
        ok(d.join(plain_node("hole"), at(0s)));
        for (auto i = 0; i < 4; ++i) { ok(d.join(plain_node(i), at(0s))); }
        auto swallowed = 0;
        for (auto i = 0; i < 360; ++i) {
            const auto now = at(i * 10s);
            auto events = d.submit(plain_task(1'000 + i), now);
            for (const auto* lease = events.lease(); lease != nullptr && lease->node == allot::NodeId{"hole"};) {
                ++swallowed;
                const auto held = *lease;
                events = d.fail(held, allot::FailCause::execution_error, now);
                lease = events.lease();
            }
            for (const auto& end : std::vector{allot::TaskId{1'000 + i - 9}}) {
                if (const auto* task = d.task(end); task != nullptr && task->state == allot::TaskState::running) {
                    const auto& record = d.state().leases()[task->lease];
                    const auto node = d.state().nodes()[record.node].node.id;
                    auto done = d.complete({end, node, record.token}, now);
                    while (const auto* next = done.lease()) {
                        if (next->node != allot::NodeId{"hole"}) { break; }
                        ++swallowed;
                        done = d.fail(Lease{*next}, allot::FailCause::execution_error, now);
                    }
                }
            }
        }
        return swallowed;
    };
    CHECK(hour(allot::Dispatcher{CrynuxSingle{}}) > 100);
    CHECK(hour(allot::Dispatcher{hardened}) <= 30);  // evidence comes when another node has finished the task
}

TEST_CASE("under the hardened rules every pool and queue decides alike, bounds hold, and explanations agree") {
    using Fast = allot::Dispatcher<Tight>;
    using Slow = allot::Dispatcher<Tight, allot::LinearPool, ShareQueue<allot::LinearQueue>>;
    using Watched = allot::Dispatcher<Tight, oracle::WatchedPool<allot::GpuGroupPool>, ShareQueue<allot::FlatQueue>>;
    auto fast = Fast{Tight{}};
    auto slow =
        Slow{Tight{}, allot::LinearPool{}, ShareQueue{allot::LinearQueue{{.tasks_per_node = 0, .capacity_min = 3}}}};
    auto watched = Watched{Tight{}, {}, ShareQueue{allot::FlatQueue{{.tasks_per_node = 0, .capacity_min = 3}}}};
    oracle::complaint().clear();
    auto chaos = Chaos<Fast>{seed()};
    auto errors = std::set<Error>{};
    auto narrowed = 0;
    for (auto i = 0; i < 3'000; ++i) {
        const auto command = chaos.command(fast);
        const auto moment = chaos.moment(fast);
        if (i % 5 == 0) {
            const auto before = fast;
            auto session = fast.session();
            (void)fast.apply(command, moment);
            session.rollback();
            REQUIRE(fast == before);
        }
        const auto events = fast.apply(command, moment);
        // The alternatives of a command are those of another dispatcher, so it is made anew.
        const auto same = [&](auto& other) {
            std::visit(
                [&](const auto& one) {
                    if constexpr (requires { other.apply(one, moment); }) {
                        const auto theirs = other.apply(one, moment);
                        REQUIRE(theirs.size() == events.size());
                        REQUIRE(where(theirs) == where(events));
                        REQUIRE(evicted(theirs) == evicted(events));
                    }
                },
                command);
        };
        same(slow);
        same(watched);
        if (i % 400 == 399) {  // rules that change the order of what waits, the quota, the bounds
            auto rules = fast.rules().parameters();
            rules.value_doubles_in = rules.value_doubles_in == Duration{0} ? Duration{1min} : Duration{0};
            rules.tasks_per_owner_max = rules.tasks_per_owner_max == 4 ? 0xFFFF'FFFFU : 4;
            rules.narrow_from = rules.narrow_from == 1 ? 2 : 1;
            rules.class_nodes_min = rules.class_nodes_min == 0 ? 2 : 0;
            ok(fast.configure(rules, 2, dark(fast.now().time_since_epoch())));
            ok(slow.configure(rules, 2, dark(fast.now().time_since_epoch())));
            ok(watched.configure(rules, 2, dark(fast.now().time_since_epoch())));
        }
        if (i == 2'000) {  // records taken over: whatever indices there are follow from them
            const auto queue = ShareQueue{allot::LinearQueue{{.tasks_per_node = 0, .capacity_min = 3}}};
            slow = Slow{Fast{fast}, Tight{fast.rules()}, allot::LinearPool{}, queue};
        }
        REQUIRE(oracle::complaint() == "");
        REQUIRE(fast.digest() == slow.digest());
        REQUIRE(fast.digest() == watched.digest());
        if (const auto error = refusal(events)) { errors.insert(*error); }
        fast.state().tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
            auto candidates = std::vector<allot::Share>{};
            fast.view().each_candidate(task, [&](allot::NodeHandle h, allot::Weight weight) {
                candidates.push_back({fast.state().nodes()[h].node.id, weight.raw()});
                narrowed += !task.models().empty() && fast.view().narrows_to(h, task) ? 1 : 0;
            });
            REQUIRE(allot::probabilities(fast, task.id)->nodes == candidates);
        });
    }
    CHECK(errors.count(Error::task_unrunnable) == 1);
    CHECK(errors.count(Error::owner_quota_reached) == 1);
    CHECK(narrowed > 0);
}

TEST_CASE("the hardened parameters are valid, and nonsense is not") {
    std::apply(
        [](const auto&... policies) {
            const auto check = [](const auto& policy) {
                if constexpr (requires { policy.parameters().valid(); }) { CHECK(policy.parameters().valid()); }
            };
            (check(policies), ...);
        },
        hardened.policies());
    using Rules = allot::RulesParameters;
    CHECK_FALSE(Rules{.narrow_from = 0}.valid());
    CHECK_FALSE(Rules{.narrow_from = 65}.valid());
    CHECK_FALSE(Rules{.draw_among = 0}.valid());
    CHECK_FALSE(Rules{.draw_among = 65}.valid());
    CHECK_FALSE(Rules{.tasks_per_owner_max = 0}.valid());
    CHECK_FALSE(Rules{.outbid_by = {8, 9}}.valid());
    CHECK_FALSE(Rules{.outbid_by = {1, 0}}.valid());
    CHECK_FALSE(Rules{.value_doubles_in = 59s}.valid());
    CHECK_FALSE(Rules{.value_doubles_in = -1h}.valid());
}

}  // namespace hardened_test

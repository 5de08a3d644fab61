#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace tables_test {

using namespace support;

// Tables that strangers fill (docs/rules.md): who fills one cannot shut out somebody of more value.

namespace {

using Dispatcher = allot::Dispatcher<allot::Rules>;

auto tight(std::uint32_t evictions_max = 16) -> Dispatcher {
    return Dispatcher{allot::Rules{{.evictions_max = evictions_max, .classes_max = 4, .requirements_max = 4}}};
}

/// A task that asks for so much VRAM, and so has a requirement of its own.
auto asking(allot::TaskId id, std::uint32_t vram, allot::Amount fee) -> TaskSpec {
    return with(paying(id, fee), [&](TaskSpec& task) { task.vram_min = {vram}; });
}

auto requirements(const Dispatcher& d) -> std::uint32_t { return d.state().fits().requirements().size(); }
auto classes(const Dispatcher& d) -> std::uint32_t { return d.state().fits().classes().size(); }

/// A node of a card that nobody else has.
auto of_card(allot::NodeId id, const std::string& gpu, allot::Amount stake) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& node) {
        node.gpu = gpu;
        node.stake = stake;
    });
}

auto displaced(const Events& events) -> std::vector<std::string> {
    auto ids = std::vector<std::string>{};
    for (const auto& gone : all<event::NodeDisplaced>(events)) { ids.push_back(gone.node.text()); }
    return ids;
}

using Names = std::vector<std::string>;

auto having(NodeSpec node, Names models) -> NodeSpec {
    node.models = std::move(models);
    return node;
}

/// What a node has on its disk, by name.
auto models_of(const Dispatcher& d, allot::NodeId id) -> Names {
    auto names = Names{};
    for (const auto& held : d.state().holdings(*d.state().nodes().find(id))) {
        if (held.on_disk()) { names.push_back(d.state().models().name(held.model)); }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("free tasks of made-up requirements do not shut out a task that pays", "[A6]") {
    auto d = tight();
    ok(d.join(plain_node(1), at(0s)));
    for (auto i = 0U; i < 20; ++i) { (void)d.submit(asking("junk" + std::to_string(i), 1'000 + i, 0), at(0s)); }
    CHECK(requirements(d) == 4);
    const auto events = d.submit(asking("honest", 8, 10), at(0s));
    CHECK(where(events) == "1");
    CHECK(evicted(events) == Names{"junk3"});  // the newest of those worth least
    CHECK(events.get<event::TaskEvicted>()->reason == event::Eviction::table_full);
    CHECK(requirements(d) == 4);
}

TEST_CASE("the requirement whose dearest task is worth least makes way, and only for a dearer task", "[A6]") {
    auto d = tight();
    for (const auto& task : {asking("a", 100, 50), asking("b", 101, 30), asking("b2", 101, 90), asking("c", 102, 40),
                             asking("d", 103, 70)}) {
        ok(d.submit(task, at(0s)));
    }
    CHECK(refusal(d.submit(asking("cheap", 104, 39), at(0s))) == Error::too_many_requirements);
    CHECK(refusal(d.submit(asking("equal", 104, 40), at(0s))) == Error::too_many_requirements);
    CHECK_FALSE(d.check(command::Submit{asking("dear", 104, 41)}));
    CHECK(evicted(d.submit(asking("dear", 104, 41), at(0s))) == Names{"c"});
    CHECK(is_queued(d, "dear"));
    CHECK(evicted(d.submit(asking("dearer", 105, 100), at(0s))) == Names{"dear"});
    CHECK(evicted(d.submit(asking("more", 106, 101), at(0s))) == Names{"a"});
    CHECK(evicted(d.submit(asking("most", 107, 102), at(0s))) == Names{"d"});
    CHECK(evicted(d.submit(asking("last", 108, 103), at(0s))) == Names{"b", "b2"});  // the cheapest first
    CHECK(requirements(d) == 4);
}

TEST_CASE("a requirement of which a task runs does not make way", "[A6]") {
    auto d = tight();
    ok(d.join(plain_node(1), at(0s)));
    const auto lease = leased(d.submit(asking("runs", 8, 1), at(0s)));
    ok(d.submit(asking("waits", 8, 2), at(0s)));
    for (auto i = 0U; i < 3; ++i) { ok(d.submit(asking(i, 100 + i, 50), at(0s))); }
    CHECK(refusal(d.submit(asking("cheap", 200, 50), at(0s))) == Error::too_many_requirements);
    CHECK(evicted(d.submit(asking("dear", 200, 60), at(0s))) == Names{"2"});
    ok(d.pause(1, at(0s)));
    ok(d.complete(lease, at(1s)));
    CHECK(evicted(d.submit(asking("late", 201, 40), at(1s))) == Names{"waits"});
}

TEST_CASE("a requirement of a pinned task that waits for its node does not make way", "[A6][A11]") {
    auto d = tight();
    ok(d.join(plain_node(1), at(0s)));
    const auto lease = leased(d.submit(asking("runs", 8, 1), at(0s)));
    ok(d.submit(with(asking("pinned", 9, 0),
                     [](TaskSpec& task) {
                         task.node = 1;
                         task.owner.reset();
                     }),
                at(0s)));
    ok(d.submit(asking("waits", 9, 2), at(0s)));
    ok(d.submit(asking("a", 100, 40), at(0s)));
    ok(d.submit(asking("b", 101, 50), at(0s)));
    CHECK(requirements(d) == 4);
    CHECK(refusal(d.submit(asking("cheap", 200, 40), at(0s))) == Error::too_many_requirements);
    CHECK(evicted(d.submit(asking("dear", 200, 60), at(0s))) == Names{"a"});
    CHECK(requirements(d) == 4);
    ok(d.cancel("pinned", at(0s)));
    CHECK(evicted(d.submit(asking("late", 201, 60), at(0s))) == Names{"waits"});
    ok(d.complete(lease, at(1s)));
}

TEST_CASE("of a requirement of many tasks a few go with the newcomer, until there is room", "[A6]") {
    auto d = tight(2);
    for (auto i = 1U; i <= 5; ++i) { ok(d.submit(asking(i, 100, i), at(0s))); }
    for (auto i = 1U; i < 4; ++i) { ok(d.submit(asking(10 + i, 100 + i, 50), at(0s))); }
    const auto dear = asking("dear", 8, 60);
    const auto events = d.submit(dear, at(0s));
    CHECK(evicted(events) == Names{"dear", "1", "2"});
    CHECK(count<event::TaskQueued>(events) == 0);
    CHECK(events.get<event::TaskEvicted>()->refunded == allot::Amount{60});
    CHECK(evicted(d.submit(asking("again", 8, 60), at(0s))) == Names{"again", "3", "4"});
    CHECK(evicted(d.submit(asking("at last", 8, 60), at(0s))) == Names{"5"});
    CHECK(is_queued(d, "at last"));
    CHECK(requirements(d) == 4);
}

TEST_CASE("who goes for a full queue leaves room in a full table as well", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.requirements_max = 4}},
                               allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = 4}}};
    for (auto i = 0U; i < 4; ++i) { ok(d.submit(asking(i, 100 + i, 10 + i), at(0s))); }
    const auto events = d.submit(asking("dear", 200, 60), at(0s));
    CHECK(evicted(events) == Names{"0"});
    CHECK(events.get<event::TaskEvicted>()->reason == event::Eviction::queue_full);
}

TEST_CASE("nodes of made-up cards without stake do not shut out a node that has some", "[A6]") {
    auto d = tight();
    for (auto i = 0; i < 20; ++i) { (void)d.join(of_card(100 + i, "junk" + std::to_string(i), 0), at(0s)); }
    CHECK(classes(d) == 4);
    CHECK_FALSE(d.check(command::Join{of_card("honest", "RTX 4090", 1)}));
    const auto events = d.join(of_card("honest", "RTX 4090", 1), at(0s));
    CHECK(events.accepted());
    CHECK(displaced(events) == Names{"100"});
    CHECK(state_of(d, "honest") == NodeState::available);
    CHECK(state_of(d, 100) == NodeState::left);
    CHECK(classes(d) == 4);
}

TEST_CASE("the class whose greatest stake is least makes way, and only for a greater stake", "[A6]") {
    auto d = tight(2);
    ok(d.join(of_card("a", "A", 50), at(0s)));
    ok(d.join(of_card("b1", "B", 10), at(0s)));
    ok(d.join(of_card("b2", "B", 60), at(0s)));
    ok(d.join(of_card("c1", "C", 1), at(0s)));
    ok(d.join(of_card("c2", "C", 2), at(0s)));
    ok(d.join(of_card("c3", "C", 3), at(0s)));  // more than a command may send away
    ok(d.join(of_card("busy", "D", 5), at(0s)));
    for (const auto* id : {"a", "b1", "b2", "c1", "c2", "c3"}) { ok(d.pause(id, at(0s))); }
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(lease.node == allot::NodeId{"busy"});
    CHECK(refusal(d.join(of_card("e", "E", 50), at(0s))) == Error::too_many_classes);
    const auto events = d.join(of_card("e", "E", 51), at(0s));
    CHECK(displaced(events) == Names{"a"});
    CHECK(events.get<event::NodeDisplaced>()->stake_returned == allot::Amount{50});
    CHECK(displaced(d.join(of_card("f", "F", 100), at(0s))) == Names{"e"});
    CHECK(displaced(d.join(of_card("g", "G", 90), at(0s))) == Names{"b1", "b2"});
    ok(d.complete(lease, at(1s)));
    CHECK(displaced(d.join(of_card("h", "H", 6), at(1s))) == Names{"busy"});
}

TEST_CASE("from rules version 2 on a class whose nodes hold more models than one node may does not make way", "[A6]") {
    const auto rules = allot::RulesParameters{.classes_max = 2, .models_per_node_max = 3};
    const auto version = GENERATE(std::uint32_t{1}, std::uint32_t{2});
    const auto more = GENERATE(false, true);
    auto d = Dispatcher{allot::Rules{rules}};
    auto first = of_card("a1", "A", 1);
    first.models = {"x", "y"};
    auto second = of_card("a2", "A", 1);
    second.models = {"x"};
    if (more) { second.models.push_back("z"); }
    ok(d.join(first, at(0s)));
    ok(d.join(second, at(0s)));
    ok(d.join(of_card("b", "B", 50), at(0s)));
    ok(d.configure(rules, version, at(0s)));
    const auto poor = Names{"a1", "a2"};
    CHECK(displaced(d.join(of_card("c", "C", 60), at(0s))) == (version == 2 && more ? Names{"b"} : poor));
}

TEST_CASE("of more than 128 classes the one that makes way is the poorest of 128 that are drawn", "[A6]") {
    const auto count = GENERATE(std::uint32_t{128}, std::uint32_t{1'280});
    const auto rules = allot::RulesParameters{.classes_max = count};
    auto d = Dispatcher{allot::Rules{rules}};
    for (std::uint32_t i = 0; i < count; ++i) {
        // One has the least stake, one in eight little: of 1,280, the least is among 128 once in ten times.
        ok(d.join(of_card(allot::NodeId{i}, "card " + std::to_string(i), i == 0 ? 1 : i % 8 == 0 ? 2 : 100), at(0s)));
    }
    auto poorest = 0;
    const auto version = GENERATE(std::uint32_t{1}, std::uint32_t{2});
    ok(d.configure(rules, version, at(0s)));
    for (auto second = 1; second <= 40; ++second) {
        auto other = d;
        const auto gone = displaced(other.join(of_card("new", "new", 3), at(1s * second)));
        REQUIRE(gone.size() == 1);
        poorest += gone == Names{"0"} ? 1 : 0;
    }
    const auto drawn = version == 2 && count > allot::make_way_classes_max;
    CHECK(drawn == (poorest < 40));
    CHECK(poorest < (drawn ? 15 : 41));
    // Without stake none is looked for; where all classes have more stake, the newcomer is refused.
    CHECK(refusal(d.join(of_card("poor", "new", 0), at(50s))) == Error::too_many_classes);
    CHECK(refusal(d.join(of_card("poor", "new", 1), at(50s))) == Error::too_many_classes);
}

TEST_CASE("an update to a new class displaces as a join does; a node alone in its class takes the place of that",
          "[A6]") {
    auto d = tight();
    for (const auto& node :
         {of_card("a", "A", 50), of_card("b", "B", 60), of_card("c", "C", 70), of_card("d", "D", 80)}) {
        ok(d.join(node, at(0s)));
    }
    CHECK(d.update({.id = "a", .gpu = "new"}, at(0s)).accepted());
    CHECK(classes(d) == 4);
    ok(d.join(of_card("a2", "new", 0), at(0s)));
    CHECK(refusal(d.update({.id = "a2", .gpu = "x"}, at(0s))) == Error::too_many_classes);
    CHECK(refusal(d.update({.id = "a2", .gpu = "x", .stake = 60}, at(0s))) == Error::too_many_classes);
    CHECK(displaced(d.update({.id = "a2", .gpu = "x", .stake = 61}, at(0s))) == Names{"b"});
    CHECK(classes(d) == 4);
}

TEST_CASE("what made way comes back when the session is rolled back", "[A6]") {
    auto d = tight();
    for (auto i = 0U; i < 4; ++i) {
        ok(d.submit(asking(i, 100 + i, 10 + i), at(0s)));
        ok(d.join(of_card(i + 1, "card" + std::to_string(i), i), at(0s)));
    }
    const auto before = d;
    {
        auto session = d.session();
        ok(d.submit(asking("dear", 200, 60), at(0s)));
        ok(d.join(of_card("rich", "new", 60), at(0s)));
        CHECK_FALSE(d == before);
        session.rollback();
    }
    CHECK(d == before);
    CHECK(evicted(d.submit(asking("dear", 200, 60), at(0s))) == Names{"0"});
    CHECK(displaced(d.join(of_card("rich", "new", 60), at(0s))) == Names{"1"});
}

TEST_CASE("a wish or a task for a model stands in nobody's way", "[A3][A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_max = 3, .models_per_node_max = 2}}};
    ok(d.join(plain_node(1), at(0s)));
    for (auto i = 0; i < 5; ++i) {  // five wishes, which no report has fulfilled
        const auto name = "made-up" + std::to_string(i);
        ok(d.submit(with(plain_task(i), [&](TaskSpec& task) { task.models = {name}; }), at(0s)));
        ok(d.cancel(i, at(0s)));
    }
    ok(d.submit(with(plain_task(9), [&](TaskSpec& task) { task.models = {"asked for"}; }), at(0s)));
    CHECK(d.state().models().names().size() == 6);
    CHECK(d.state().models().held() == 0);
    CHECK(d.report_model(1, command::Report::add, {"a", "b"}, at(0s)).accepted());
    CHECK(refusal(d.report_model(1, command::Report::add, {"c"}, at(0s))) == Error::too_many_names);
    CHECK(d.join(having(plain_node(2), {"c"}), at(0s)).accepted());
    for (const auto* name : {"d", "made-up0", "asked for"}) {
        CHECK(refusal(d.join(having(plain_node(3), {name}), at(0s))) == Error::too_many_models);
    }
    CHECK(d.join(having(plain_node(3), {"a", "c"}), at(0s)).accepted());
    ok(d.advance(at(2h)));
    CHECK(d.state().models().names().size() == 3);
}

TEST_CASE("models that nodes without stake made up do not shut out a node, nor a task", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_max = 8, .models_per_node_max = 4}}};
    for (auto i = 0; i < 5; ++i) {
        const auto n = std::to_string(i);
        (void)d.join(having(of_card(100 + i, "card", 0), {"a" + n, "b" + n, "c" + n, "d" + n}), at(0s));
    }
    CHECK(d.state().models().held() == 8);
    CHECK(refusal(d.join(having(of_card("without", "card", 0), {"sdxl"}), at(0s))) == Error::too_many_models);
    CHECK_FALSE(d.check(command::Join{having(of_card("honest", "card", 1), {"sdxl"})}));
    const auto events = d.join(having(of_card("honest", "card", 1), {"sdxl"}), at(0s));
    CHECK(events.get<event::NodeJoined>() != nullptr);
    CHECK(displaced(events) == Names{"100"});
    CHECK(models_of(d, "honest") == Names{"sdxl"});
    CHECK(d.state().models().held() == 5);
    (void)d.join(having(of_card(200, "card", 0), {"x", "y", "z"}), at(0s));
    CHECK(d.state().models().held() == 8);
    CHECK(displaced(d.report_model("honest", command::Report::add, {"flux"}, at(0s))) == Names{"101"});
    CHECK(d.submit(with(paying("asks", 1), [](TaskSpec& task) { task.models = {"m1", "m2"}; }), at(0s)).accepted());
}

TEST_CASE("the node with the least stake for its models makes way, and only for more", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.evictions_max = 2, .models_max = 6, .models_per_node_max = 6}}};
    ok(d.join(having(of_card("busy", "card", 2), {"w"}), at(0s)));
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    ok(d.join(having(of_card("a", "card", 9), {"a1", "a2"}), at(0s)));   // 4.5 a model
    ok(d.join(having(of_card("b", "card", 4), {"b1"}), at(0s)));         // 4
    ok(d.join(having(of_card("c", "card", 10), {"c1", "c2"}), at(0s)));  // 5
    ok(d.join(of_card("none", "card", 1), at(0s)));                      // holds nothing, so it stands in nobody's way
    CHECK(refusal(d.join(having(of_card("d", "card", 4), {"d1"}), at(0s))) == Error::too_many_models);
    CHECK(refusal(d.join(having(of_card("d", "card", 8), {"d1", "d2"}), at(0s))) == Error::too_many_models);
    CHECK(displaced(d.join(having(of_card("d", "card", 5), {"d1"}), at(0s))) == Names{"b"});
    // Two a command at most: there is room for two of the five then.
    const auto events = d.join(having(of_card("e", "card", 500), {"e1", "e2", "e3", "e4", "e5"}), at(0s));
    CHECK(displaced(events) == Names{"a", "c"});
    CHECK(models_of(d, "e") == Names{"e1", "e2", "e3", "e4"});
    CHECK(d.state().models().held() == 6);
    ok(d.complete(lease, at(1s)));
    CHECK(displaced(d.report_model("e", command::Report::add, {"e5"}, at(1s))) == Names{"busy"});
    // What an inventory no longer lists makes room for what it lists.
    CHECK(displaced(d.report_model("e", command::Report::inventory, {"f1", "f2", "f3", "f4", "f5"}, at(1s))).empty());
    CHECK(models_of(d, "e") == Names{"f1", "f2", "f3", "f4", "f5"});
    CHECK(d.state().models().held() == 6);
    CHECK(displaced(d.report_model("e", command::Report::inventory, {"f1", "g2", "g3", "g4", "g5", "g6"}, at(1s))) ==
          Names{"d"});
}

TEST_CASE("a node that holds what others hold does not make way for made-up models", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_max = 8, .models_per_node_max = 8}}};
    const auto popular = Names{"p1", "p2", "p3", "p4"};
    for (auto i = 0; i < 4; ++i) {  // stake 6 for a quarter of four models: a part of one
        ok(d.join(having(of_card(100 + i, "card", 6), popular), at(0s)));
    }
    ok(d.join(having(of_card("hoards", "card", 7), {"h1", "h2", "h3", "h4"}), at(0s)));
    // For seven models 11 is less than 7 for four, and for one 5 is less than 6 though it is more than 7 for four.
    CHECK(refusal(d.join(having(of_card("much", "card", 11), {"m1", "m2", "m3", "m4", "m5", "m6", "m7"}), at(0s))) ==
          Error::too_many_models);
    CHECK(displaced(d.join(having(of_card("some", "card", 5), {"m1"}), at(0s))) == Names{"hoards"});
    ok(d.join(having(of_card("more", "card", 10), {"n1", "n2", "n3"}), at(0s)));  // 3.3 a model
    CHECK(displaced(d.join(having(of_card("new", "card", 5), {"o1"}), at(0s))) == Names{"more"});
    ok(d.join(having(of_card("again", "card", 50), {"q1", "q2"}), at(0s)));
    CHECK(refusal(d.join(having(of_card("late", "card", 5), {"r1"}), at(0s))) == Error::too_many_models);
    auto rules = d.rules().parameters();
    rules.models_max = 2;
    ok(d.configure(rules, 1, at(0s)));
    CHECK(d.join(having(of_card("shares", "card", 1), popular), at(0s)).accepted());  // nothing new: no room is needed
}

TEST_CASE("what a full table has no room for are the last new models of a report, wherever known ones stand", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.evictions_max = 1, .models_max = 6}}};
    ok(d.join(having(of_card("rich", "card", 500), {"k1", "k2", "k3"}), at(0s)));
    ok(d.join(having(of_card("poor", "card", 1), {"p1", "p2", "p3"}), at(0s)));
    const auto events = d.join(having(of_card("new", "card", 50), {"a", "k1", "b", "k2", "c", "d", "k3", "e"}), at(0s));
    CHECK(displaced(events) == Names{"poor"});
    CHECK(models_of(d, "new") == Names{"a", "b", "c", "k1", "k2", "k3"});
    CHECK(d.state().models().held() == 6);
}

TEST_CASE("a model that is listed twice needs room once", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.evictions_max = 1, .models_max = 3, .models_per_node_max = 4}}};
    ok(d.join(having(of_card("poor", "card", 1), {"p1"}), at(0s)));
    const auto joins = d.join(having(of_card("rich", "card", 500), {"r1", "r2", "r1"}), at(0s));
    CHECK(displaced(joins).empty());
    CHECK(models_of(d, "rich") == Names{"r1", "r2"});

    SECTION("in a report that adds, up to the limit of the node") {
        ok(d.join(having(of_card("other", "card", 500), {"r1"}), at(0s)));
        const auto adds = d.report_model("rich", command::Report::add, {"p1", "r1", "p1", "p1"}, at(0s));
        CHECK(displaced(adds).empty());
        CHECK(models_of(d, "rich") == Names{"p1", "r1", "r2"});
    }
    SECTION("in an inventory, in which the node gives up what it does not list") {
        const auto lists = d.report_model("rich", command::Report::inventory, {"n1", "n2", "n1"}, at(0s));
        CHECK(displaced(lists).empty());
        CHECK(models_of(d, "rich") == Names{"n1", "n2"});
    }
    SECTION("where the last new models are left out") {
        const auto rest = d.join(having(of_card("next", "card", 50), {"a", "b", "c", "b"}), at(0s));
        CHECK(displaced(rest) == Names{"poor"});
        CHECK(models_of(d, "next") == Names{"a"});
        CHECK(d.state().models().held() == 3);
    }
}

TEST_CASE("a second holder hides nobody's made-up models", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_max = 4}}};
    const auto made_up = Names{"m1", "m2", "m3", "m4"};
    ok(d.join(having(of_card("one", "card", 2), made_up), at(0s)));  // 2 for a part of two, each
    ok(d.join(having(of_card("two", "card", 2), made_up), at(0s)));
    CHECK(refusal(d.join(having(of_card("poor", "card", 1), {"sdxl"}), at(0s))) == Error::too_many_models);
    CHECK(displaced(d.join(having(of_card("honest", "card", 3), {"sdxl"}), at(0s))) == Names{"one", "two"});
    CHECK(d.state().models().held() == 1);
}

TEST_CASE("in a large table of models those that fill it are drawn, and no crowd hides them", "[A6]") {
    auto rules = allot::RulesParameters{.models_max = 602};
    auto d = allot::Dispatcher{allot::Rules{rules}};
    const auto made_up = [](const std::string& name, int count) {
        auto names = Names{};
        for (auto i = 0; i < count; ++i) { names.push_back(name + " " + std::to_string(i)); }
        return names;
    };
    for (auto i = 0; i < 300; ++i) {  // each of these has the worth of 60,000 for a whole model
        ok(d.join(having(of_card(1'000 + i, "card", 400), {"popular", "as popular"}), at(0s)));
    }
    for (auto i = 0; i < 6; ++i) {  // 10 a model
        ok(d.join(having(of_card(100 + i, "card", 1'000), made_up(std::to_string(i), 100)), at(0s)));
    }
    CHECK(d.state().models().held() == 602);
    CHECK(refusal(d.join(having(of_card("poor", "card", 9), {"sdxl"}), at(0s))) == Error::too_many_models);
    for (auto i = 0; i < 6; ++i) {  // each outbids those before
        const auto name = "rich " + std::to_string(i);
        const auto stake = allot::Amount{static_cast<std::uint64_t>(2'000 * (i + 1))};
        const auto events = d.join(having(of_card(name.c_str(), "card", stake), made_up(name, 100)), at(0s));
        CHECK(displaced(events).size() == 1);
        CHECK(d.state().models().held() == 602);
    }
    for (auto i = 0; i < 300; ++i) { CHECK(d.node(1'000 + i)->node.present()); }
    // Who asks for the room of many nodes gets that of 128 models, of two nodes here; the rest goes with later
    // commands.
    const auto greedy = d.join(having(of_card("greedy", "card", 100'000), made_up("g", 600)), at(0s));
    CHECK(displaced(greedy).size() == 2);
    CHECK(models_of(d, "greedy").size() == allot::models_gone_max);
    CHECK(d.state().models().held() == 602);
    ok(d.advance(at(0s)));
    CHECK(d.state().models().held() == 530);
}

TEST_CASE("a success writes down no model that nobody had when there is no room", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_max = 2}}};
    ok(d.join(having(plain_node(1), {"a"}), at(0s)));
    const auto task = with(plain_task(1), [](TaskSpec& t) { t.models = {"a", "b", "c"}; });
    ok(d.complete(leased(d.submit(task, at(0s))), at(1s)));
    CHECK(models_of(d, 1) == Names{"a", "b"});
    CHECK(d.state().models().held() == 2);
}

TEST_CASE("the class of the node that makes way is not displaced a second time, whatever limits were lowered to",
          "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.nodes_max = 3, .classes_max = 3}}};
    for (auto i = 1U; i <= 3; ++i) { ok(d.join(having(of_card(i, "card" + std::to_string(i), i), {"sdxl"}), at(0s))); }
    auto rules = d.rules().parameters();
    rules.classes_max = 2;
    ok(d.configure(rules, 1, at(0s)));
    CHECK(displaced(d.join(having(of_card("rich", "new", 60), {"sdxl"}), at(0s))) == Names{"1"});
    CHECK(models_of(d, "rich") == Names{"sdxl"});
    CHECK(d.state().fits().classes().size() == 3);
    // A class of two: the poorest node makes way, and the other goes with the class.
    ok(d.leave(2, at(0s)));
    ok(d.leave(3, at(0s)));
    ok(d.advance(at(24h * 365)));
    ok(d.join(of_card(4, "old", 4), at(24h * 365)));
    ok(d.join(of_card(5, "old", 5), at(24h * 365)));
    CHECK(displaced(d.join(of_card("richer", "newer", 61), at(24h * 365))) == Names{"4", "5"});
}

TEST_CASE("nodes without stake do not fill the network for one that has some; those that left make way first", "[A6]") {
    auto d = allot::Dispatcher{allot::Rules{{.nodes_max = 4}}};
    for (auto i = 0; i < 4; ++i) { ok(d.join(of_card(100 + i, "card", i), at(0s))); }
    ok(d.leave(101, at(0s)));
    ok(d.leave(100, at(0s)));
    ok(d.update({.id = 102, .stake = 1}, at(0s)));
    CHECK_FALSE(d.check(command::Join{of_card("without", "card", 0)}));
    const auto joined = d.join(of_card("without", "card", 0), at(0s));
    CHECK(joined.accepted());
    CHECK(displaced(joined).empty());
    CHECK(d.node(100) == nullptr);
    CHECK(refusal(d.join(of_card("too", "card", 0), at(0s))) == Error::too_many_nodes);
    CHECK(displaced(d.join(of_card("a", "card", 2), at(0s))) == Names{"without"});
    CHECK(displaced(d.join(of_card("b", "card", 2), at(0s))).empty());
    CHECK(d.node(101) == nullptr);
    const auto lease = leased(d.submit(with(plain_task(1),
                                            [](TaskSpec& task) {
                                                task.node = 102;
                                                task.owner.reset();
                                            }),
                                       at(0s)));
    CHECK(lease.node == allot::NodeId{102});
    CHECK(refusal(d.join(of_card("c", "card", 2), at(0s))) == Error::too_many_nodes);  // the poorest is at work
    ok(d.complete(lease, at(1s)));
    const auto before = d;
    {
        auto session = d.session();
        CHECK(displaced(d.join(of_card("c", "card", 2), at(1s))) == Names{"102"});
        session.rollback();
    }
    CHECK(d == before);
    CHECK(displaced(d.join(of_card("c", "card", 2), at(1s))) == Names{"102"});
    CHECK(d.node(102) == nullptr);
    CHECK(d.state().nodes().size() == 4);
}

TEST_CASE("a search for the node that makes way skips so many nodes at work, from rules version 2 on", "[A6]") {
    constexpr auto nodes = allot::make_way_tries_max + 1;
    auto d = allot::Dispatcher{allot::Rules{{.nodes_max = nodes}}};
    for (auto i = 1U; i < nodes; ++i) {
        ok(d.join(of_card(i, "card", 1), at(0s)));
        auto task = plain_task(i);
        task.node = i;
        task.owner.reset();
        CHECK(leased(d.submit(task, at(0s))).node == allot::NodeId{i});
    }
    ok(d.join(of_card("idle", "card", 2), at(0s)));
    CHECK(refusal(d.join(of_card("newcomer", "card", 3), at(0s))) == Error::too_many_nodes);
    {
        auto session = d.session();
        ok(d.configure(d.rules().parameters(), 1, at(0s)));
        CHECK(displaced(d.join(of_card("newcomer", "card", 3), at(0s))) == Names{"idle"});
        session.rollback();
    }
    ok(d.complete(*d.lease(7), at(1s)));
    CHECK(displaced(d.join(of_card("newcomer", "card", 3), at(1s))) == Names{"7"});
    CHECK(displaced(d.join(of_card("other", "card", 3), at(1s))) == Names{"idle"});
    CHECK(refusal(d.join(of_card("third", "card", 3), at(1s))) == Error::too_many_nodes);
}

}  // namespace tables_test

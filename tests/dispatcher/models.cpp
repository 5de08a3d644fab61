#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// What nodes hold, what they say they hold, and what they are asked to fetch (rules 11, 24).

namespace {

using allot::Holding;
using command::Report;

auto using_models(allot::TaskId id, std::vector<std::string> models) -> TaskSpec {
    return with(plain_task(id), [&](TaskSpec& t) { t.models = std::move(models); });
}

auto holder(allot::NodeId id, std::vector<std::string> models) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) { n.models = std::move(models); });
}

auto asked(const Events& events, const std::string& model) -> std::vector<std::string> {
    auto nodes = std::vector<std::string>{};
    for (const auto& wanted : all<event::ModelWanted>(events)) {
        if (wanted.model == model) { nodes.push_back(wanted.node.text()); }
    }
    return nodes;
}

}  // namespace

TEST_CASE("reports add, remove, load, unload and list models") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder(1, {"a", "b", "c"}), at(0s)));
    struct Step {
        Report report;
        std::vector<std::string> models;
        const char* expected;
    };
    // One letter a model a to d: D on disk, U in use, - absent.
    for (const auto& step : {Step{Report::add, {"d", "a"}, "DDDD"}, Step{Report::load, {"a", "d"}, "UDDU"},
                             Step{Report::add, {"a"}, "UDDU"}, Step{Report::unload, {"d", "b"}, "UDDD"},
                             Step{Report::remove, {"a", "a"}, "-DDD"}, Step{Report::load, {"b"}, "-UDD"},
                             Step{Report::inventory, {"a", "b"}, "DU--"}, Step{Report::inventory, {}, "----"}}) {
        CHECK(d.report_model(1, step.report, step.models, at(0s)).get<event::ModelsReported>() != nullptr);
        auto found = std::string{};
        for (const auto* model : {"a", "b", "c", "d"}) {
            const auto held = holding(d, 1, model);
            found += !held ? '-' : *held == Holding::in_use ? 'U' : *held == Holding::on_disk ? 'D' : 'W';
        }
        CHECK(found == step.expected);
    }
    CHECK(d.state().models().names().size() == 0);
}

TEST_CASE("duplicate models of a task collapse, and the empty list means M = 1") {
    auto d = allot::Dispatcher<>{};
    ok(d.submit(using_models(1, {"b", "a", "b", "b"}), at(0s)));
    const auto models = d.task(1)->models();
    REQUIRE(models.size() == 2);
    CHECK(d.state().models().name(models[0]) == "a");  // canonical order is by name
    CHECK(d.state().models().name(models[1]) == "b");
}

TEST_CASE("a start makes the task's models those in use, as far as they are on disk; success has fetched them all") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder(1, {"a", "old"}), at(0s)));
    ok(d.report_model(1, Report::load, {"old"}, at(0s)));
    const auto lease = leased(d.submit(using_models(1, {"a", "b"}), at(0s)));
    CHECK(holding(d, 1, "a") == Holding::in_use);
    CHECK(holding(d, 1, "b") == Holding::wanted);
    CHECK(holding(d, 1, "old") == Holding::on_disk);
    SECTION("success") {
        ok(d.complete(lease, at(1s)));
        CHECK(holding(d, 1, "a") == Holding::in_use);
        CHECK(holding(d, 1, "b") == Holding::in_use);
    }
    SECTION("failure fetches nothing") {
        ok(d.fail(lease, allot::FailCause::model_download, at(1s)));
        CHECK(holding(d, 1, "b") == Holding::wanted);
    }
}

TEST_CASE("the chosen node is asked for each model that it lacks, once") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder(1, {"a"}), at(0s)));
    const auto events = d.submit(using_models(1, {"b", "c", "a", "c"}), at(0s));
    CHECK(asked(events, "a").empty());
    CHECK(asked(events, "b") == std::vector<std::string>{"1"});
    CHECK(asked(events, "c") == std::vector<std::string>{"1"});
    CHECK(events.get<event::ModelWanted>()->task == allot::TaskId{1});
}

TEST_CASE("fewer than three holders that are free after the start: ten less their number are asked") {
    struct Case {
        int holders;
        int others;
        std::size_t more;
    };
    const auto c = GENERATE(values<Case>({
        {0, 30, 10},  // the chosen node is one of the others; it is asked, too
        {1, 30, 10},
        {2, 30, 9},
        {3, 30, 8},
        {4, 30, 0},
        {5, 30, 0},  // three are left
        {1, 4, 4},
        {0, 4, 3},  // no more than there are
        {3, 0, 0},
    }));
    auto d = allot::Dispatcher<>{};
    for (auto id = 1; id <= c.holders; ++id) { ok(d.join(holder(id, {"m"}), at(0s))); }
    for (auto id = 101; id <= 100 + c.others; ++id) { ok(d.join(plain_node(id), at(0s))); }
    const auto events = d.submit(using_models(1, {"m"}), at(0s));
    const auto chosen = where(events);
    auto nodes = asked(events, "m");
    CAPTURE(c.holders, c.others, chosen);
    if (c.holders == 0) {
        REQUIRE_FALSE(nodes.empty());
        CHECK(nodes.front() == chosen);
        nodes.erase(nodes.begin());
    }
    CHECK(nodes.size() == c.more);
    CHECK(std::set<std::string>(nodes.begin(), nodes.end()).size() == nodes.size());  // without replacement
    CHECK(std::all_of(nodes.begin(), nodes.end(), [](const auto& id) { return std::stoi(id) > 100; }));
    CHECK(std::find(nodes.begin(), nodes.end(), chosen) == nodes.end());
}

TEST_CASE("only nodes that could run the task are asked") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder("holder", {"m"}), at(0s)));
    ok(d.join(plain_node("good"), at(0s)));
    ok(d.join(with(plain_node("small"), [](auto& n) { n.vram = 4_GiB; }), at(0s)));
    ok(d.join(with(plain_node("no stake"), [](auto& n) { n.stake = 0; }), at(0s)));
    ok(d.join(plain_node("paused"), at(0s)));
    ok(d.pause("paused", at(0s)));
    ok(d.join(plain_node("busy"), dark(0s)));
    ok(d.join(plain_node("excluded"), at(0s)));
    for (auto i = 0; i < 3; ++i) { ok(d.observe("excluded", allot::OutcomeKind::timeout, at(0s))); }
    ok(d.pause("holder", at(0s)));
    ok(d.pause("good", at(0s)));
    CHECK(where(d.submit(plain_task(9), at(0s))) == "busy");
    ok(d.resume("holder", at(0s)));
    ok(d.resume("good", at(0s)));
    CHECK(asked(d.submit(using_models(1, {"m"}), at(0s)), "m") == std::vector<std::string>{"good"});
}

TEST_CASE("nodes are asked at dequeued starts as at immediate ones") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    ok(d.submit(using_models(1, {"m"}), dark(0s)));
    SECTION("by match") { CHECK(asked(d.match(at(0s)), "m").size() == 3); }
    SECTION("by a pull") {
        for (auto id = 1; id <= 3; ++id) { ok(d.pause(id, at(0s))); }
        CHECK(asked(d.resume(2, at(0s)), "m") == std::vector<std::string>{"2"});
    }
}

TEST_CASE("who was asked is not asked again until the request lapses") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder("holder", {"m"}), at(0s)));
    ok(d.join(plain_node("other"), at(0s)));
    const auto run = [&](int id, Duration time) {
        const auto events = d.submit(using_models(id, {"m"}), at(time));
        ok(d.complete(leased(events), at(time)));
        return asked(events, "m");
    };
    CHECK(run(1, 0s) == std::vector<std::string>{"other"});
    CHECK(holding(d, "other", "m") == Holding::wanted);
    CHECK(run(2, 1'800s - 1ms).empty());
    CHECK(run(3, 1'800s) == std::vector<std::string>{"other"});
    CHECK(run(4, 3'600s - 1ms).empty());
    ok(d.report_model("other", Report::remove, {"m"}, at(3'600s - 1ms)));  // it will not fetch it
    CHECK(run(5, 3'600s - 1ms) == std::vector<std::string>{"other"});
}

TEST_CASE("a report changes the counts at once") {
    auto d = allot::Dispatcher<>{};
    for (auto id = 1; id <= 4; ++id) {
        ok(d.join(plain_node(id), at(0s)));
        ok(d.report_model(id, Report::add, {"m"}, at(0s)));
    }
    ok(d.join(plain_node(5), at(0s)));
    SECTION("three are left: nobody is asked") { CHECK(asked(d.submit(using_models(1, {"m"}), at(0s)), "m").empty()); }
    SECTION("one removed it: two are left, and both others are asked") {
        ok(d.report_model(4, Report::remove, {"m"}, at(0s)));
        CHECK(asked(d.submit(using_models(1, {"m"}), at(0s)), "m").size() == 2);
    }
    SECTION("a holder that only was asked does not count") {
        ok(d.report_model(4, Report::inventory, {}, at(0s)));
        ok(d.report_model(3, Report::inventory, {}, at(0s)));
        CHECK(asked(d.submit(using_models(1, {"m"}), at(0s)), "m").size() == 3);
    }
}

TEST_CASE("a node that moves to another class takes its models along") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder(1, {"a", "b"}), at(0s)));
    ok(d.join(holder(2, {"a"}), at(0s)));
    ok(d.join(plain_node(3), at(0s)));
    ok(d.report_model(1, Report::load, {"a"}, at(0s)));
    ok(d.update({.id = 1, .gpu = "H100", .vram = 80_GiB}, at(0s)));
    CHECK(holding(d, 1, "a") == Holding::in_use);
    CHECK(holding(d, 1, "b") == Holding::on_disk);
    CHECK(where(d.submit(with(using_models(1, {"b"}), [](auto& t) { t.vram_min = 80_GiB; }), at(0s))) == "1");
    CHECK(where(d.submit(using_models(2, {"a"}), at(0s))) == "2");
    CHECK(where(d.submit(using_models(3, {"b"}), at(0s))) == "3");
}

TEST_CASE("a model that nobody holds or asks for any more is forgotten") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(holder(1, {"a"}), at(0s)));
    ok(d.submit(with(using_models(1, {"a", "b"}), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    CHECK(d.state().models().names().size() == 2);
    ok(d.report_model(1, Report::remove, {"a"}, at(0s)));
    CHECK(d.state().models().names().size() == 2);  // the task still asks for it
    ok(d.cancel(1, at(0s)));
    CHECK(d.state().models().names().size() == 0);
}

TEST_CASE("a model fetched at work narrows, though the holder weighs as little as it did without any") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(holder("small", {"a"}), [](NodeSpec& n) { n.stake = 1; }), at(0s)));
    ok(d.join(with(plain_node("whale"), [](NodeSpec& n) { n.stake = std::uint64_t{1} << 60U; }), at(0s)));
    ok(d.report_model("small", Report::remove, {"a"}, at(0s)));
    ok(d.pause("whale", at(0s)));
    const auto fetching = leased(d.submit(using_models("fetch", {"a"}), at(0s)));
    CHECK(fetching.node == allot::NodeId{"small"});
    ok(d.resume("whale", at(0s)));
    ok(d.complete(fetching, at(1s)));
    CHECK(where(d.submit(using_models("next", {"a"}), at(1s))) == "small");
}

TEST_CASE("a wish ends by itself, and its name with it", "[A3]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.join(holder(2, {"kept"}), at(0s)));
    ok(d.pause(2, at(0s)));
    for (auto task = 0; task < 20; ++task) {
        auto names = std::vector<std::string>{};
        for (auto name = 0; name < 64; ++name) {
            names.push_back("made-up" + std::to_string(task) + "/" + std::to_string(name));
        }
        ok(d.submit(using_models(task, names), at(1s * task)));
        ok(d.cancel(task, at(1s * task)));
    }
    const auto node = *d.state().nodes().find(1);
    CHECK(d.state().wishes(node).size() == 64);
    const auto last = 19s + allot::ThresholdPlacementParameters{}.asked_for;
    ok(d.advance(at(last - 1ms)));
    CHECK_FALSE(d.state().wishes(node).empty());
    CHECK(d.next_deadline() == TimePoint{last});
    ok(d.advance(at(last)));
    CHECK(d.state().wishes(node).empty());
    CHECK(d.state().models().names().size() == 1);
}

TEST_CASE("a node is asked once for one wish, and again when that has ended", "[N4]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    const auto asked = [&](int id, Duration time) {
        const auto events = d.submit(using_models(id, {"a"}), at(time));
        ok(d.cancel(id, at(time)));
        return count<event::ModelWanted>(events);
    };
    CHECK(asked(1, 0s) == 1);
    CHECK(asked(2, 1ms) == 0);
    const auto& wishes = d.state().wishes(*d.state().nodes().find(1));
    const auto ends = wishes.until(wishes.begin());
    CHECK(asked(3, ends.time_since_epoch() - 1ms) == 0);
    CHECK(asked(4, ends.time_since_epoch()) == 1);
    ok(d.report_model(1, Report::remove, {"a"}, at(ends.time_since_epoch() + 1s)));
    CHECK(asked(5, ends.time_since_epoch() + 2s) == 1);
}

TEST_CASE("the wish that ends first gives way when a node has too many", "[A3]") {
    auto d = allot::Dispatcher{allot::Rules{{.wishes_per_node_max = 2}}};
    ok(d.join(plain_node(1), at(0s)));
    const auto ask = [&](int id, const char* model, Duration time) {
        ok(d.submit(using_models(id, {model}), at(time)));
        ok(d.cancel(id, at(time)));
    };
    ask(1, "b", 0s);
    ask(2, "a", 1s);
    ask(3, "b", 2s);  // the wish stands, and ends when it did
    ask(4, "c", 3s);
    CHECK(holding(d, 1, "a") == Holding::wanted);
    CHECK(holding(d, 1, "c") == Holding::wanted);
    CHECK_FALSE(holding(d, 1, "b"));
    ok(d.report_model(1, Report::add, {"b"}, at(4s)));  // on its disk, and no wish
    ask(5, "d", 5s);
    CHECK(holding(d, 1, "c") == Holding::wanted);
    CHECK(holding(d, 1, "b") == Holding::on_disk);
    ok(d.advance(at(2h)));
    CHECK(holding(d, 1, "b") == Holding::on_disk);
    CHECK_FALSE(holding(d, 1, "d"));
}

TEST_CASE("a node that fetches at work what it was asked to fetch wishes it no more, and keeps its other wishes",
          "[A3]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    for (auto model : {"a", "b"}) {
        ok(d.submit(using_models(model, {model}), at(0s)));
        ok(d.cancel(model, at(0s)));
        CHECK(holding(d, 1, model) == Holding::wanted);
    }
    const auto node = *d.state().nodes().find(1);
    CHECK(d.state().wishes(node).size() == 2);
    ok(d.complete(leased(d.submit(using_models(3, {"a"}), at(1s))), at(2s)));
    CHECK(holding(d, 1, "a") == Holding::in_use);
    REQUIRE(d.state().wishes(node).size() == 1);
    CHECK(d.state().models().name(d.state().wishes(node)[0].model) == "b");
}

TEST_CASE("a success writes down no more models than a node may have", "[A3]") {
    auto d = allot::Dispatcher{allot::Rules{{.models_per_node_max = 2}}};
    ok(d.join(holder(1, {"a"}), at(0s)));
    ok(d.complete(leased(d.submit(using_models(1, {"a", "x", "y", "z"}), at(0s))), at(1s)));
    CHECK(holding(d, 1, "a") == Holding::in_use);
    CHECK(holding(d, 1, "x") == Holding::in_use);
    CHECK(holding(d, 1, "y") == Holding::wanted);
    ok(d.advance(at(2h)));
    CHECK(d.state().models().names().size() == 2);
}

TEST_CASE("a rollback gives wishes back, with the time when they end", "[A3]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.submit(using_models(1, {"a"}), at(0s)));
    ok(d.cancel(1, at(0s)));
    const auto before = d;
    const auto due = d.next_deadline();
    {
        auto session = d.session();
        ok(d.advance(at(2h)));
        CHECK(d.state().models().names().size() == 0);
        session.rollback();
    }
    CHECK(d == before);
    CHECK(d.next_deadline() == due);
}

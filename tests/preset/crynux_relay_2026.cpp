#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"

// What the relay's own tests claim of it (spec: crynux.md 4.3), claimed of the preset.

namespace relay_2026_test {
namespace {

using namespace support;
using allot::Reason;
using allot::Score;
using allot::preset::CrynuxRelay2026;
using Names = std::vector<std::string>;

/// A relay that wants so many nodes of a name.
auto relay(std::uint32_t nodes_of_a_name = 1, std::vector<allot::NodeClass> whitelist = {}) {
    return allot::Dispatcher{CrynuxRelay2026{nodes_of_a_name, std::move(whitelist)}};
}

/// A node by its name at the relay: "RTX 4090+Linux".
auto named(allot::NodeId id, const std::string& name, std::uint32_t vram = 24, std::vector<std::string> models = {})
    -> NodeSpec {
    const auto plus = name.find('+');
    return with(plain_node(id), [&](auto& n) {
        n.gpu = name.substr(0, plus);
        n.platform = plus == std::string::npos ? "Darwin" : name.substr(plus + 1);
        n.vram = {vram};
        n.models = std::move(models);
        n.software = {3, 1, 0};
    });
}
auto image(allot::TaskId id, std::vector<std::string> models = {}) -> TaskSpec {
    return with(plain_task(id), [&](auto& t) {
        t.models = std::move(models);
        t.software = allot::SoftwareVersion{3, 0, 0};
    });
}
auto text(allot::TaskId id) -> TaskSpec {
    return with(image(id), [](auto& t) { t.platforms_refused = {"Darwin"}; });
}
/// Who could be drawn for a task, and how heavy.
template <class D>
auto weights(const D& d, const TaskSpec& task) -> std::map<std::string, allot::u128> {
    auto all = std::map<std::string, allot::u128>{};
    const auto drawn = allot::probabilities(d, task).value();
    for (const auto& share : drawn.nodes) { all[share.node.text()] = share.weight; }
    return all;
}
template <class D>
auto candidates(const D& d, const TaskSpec& task) -> Names {
    auto names = Names{};
    for (const auto& [name, weight] : weights(d, task)) { names.push_back(name); }
    return names;
}

}  // namespace

TEST_CASE("hard filters: free, enough VRAM, the same major version") {
    auto d = relay();
    ok(d.join(named("busy", "RTX 4090+Linux"), at(0s)));
    ok(d.submit(image("work"), at(0s)));
    ok(d.join(named("plain", "RTX 4090+Linux"), at(0s)));
    ok(d.join(named("small", "RTX 3050+Linux", 4), at(0s)));
    ok(d.join(with(named("old", "RTX 4090+Linux"), [](auto& n) { n.software = {2, 9, 0}; }), at(0s)));
    ok(d.join(named("away", "RTX 4090+Linux"), at(0s)));
    ok(d.pause("away", at(0s)));
    CHECK(candidates(d, image("task")) == Names{"plain"});
}

TEST_CASE("a pinned card: name and VRAM both") {
    auto d = relay();
    ok(d.join(named("A100/40", "A100+Linux", 40), at(0s)));
    ok(d.join(named("A100/80", "A100+Linux", 80), at(0s)));
    ok(d.join(named("4090/24", "RTX 4090+Linux", 24), at(0s)));
    CHECK(candidates(d, with(image("task"), [](auto& t) { t.gpus = {{"A100", 40_GiB}}; })) == Names{"A100/40"});
}

TEST_CASE("a text task runs wherever it is not Darwin, and no platform is Darwin; a pinned card is taken as it is") {
    auto d = relay();
    ok(d.join(named("linux", "RTX 4090+Linux"), at(0s)));
    ok(d.join(named("mac", "Apple M3+Darwin"), at(0s)));
    ok(d.join(named("unsaid", "RTX 4090"), at(0s)));
    CHECK(candidates(d, text("task")) == Names{"linux"});
    CHECK(candidates(d, image("task")) == Names{"linux", "mac", "unsaid"});
    CHECK(candidates(d, with(image("pinned"), [](auto& t) { t.gpus = {{"Apple M3", 24_GiB}}; })) == Names{"mac"});
}

TEST_CASE("only holders of all base models are candidates, without a boost for the disk, with one for what is loaded") {
    auto d = relay();
    ok(d.join(named("both", "RTX 4090+Linux", 24, {"a", "b"}), at(0s)));
    ok(d.join(named("one", "RTX 4090+Linux", 24, {"a"}), at(0s)));
    CHECK(candidates(d, image("task", {"a", "b"})) == Names{"both"});
    const auto plain = weights(d, image("task", {"a"}));
    CHECK(plain.at("both") == plain.at("one"));
    CHECK(plain.at("both") == weights(d, image("task")).at("both"));
    ok(d.report_model("one", allot::command::Report::load, {"a"}, at(0s)));
    const auto loaded = weights(d, image("task", {"a"}));
    CHECK(loaded.at("both") == plain.at("both"));
    const auto ratio = loaded.at("one") * 1'000'000U / plain.at("one");
    CHECK((ratio >= allot::u128{1'299'999} && ratio <= allot::u128{1'300'001}));
    CHECK(candidates(d, image("task", {"a", "c"})).empty());
}

TEST_CASE("a node excluded for its health is no candidate, even alone, until its health is 0.8") {
    auto d = relay();
    ok(d.join(named("ill", "RTX 4090+Linux"), at(0s)));
    for (auto i = 0; i < 3; ++i) { ok(d.observe("ill", allot::OutcomeKind::timeout, at(0s))); }
    ok(d.submit(image("task"), at(0s)));
    CHECK(allot::explain(d, "task").value().count(Reason::excluded) == 1);
    CHECK(started(d.advance(at(45min))).empty());
    CHECK(started(d.advance(at(46min))) == Names{"task"});
}

TEST_CASE("names: the whitelist, and enough nodes that take part") {
    auto d = relay(2, {{"A100", 40_GiB, "Linux", {1, 0, 0}}, {"H100", 80_GiB, "Linux", {1, 0, 0}}});
    const auto join = [&](const char* id, const char* name, std::uint32_t vram, allot::SoftwareVersion version) {
        ok(d.join(with(named(id, name, vram), [&](auto& n) { n.software = version; }), at(0s)));
    };
    join("first", "A100+Linux", 40, {1, 0, 0});
    join("second", "A100+Linux", 40, {1, 0, 0});
    join("unlisted 1", "A100+Linux", 40, {1, 0, 1});
    join("unlisted 2", "A100+Linux", 40, {1, 0, 1});
    join("alone", "H100+Linux", 80, {1, 0, 0});
    const auto task = with(plain_task("task"), [](auto& t) { t.software = allot::SoftwareVersion{1, 0, 0}; });
    CHECK(candidates(d, task) == Names{"first", "second"});
    const auto why = allot::explain(d, task).value();
    CHECK(why.count(Reason::name_policy) == 3);
    join("not alone", "H100+Linux", 80, {1, 0, 0});
    CHECK(candidates(d, task) == Names{"alone", "first", "not alone", "second"});
    CHECK(std::get<allot::Rules>(CrynuxRelay2026{}.policies()).parameters().class_nodes_min == 10);
}

TEST_CASE("a round: the highest value first, a node taken is gone for the rest, who finds none holds up nobody") {
    auto d = relay();
    ok(d.join(named("small", "RTX 3060+Linux", 12), dark(0s)));
    ok(d.join(named("large", "RTX 4090+Linux", 24), dark(0s)));
    const auto waits = [&](const char* id, std::uint64_t fee, std::uint32_t vram) {
        ok(d.submit(with(image(allot::TaskId{id}), [&](auto& t) { t.fee = fee, t.vram_min = {vram}; }), dark(0s)));
    };
    waits("impossible", 9'000, 80);
    waits("low", 100, 8);
    waits("high", 900, 24);  // 900 / 3, for its VRAM weighs three times
    waits("high, later", 900, 24);
    waits("middle", 200, 8);
    const auto round = d.match(at(2s));
    CHECK(started(round) == Names{"high", "middle"});
    CHECK(where(round) == "large");
    CHECK(round.get<event::Matched>()->started == 2);
    CHECK(started(d.match(at(4s))).empty());
    // A node that becomes free within a command without entropy waits for the next round.
    ok(d.join(named("third", "RTX 4090+Linux", 24), dark(5s)));
    CHECK(started(d.match(at(6s))) == Names{"high, later"});
}

TEST_CASE("a node is removed below a fifth of a full window, and comes back at 0.3 in full health") {
    auto d = relay();
    ok(d.join(named("node", "RTX 4090+Linux"), at(0s)));
    for (auto i = 0; i < 49; ++i) { ok(d.score("node", 1, at(0s))); }
    ok(d.observe("node", allot::OutcomeKind::timeout, at(0s)));
    CHECK(d.node("node")->node.present());  // a timeout outside a group is no verdict
    CHECK(count<event::NodeKickedOut>(d.score("node", 1, at(0s))) == 1);
    ok(d.join(named("node", "RTX 4090+Linux"), at(0s)));
    CHECK(d.qos_score(*d.node("node")) == Score::from_ratio(3, 10));
}

}  // namespace relay_2026_test

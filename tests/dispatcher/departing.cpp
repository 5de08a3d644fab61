#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// A node that leaves with many models departs: it is gone at once, and its models some at a time (docs/rules.md,
// rule 45).

namespace departing_test {

using namespace support;

namespace {

using Fast = allot::Dispatcher<allot::Rules>;
using Plain = decltype(allot::Dispatcher{allot::Rules{}, allot::LinearPool{}});

template <class D>
auto made(const allot::RulesParameters& rules) -> D {
    if constexpr (std::is_same_v<D, Fast>) {
        return Fast{allot::Rules{rules}};
    } else {
        return allot::Dispatcher{allot::Rules{rules}, allot::LinearPool{}};
    }
}

/// A node with so many models that no other has.
auto rich(allot::NodeId id, std::uint32_t models, allot::Amount stake = 1) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& node) {
        node.stake = stake;
        for (std::uint32_t i = 0; i < models; ++i) { node.models.push_back(id.text() + " " + std::to_string(i)); }
    });
}

template <class D>
auto models_of(const D& d, allot::NodeId id) -> std::size_t {
    return d.state().holdings(*d.state().nodes().find(id)).size();
}

template <class D>
auto classes(const D& d) -> std::uint32_t {
    return d.state().fits().classes().size();
}

}  // namespace

TEST_CASE("a node with few models leaves with all of them", "[A6]") {
    auto d = Fast{};
    ok(d.join(rich(1, allot::models_gone_max), at(0s)));
    ok(d.leave(1, at(1s)));
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(d.state().models().names().size() == 0);
}

TEST_CASE("a node with many models leaves at once, and its models with later commands", "[A6]") {
    auto d = Fast{allot::Rules{{.due_max = 1, .forget_nodes_after = 100s}}};
    ok(d.join(rich(1, 1'500), at(0s)));
    const auto events = d.leave(1, at(1s));
    CHECK(count<event::NodeLeft>(events) == 1);
    CHECK(state_of(d, 1) == NodeState::departing_free);
    CHECK(models_of(d, 1) == 1'500 - allot::models_gone_max);
    CHECK(d.state().present() == 0);
    CHECK(d.state().stake_root_max().is_zero());
    CHECK(d.next_deadline() == TimePoint{1s});
    CHECK(allot::find_node(d, 1)->gpu.empty());
    CHECK(classes(d) == 1);
    CHECK(d.state().fits().active(allot::ClassId{0}) == 0);
    CHECK(d.view().candidates_holding(*d.state().models().find("1 0")) == 1);  // to unlist it is work, too

    CHECK(refusal(d.join(rich(1, 0), at(2s))) == Error::advance_first);  // 512 models more are gone
    CHECK(models_of(d, 1) == 860);
    ok(d.advance(at(2s)));
    CHECK(models_of(d, 1) == 348);
    ok(d.advance(at(2s)));
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(models_of(d, 1) == 0);
    CHECK(classes(d) == 0);
    CHECK(d.next_deadline() == TimePoint{101s});  // its history is kept from the time at which it left
    ok(d.join(rich(1, 3), at(3s)));
    CHECK(models_of(d, 1) == 3);
}

TEST_CASE("in rules version 1 a node leaves with all of its models", "[A6]") {
    auto d = Fast{};
    ok(d.configure(d.rules().parameters(), 1, at(0s)));
    ok(d.join(rich(1, 1'500), at(0s)));
    ok(d.leave(1, at(1s)));
    CHECK(state_of(d, 1) == NodeState::left);
}

TEST_CASE("four models of a node that departs are one of those that a command settles, and 256 that it had", "[A6]") {
    const auto due_max = GENERATE(std::uint32_t{136}, std::uint32_t{137}, std::uint32_t{270}, std::uint32_t{271});
    auto d = Fast{allot::Rules{{.due_max = due_max}}};
    ok(d.join(rich(1, 2'000), at(0s)));
    ok(d.leave(1, at(1s)));
    ok(d.advance(at(1s)));
    const auto first = 1U + 512 / 4 + 1'872 / 256;
    const auto second = 1U + 512 / 4 + 1'360 / 256;
    const auto steps = due_max <= first ? 1U : due_max <= first + second ? 2U : 3U;
    CHECK(models_of(d, 1) == 2'000 - allot::models_gone_max - steps * allot::models_gone_due);
}

TEST_CASE("all nodes that leave in one command give up as many models together", "[A6]") {
    auto d = Fast{allot::Rules{{.classes_max = 1}}};
    for (auto i = 1; i <= 4; ++i) { ok(d.join(rich(i, 50), at(0s))); }
    const auto newcomer = with(plain_node("newcomer"), [](NodeSpec& node) { node.gpu = "another card"; });
    CHECK(count<event::NodeDisplaced>(d.join(newcomer, at(1s))) == 4);
    CHECK(d.state().present() == 1);
    CHECK(d.state().models().names().size() == 200 - allot::models_gone_max);
    CHECK(classes(d) == 2);
    ok(d.advance(at(1s)));
    CHECK(d.state().models().names().size() == 0);
    CHECK(classes(d) == 1);
}

TEST_CASE("a node that makes way for another is forgotten when its models are gone", "[A6]") {
    auto d = Fast{allot::Rules{{.nodes_max = 3}}};
    ok(d.join(rich(1, 200, 1), at(0s)));
    for (auto i = 2; i <= 3; ++i) { ok(d.join(plain_node(i), at(0s))); }
    const auto events = d.join(plain_node(4), at(1s));
    CHECK(count<event::NodeDisplaced>(events) == 1);
    CHECK(d.state().nodes().size() == 4);
    CHECK(d.state().present() == 3);
    ok(d.advance(at(1s)));
    CHECK(d.state().nodes().size() == 3);
    CHECK(d.node(1) == nullptr);
}

TEST_CASE("a node that departs makes way once, also if its class does, too", "[A6]") {
    auto d = Fast{allot::Rules{{.nodes_max = 2, .classes_max = 1}}};
    for (auto i = 1; i <= 2; ++i) { ok(d.join(rich(i, 200, static_cast<std::uint64_t>(i)), at(0s))); }
    const auto newcomer = with(plain_node("newcomer"), [](NodeSpec& node) { node.gpu = "another card"; });
    CHECK(count<event::NodeDisplaced>(d.join(newcomer, at(1s))) == 2);
    ok(d.advance(at(1s)));
    CHECK(d.node(1) == nullptr);
    CHECK(d.state().nodes().size() == 2);
    CHECK(classes(d) == 1);
}

TEST_CASE("of the nodes that depart the one that made way in the table of nodes is forgotten", "[A6]") {
    // Both are due at one moment, the lower id first.
    auto d = Fast{allot::Rules{{.nodes_max = 3, .classes_max = 2}}};
    ok(d.join(rich(2, 200, 1), at(0s)));
    ok(d.join(with(rich(1, 200, 2), [](NodeSpec& node) { node.gpu = "a card of its own"; }), at(0s)));
    ok(d.join(plain_node(3), at(0s)));
    const auto newcomer = with(plain_node("newcomer"), [](NodeSpec& node) { node.gpu = "another card"; });
    CHECK(count<event::NodeDisplaced>(d.join(newcomer, at(1s))) == 2);
    ok(d.advance(at(1s)));
    CHECK(d.node(2) == nullptr);
    REQUIRE(d.node(1) != nullptr);
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(!d.node(1)->node.kicked_out);
}

TEST_CASE("a node that leaves by itself is remembered, also if the limit was lowered", "[A6]") {
    auto d = Fast{allot::Rules{{.nodes_max = 3}}};
    for (auto i = 1; i <= 3; ++i) { ok(d.join(rich(i, 200), at(0s))); }
    ok(d.configure(with(d.rules().parameters(), [](auto& rules) { rules.nodes_max = 1; }), allot::rules_version_newest,
                   at(0s)));
    ok(d.leave(1, at(1s)));
    ok(d.advance(at(1s)));
    REQUIRE(d.node(1) != nullptr);
    CHECK(state_of(d, 1) == NodeState::left);
}

TEST_CASE("what leaves before a command takes nothing from the room that its report finds", "[A6]") {
    auto d = Fast{allot::Rules{{.models_max = 800}}};
    ok(d.join(with(rich(1, 200, 1), [](NodeSpec& node) { node.gpu = "RTX 3060"; }), at(0s)));
    ok(d.join(rich("fills it", 600, 2), at(0s)));
    ok(d.join(plain_node(3), at(0s)));
    const auto own = with(plain_task("a"), [](TaskSpec& task) { task.gpus = {{"RTX 3060", 24_GiB}}; });
    const auto lease = leased(d.submit(own, at(0s)));
    ok(d.leave(1, at(1s)));
    auto shared = rich(1, 200).models;
    ok(d.report_model(3, command::Report::add, shared, at(1s)));  // so its leaving makes no room
    const auto names = std::vector<std::string>{"a", "b", "c"};
    const auto events = d.report_model(3, command::Report::add, names, at(lease.deadline.time_since_epoch()));
    CHECK(!refusal(events));
    CHECK(count<event::NodeLeft>(events) == 1);
    CHECK(count<event::NodeDisplaced>(events) == 1);
    CHECK(models_of(d, 3) == 203);
}

TEST_CASE("a busy node that is about to leave departs when its task ends", "[A6]") {
    auto d = Fast{};
    ok(d.join(rich(1, 200), at(0s)));
    const auto lease = leased(d.submit(plain_task("a"), at(0s)));
    ok(d.leave(1, at(1s)));
    CHECK(state_of(d, 1) == NodeState::pending_leave);
    ok(d.complete(lease, at(2s)));
    CHECK(state_of(d, 1) == NodeState::departing);
    CHECK(d.state().present() == 0);
    ok(d.advance(at(2s)));
    CHECK(state_of(d, 1) == NodeState::left);
}

namespace {

/// A full network. The poorest of its four nodes holds 301 models and two are paused. A task of two models waits for a
/// gang of three, or, after `alone`, for one node, as do all the nodes.
template <class D>
auto full_network(bool alone) -> D {
    auto d = made<D>({.nodes_max = 4});
    ok(d.join(with(rich("departs", 300, 50), [](NodeSpec& node) { node.models.push_back("shared"); }), at(0s)));
    for (auto i = 1; i <= 3; ++i) {
        ok(d.join(with(plain_node(i), [](auto& n) { n.stake = 51; }), at(0s)));
    }
    const auto nodes = std::array<allot::NodeId, 4>{1, 2, 3, "departs"};
    for (const auto& node : nodes) { ok(d.pause(node, at(0s))); }
    ok(d.submit(with(plain_task("task"),
                     [&](TaskSpec& task) {
                         task.gang_size = alone ? 1 : 3;
                         task.models = {"shared", "rare"};
                     }),
                at(0s)));
    for (const auto& node : nodes) {
        if (alone || node == nodes[2] || node == nodes[3]) { ok(d.resume(node, dark(0s))); }
    }
    return d;
}

}  // namespace

TEMPLATE_TEST_CASE("no draw takes a node that departs, although the pool lists it", "", Fast, Plain) {
    for (std::uint32_t chance = 0; chance < 20; ++chance) {
        auto few = full_network<TestType>(false);
        CHECK(started(few.join(plain_node("newcomer"), at(1s, chance))).empty());  // one node more has to be free
        CHECK(state_of(few, "departs") == NodeState::departing_free);
        auto d = full_network<TestType>(true);
        const auto events = d.join(plain_node("newcomer"), at(1s, chance));
        CHECK(where(events) == "newcomer");
        CHECK(state_of(d, "departs") == NodeState::departing_free);
        CHECK(count<event::ModelWanted>(events) >= 2 + 3);  // the rare one is wanted of all others
        for (const auto& wanted : all<event::ModelWanted>(events)) { CHECK(wanted.node.text() != "departs"); }
        ok(d.advance(at(1s)));
        CHECK(d.node("departs") == nullptr);
    }
}

TEST_CASE("no statement about a node that departs is about a present one", "[A6]") {
    auto d = Fast{allot::Rules{{.due_max = 1}}};
    ok(d.join(rich(1, 2'000), at(0s)));
    ok(d.leave(1, at(1s)));
    CHECK(d.check(command::Pause{1}) == Error::node_unknown);
    CHECK(d.check(command::Leave{1}) == Error::node_unknown);
    CHECK(!allot::explain(d, allot::NodeId{1}));
    CHECK(allot::MetricsRecorder{}.metrics(d).nodes == std::array<std::uint32_t, 5>{});
}

// ---- at random ------------------------------------------------------------------------------------------------------

namespace {

/// Commands of a network whose nodes hold up to 600 models, and come and go.
class RichNodes {
public:
    explicit RichNodes(std::uint64_t seed) : words_{seed} {}

    auto next() -> Fast::Command {
        switch (below(12)) {
            case 0:
            case 1:
            case 2: return command::Join{joining()};
            case 3: return command::Leave{node()};
            case 4: return command::Slash{node()};
            case 5: return command::Score{node(), 0};
            case 6: return below(2) == 0 ? Fast::Command{command::Pause{node()}} : command::Resume{node()};
            case 7: return command::Update{{.id = node(), .gpu = card()}};
            case 8:
                if (!leases.empty()) {
                    const auto lease = leases[below(leases.size())];
                    return below(2) == 0 ? Fast::Command{command::Complete{lease}}
                                         : command::Fail{lease, allot::FailCause::execution_error};
                }
                [[fallthrough]];
            default: return command::Submit{task()};
        }
    }
    auto below(std::uint64_t n) -> std::uint64_t { return words_() % n; }

    std::vector<Lease> leases{};

private:
    auto node() -> allot::NodeId { return 1 + below(12); }
    auto card() -> std::string { return "card " + std::to_string(below(4)); }
    auto joining() -> NodeSpec {
        auto spec = with(plain_node(node()), [&](NodeSpec& one) {
            one.gpu = card();
            one.stake = allot::Amount{1 + (below(1'000) << (below(6) == 0 ? below(30) : 0))};  // bounds move
        });
        const auto models = std::array<std::uint64_t, 4>{3, 60, 200, 600}[below(4)];
        for (std::uint64_t i = 0; i < models; ++i) {
            spec.models.push_back("model " + std::to_string(below(2) == 0 ? i : below(100'000)));
        }
        std::sort(spec.models.begin(), spec.models.end());
        spec.models.erase(std::unique(spec.models.begin(), spec.models.end()), spec.models.end());
        return spec;
    }
    auto task() -> TaskSpec {
        return with(plain_task(++tasks_), [&](TaskSpec& spec) {
            spec.duration_estimate = std::chrono::seconds{1 + below(60)};
            spec.gang_size = below(3) == 0 ? 2 : 1;
            for (auto left = below(3); left > 0; --left) {
                spec.models.push_back("model " + std::to_string(below(40)));
            }
        });
    }

    std::mt19937_64 words_;
    std::uint64_t tasks_ = 0;
};

auto hash_of(const Events& events) -> allot::Hash256 {
    auto hash = allot::EventHash{};
    hash.add(events);
    return hash.value();
}

/// The lengths of the lines of all models: what the pool still lists is as long as a new pool makes it.
auto lengths(const Fast& d) -> std::vector<std::uint64_t> {
    auto all = std::vector<std::uint64_t>{};
    d.state().models().names().for_each([&](std::uint32_t id, const std::string&) {
        const auto model = allot::ModelId{id};
        all.push_back(d.view().pool.total(allot::SamplingFrame{d.state().fits().all_classes(), {&model, 1}}));
    });
    return all;
}

/// Nodes that depart.
template <class D>
auto departing(const D& d) -> std::size_t {
    auto count = std::size_t{0};
    d.state().nodes().for_each(
        [&](allot::NodeHandle, const auto& record) { count += record.node.departs() ? 1U : 0U; });
    return count;
}

}  // namespace

TEST_CASE("the bounds of a node that departs are renewed with those of others", "[A6]") {
    const auto rules = allot::RulesParameters{.due_max = 1, .renewals_max = 1};
    auto d = made<Fast>(rules);
    for (auto i = 1; i <= 2; ++i) { ok(d.join(plain_node(i), at(0s))); }
    ok(d.join(rich(3, 2'000, 400), at(0s)));
    while (d.state().counters().ceilings.moving()) { ok(d.advance(at(0s))); }
    ok(d.join(with(plain_node("whale"), [](NodeSpec& node) { node.stake = std::uint64_t{1} << 60U; }), at(1s)));
    ok(d.leave(3, at(1s)));
    auto moved = 0;
    for (; d.node(3)->node.departs(); ok(d.advance(at(1s)))) {
        moved += d.state().counters().ceilings.moving() ? 1 : 0;
        const auto loaded = allot::load_snapshot(allot::snapshot(d, 0), made<Fast>(rules));
        REQUIRE(loaded);
        CHECK(lengths(loaded->dispatcher) == lengths(d));
    }
    CHECK(moved > 0);
}

TEST_CASE("nodes depart alike with each pool, and from a snapshot, and no start takes one", "[A6]") {
    auto departed = std::size_t{0};
    auto starts = std::size_t{0};
    for (std::uint64_t run = 0; run < 6; ++run) {
        const auto rules = allot::RulesParameters{.due_max = run % 2 == 0 ? 64U : 1'024U,
                                                  .renewals_max = run % 2 == 0 ? 2U : 256U,
                                                  .narrowing = run % 3 == 0   ? allot::Narrowing::any
                                                               : run % 3 == 1 ? allot::Narrowing::all
                                                                              : allot::Narrowing::gate,
                                                  .nodes_max = 8,
                                                  .classes_max = 3,
                                                  .models_max = 2'000};
        auto fast = made<Fast>(rules);
        auto plain = made<Plain>(rules);
        auto commands = RichNodes{seed() + run};
        auto time = Duration{};
        auto gone = std::set<allot::NodeId>{};
        const auto hear = [&]<class E>(const E& event) {
            if constexpr (std::is_same_v<E, event::NodeJoined>) { gone.erase(event.node); }
            if constexpr (std::is_same_v<E, event::NodeLeft> || std::is_same_v<E, event::NodeKickedOut> ||
                          std::is_same_v<E, event::NodeSlashed> || std::is_same_v<E, event::NodeDisplaced>) {
                gone.insert(event.node);
            }
        };
        for (auto i = 0; i < 700; ++i) {
            CAPTURE(run, i);
            const auto command = commands.next();
            time += Duration{static_cast<std::int64_t>(commands.below(4'000))};
            const auto moment = at(time, commands.below(1'000'000));
            const auto events = fast.apply(command, moment);
            auto others = Events{};
            std::visit([&](const auto& one) { others = plain.apply(one, moment); }, command);
            REQUIRE(hash_of(events) == hash_of(others));
            REQUIRE(fast.digest() == plain.digest());
            for (const auto& one : events) {
                std::visit([&](const auto& event) { hear(event); }, one);
                if (const auto* start = std::get_if<event::TaskStarted>(&one)) {
                    REQUIRE(!gone.contains(start->lease.node));
                    commands.leases.push_back(start->lease);
                    ++starts;
                }
            }
            const auto reload = [&] {
                const auto now = departing(fast);
                departed += now;
                if (now == 0) { return; }
                const auto bytes = allot::snapshot(fast, 0);
                auto loaded = allot::load_snapshot(bytes, made<Fast>(rules));
                REQUIRE(loaded);
                REQUIRE(lengths(loaded->dispatcher) == lengths(fast));
                if (commands.below(2) == 0) { fast = std::move(loaded->dispatcher); }
            };
            reload();
            if (refusal(events) == Error::advance_first) {
                ok(fast.advance(moment));
                ok(plain.advance(moment));
                reload();
            }
        }
    }
    CHECK(departed > 100);
    CHECK(starts > 500);
}

}  // namespace departing_test

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/format/explain.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/linear_queue.hpp>

#include "support/catch.hpp"

// How far a pull and a match go through waiting tasks that they cannot start (rules 16 and 28), and which of them a
// node is asked about at a hard gate.

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
namespace command = allot::command;
namespace event = allot::event;

auto walk_at(allot::Duration time, std::uint64_t entropy = 2026) -> allot::Moment {
    return {allot::TimePoint{time}, allot::Entropy{entropy}};
}
auto walk_node(std::uint64_t id, std::vector<std::string> models = {}) -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = "RTX 4090";
    spec.vram = 24_GiB;
    spec.stake = 400;
    spec.models = std::move(models);
    return spec;
}
auto walk_task(std::uint64_t id, std::vector<std::string> models = {}, std::uint64_t fee = 100) -> allot::TaskSpec {
    auto spec = allot::TaskSpec{.id = id};
    spec.vram_min = 8_GiB;
    spec.fee = fee;
    spec.duration_estimate = 100s;
    spec.models = std::move(models);
    return spec;
}

/// Counts the pairs that it is asked about.
struct CountingFit : allot::HardwareFit {
    static inline int asked = 0;
    [[nodiscard]] auto admits(const allot::Node& node, const allot::Task& task, const allot::Situation& now) const
        -> allot::Reason {
        ++asked;
        return allot::HardwareFit::admits(node, task, now);
    }
};
template <class Queue>
using CountingNetwork = allot::Dispatcher<allot::Rules, CountingFit, Queue>;
using Network = allot::Dispatcher<allot::Rules>;

constexpr auto queue_room = allot::ValueQueueParameters{.capacity_min = 4'000};

/// So many dear tasks wait, each of which the only node has declined, and behind them a cheap one that it could run.
template <class Queue>
auto behind_declined(std::uint64_t count) -> CountingNetwork<Queue> {
    auto d = CountingNetwork<Queue>{allot::Rules{}, CountingFit{}, Queue{queue_room}};
    REQUIRE(d.join(walk_node(1), walk_at(0s)).accepted());
    for (std::uint64_t i = 1; i <= count; ++i) {
        const auto begun = d.submit(walk_task(i), walk_at(0s));
        REQUIRE(begun.lease() != nullptr);
        REQUIRE(d.decline(*begun.lease(), walk_at(0s)).accepted());
    }
    REQUIRE(d.submit(walk_task(9'999, {}, 1), {allot::TimePoint{}, {}}).accepted());  // without entropy it waits
    REQUIRE(d.queued() == count + 1);
    return d;
}

/// The node leaves for a moment, and pulls when it is back.
template <class D>
auto pulls_again(D& d) -> bool {
    REQUIRE(d.pause(1, walk_at(1s)).accepted());
    CountingFit::asked = 0;
    return d.resume(1, walk_at(1s)).lease() != nullptr;
}

/// The metrics of one command.
template <class D>
auto counted(D& d, const typename D::Command& command, std::uint64_t entropy = 2026) -> allot::Metrics {
    auto recorder = allot::MetricsRecorder{};
    auto events = allot::Events{};
    d.apply(command, walk_at(1s, entropy), events, recorder.template trace<D>());
    REQUIRE(events.accepted());
    return recorder.metrics(d);
}

auto at_a_gate() -> allot::Rules {
    auto rules = allot::RulesParameters{};
    rules.narrowing = allot::Narrowing::gate;
    return allot::Rules{rules};
}

}  // namespace

TEMPLATE_TEST_CASE("a pull stops after 1,024 tasks that the node cannot take", "[A5]", allot::ValueQueue,
                   allot::FlatQueue, allot::LinearQueue) {
    auto one_less = behind_declined<TestType>(1'023);
    CHECK(pulls_again(one_less));
    CHECK(CountingFit::asked == 1'024);

    auto d = behind_declined<TestType>(1'024);
    CHECK_FALSE(pulls_again(d));
    CHECK(CountingFit::asked == 1'024);

    SECTION("below rules version 2 it goes through all") {
        REQUIRE(d.configure(allot::RulesParameters{}, 1, walk_at(1s)).accepted());
        CHECK(pulls_again(d));
        CHECK(CountingFit::asked > 1'024);
    }
    SECTION("a task that the node can take is not lost: a match comes to it at random") {
        auto matches = 0;
        while (d.queued() == 1'025 && matches < 200) {
            (void)d.match(walk_at(2s, static_cast<std::uint64_t>(++matches)));
        }
        CHECK(d.queued() == 1'024);
        CHECK(d.lease_of(1)->task == allot::TaskId{9'999});
        CHECK(matches > 0);
    }
}

TEST_CASE("a match tries 256 tasks in vain by value, 256 from a random place on", "[A5]") {
    auto d = behind_declined<allot::ValueQueue>(600);
    const auto tried = [&](std::uint64_t entropy) {
        auto copy = d;
        CountingFit::asked = 0;
        const auto started = copy.match(walk_at(1s, entropy)).template get<event::Matched>()->started;
        CHECK(copy.queued() + started == d.queued());
        return started;
    };
    auto found = 0U;
    for (std::uint64_t entropy = 0; entropy < 100; ++entropy) { found += tried(entropy); }
    // It comes to 256 or 257 tasks in a row out of 601: to the cheap one in about 43 of 100 matches.
    CHECK(found > 20);
    CHECK(found < 70);
    REQUIRE(d.configure(allot::RulesParameters{}, 1, walk_at(1s)).accepted());
    CHECK(tried(1) == 1);
}

TEST_CASE("a match looks at 4,096 places of the table from a random place on", "[A5]") {
    // Between the tasks that the free node declined and the one that it can run, 8,000 others are at work.
    auto d = behind_declined<allot::ValueQueue>(256);
    REQUIRE(d.cancel(9'999, walk_at(0s)).accepted());
    for (std::uint64_t i = 0; i < 8'000; ++i) {
        auto other = walk_node(10 + i);
        other.gpu = "another card";
        other.vram = 4_GiB;
        REQUIRE(d.join(other, walk_at(0s)).accepted());
        auto task = walk_task(10'000 + i);
        task.vram_min = 4_GiB;
        task.gpus = {{"another card", {}}};
        REQUIRE(d.submit(task, walk_at(0s)).lease() != nullptr);
    }
    REQUIRE(d.submit(walk_task(20'000, {}, 1), {allot::TimePoint{}, {}}).accepted());
    auto found = 0U;
    for (std::uint64_t entropy = 0; entropy < 60; ++entropy) {
        auto copy = d;
        found += copy.match(walk_at(1s, entropy)).get<event::Matched>()->started;
    }
    CHECK(found > 15);  // half of the places are within reach of it; all would be, but for the bound
    CHECK(found < 45);
}

TEST_CASE("metrics and explanations tell of a walk that met its bound", "[A5]") {
    for (const auto others : {1'023U, 1'024U}) {
        auto d = behind_declined<allot::ValueQueue>(others);
        const auto cut = others == 1'024U;
        const auto why = *allot::explain(std::as_const(d), allot::NodeId{1});
        CHECK(why.next_cut == cut);
        CHECK(why.next.has_value() == !cut);
        CHECK(why.runnable == 1);
        CHECK((fmt::format("{}", why).find("1 it could run, but its pull stops before it finds one") !=
               std::string::npos) == cut);
        REQUIRE(d.pause(1, walk_at(1s)).accepted());
        CHECK(counted(d, command::Resume{allot::NodeId{1}}).cuts == std::array<std::uint64_t, 2>{cut ? 1U : 0U, 0});
    }
    for (const auto others : {255U, 256U}) {
        auto d = behind_declined<allot::ValueQueue>(others);
        CHECK(counted(d, command::Match{}).cuts == std::array<std::uint64_t, 2>{0, others == 256U ? 1U : 0U});
    }
}

TEMPLATE_TEST_CASE("at a gate a node is asked about those tasks alone whose models it holds", "[A5]", allot::ValueQueue,
                   allot::FlatQueue) {
    auto d = CountingNetwork<TestType>{at_a_gate(), CountingFit{}, TestType{queue_room}};
    for (std::uint64_t i = 0; i < 600; ++i) {
        auto models = std::vector<std::string>{"m" + std::to_string(i % 7), "rare" + std::to_string(i % 3)};
        REQUIRE(d.submit(walk_task(i + 1, models), walk_at(0s)).accepted());
    }
    REQUIRE(d.submit(walk_task(1'000, {"a", "m1"}, 50), walk_at(0s)).accepted());
    REQUIRE(d.submit(walk_task(1'001, {"m1"}, 40), walk_at(0s)).accepted());
    REQUIRE(d.submit(walk_task(1'002, {}, 30), walk_at(0s)).accepted());

    const auto takes = [&](std::vector<std::string> models) -> std::optional<allot::TaskId> {
        auto copy = d;
        CountingFit::asked = 0;
        const auto events = copy.join(walk_node(1, std::move(models)), walk_at(1s));
        return events.lease() == nullptr ? std::nullopt : std::optional{events.lease()->task};
    };
    CHECK(takes({"m1", "a"}) == allot::TaskId{1'000});
    CHECK(CountingFit::asked <= 2);
    CHECK(takes({"m1"}) == allot::TaskId{1'001});
    CHECK(CountingFit::asked <= 2);
    CHECK(takes({}) == allot::TaskId{1'002});
    CHECK(CountingFit::asked <= 2);
    CHECK(takes({"m2", "m3", "m4", "rare0"}) == allot::TaskId{4});  // 3 mod 7, 0 mod 3: the earliest with both
    CHECK(CountingFit::asked <= 2);

    CountingFit::asked = 0;
    CHECK(d.match(walk_at(1s)).template get<event::Matched>()->started == 0);
    CHECK(CountingFit::asked == 0);
}

TEMPLATE_TEST_CASE("at a gate a pull goes through 1,024 groups of its models, or asks about tasks in order", "[A5]",
                   allot::ValueQueue, allot::FlatQueue, allot::LinearQueue) {
    // Models 0 to 49 are known before model 50, so tasks for it and two others are listed under it.
    const auto model = [](std::uint64_t i) { return "model " + std::to_string(100 + i); };
    auto base = CountingNetwork<TestType>{at_a_gate(), CountingFit{}, TestType{queue_room}};
    auto next = std::uint64_t{1};
    for (std::uint64_t i = 0; i < 50; ++i) {
        REQUIRE(base.submit(walk_task(next++, {model(i)}), {allot::TimePoint{}, {}}).accepted());
    }
    REQUIRE(base.join(walk_node(1, {model(50)}), walk_at(0s)).accepted());
    const auto beside = [&](std::uint64_t groups, std::uint64_t fee) {
        auto d = base;
        auto id = next;
        REQUIRE(d.submit(walk_task(9'999, {model(50)}, fee), {allot::TimePoint{}, {}}).accepted());
        for (std::uint64_t a = 0, made = 1; made < groups; ++a) {
            for (auto b = a + 1; b < 50 && made < groups; ++b, ++made) {
                const auto task = walk_task(id++, {model(a), model(b), model(50)});
                REQUIRE(d.submit(task, {allot::TimePoint{}, {}}).accepted());
            }
        }
        return d;
    };
    auto few = beside(1'024, 1);
    CHECK(pulls_again(few));
    CHECK(CountingFit::asked == 1);
    auto many = beside(1'025, 1);
    CHECK_FALSE(pulls_again(many));
    CHECK(CountingFit::asked == 1'024);
    auto dear = beside(1'025, 200);
    CHECK(pulls_again(dear));
    CHECK(CountingFit::asked == 1);

    REQUIRE(many.configure(at_a_gate().parameters(), 1, walk_at(1s)).accepted());
    CHECK(pulls_again(many));
    CHECK(CountingFit::asked == 1);
}

TEST_CASE("at a gate a pull passes over gangs for whose models too few nodes are free", "[A5]") {
    const auto same_card = GENERATE(false, true);
    auto d = Network{at_a_gate()};
    for (std::uint64_t i = 1; i <= 6; ++i) {
        REQUIRE(d.join(walk_node(i, {i <= 2 ? "a" : "b"}), walk_at(0s)).accepted());
    }
    for (std::uint64_t i = 1; i <= 40; ++i) {  // more than a pull tries
        auto gang = walk_task(i, {"a"});
        gang.gang_size = 3;
        gang.same_card = same_card;
        REQUIRE(d.submit(gang, walk_at(0s)).lease() == nullptr);
    }
    REQUIRE(d.pause(1, walk_at(1s)).accepted());
    REQUIRE(d.submit(walk_task(100, {"a"}, 1), {allot::TimePoint{1s}, {}}).accepted());
    const auto resumed = d.resume(1, walk_at(1s));
    REQUIRE(resumed.lease() != nullptr);
    CHECK(resumed.lease()->task == allot::TaskId{100});
    CHECK(d.complete(*resumed.lease(), walk_at(2s)).lease() == nullptr);
    CHECK(d.join(walk_node(7, {"a"}), walk_at(3s)).lease() != nullptr);  // the third of a gang
    CHECK(d.queued() == 39);
}

TEST_CASE("a gate that is put up or taken down while tasks wait decides for all of them") {
    auto d = Network{allot::Rules{}};
    const auto gate = at_a_gate().parameters();
    REQUIRE(d.submit(walk_task(1, {"a"}), walk_at(0s)).accepted());
    REQUIRE(d.submit(walk_task(2, {"b"}, 50), walk_at(0s)).accepted());
    REQUIRE(d.configure(gate, 2, walk_at(0s)).accepted());
    REQUIRE(d.submit(walk_task(3, {}, 10), walk_at(0s)).accepted());
    CHECK(d.join(walk_node(1, {"b"}), walk_at(1s)).lease()->task == allot::TaskId{2});
    CHECK(d.join(walk_node(2), walk_at(1s)).lease()->task == allot::TaskId{3});
    CHECK(d.join(walk_node(3), walk_at(1s)).lease() == nullptr);
    REQUIRE(d.configure(allot::RulesParameters{}, 2, walk_at(1s)).accepted());
    CHECK(d.match(walk_at(2s)).lease()->task == allot::TaskId{1});
    REQUIRE(d.configure(gate, 2, walk_at(2s)).accepted());
    CHECK(d.submit(walk_task(4, {"a"}), walk_at(2s)).lease() == nullptr);
    CHECK(d.update({.id = 1, .stake = 500}, walk_at(2s)).accepted());
    CHECK(d.queued() == 1);
}

TEST_CASE("a match at a gate starts one task of a group while another of the group stands aside") {
    auto d = Network{at_a_gate()};
    REQUIRE(d.join(walk_node(1, {"a"}), walk_at(0s)).accepted());
    const auto begun = d.submit(walk_task(1, {"a"}), walk_at(0s));
    REQUIRE(d.decline(*begun.lease(), walk_at(0s)).accepted());
    REQUIRE(d.submit(walk_task(2, {"a"}, 50), {allot::TimePoint{}, {}}).accepted());
    CHECK(d.match(walk_at(1s)).lease()->task == allot::TaskId{2});
    CHECK(d.queued() == 1);
    CHECK(d.join(walk_node(2, {"a"}), walk_at(2s)).lease()->task == allot::TaskId{1});
    CHECK(d.queued() == 0);
}

namespace {

/// A gang of two in a validation group, so that its members need different operators.
auto walk_pair(std::uint64_t id) -> allot::TaskSpec {
    auto spec = walk_task(id, {}, 1'000);
    spec.gang_size = 2;
    spec.group = allot::GroupId{7};
    return spec;
}
auto walk_card(std::uint64_t id, const std::string& card, std::uint32_t vram, std::uint64_t operator_id)
    -> allot::NodeSpec {
    auto spec = walk_node(id);
    spec.gpu = card;
    spec.vram = allot::Gibibytes{vram};
    spec.operator_id = allot::OperatorId{operator_id};
    return spec;
}
template <class D>
auto walk_handle(const D& d, std::uint64_t id) -> allot::NodeHandle {
    return *d.state().nodes().find(id);
}
constexpr auto walk_dark = allot::Moment{allot::TimePoint{}, {}};  // without entropy every task waits

}  // namespace

TEST_CASE("all pulls of a command together ask about 1,024 tasks in vain, and 8 more for each node it freed", "[A5]") {
    const auto rules = allot::RulesParameters{.group_members_max = 2'000};
    auto d = CountingNetwork<allot::ValueQueue>{allot::Rules{rules}, CountingFit{}, allot::ValueQueue{queue_room}};
    for (std::uint64_t id = 1; id <= 4; ++id) {
        REQUIRE(d.join(walk_card(id, "RTX 4090", 24, 77), walk_dark).accepted());
    }
    // One node runs a task of the group, so that no other node of its operator may. The others run a gang.
    auto member = walk_task(1);
    member.group = allot::GroupId{7};
    REQUIRE(d.submit(member, walk_at(0s)).lease() != nullptr);
    auto gang = walk_task(2);
    gang.gang_size = 3;
    auto leases = std::vector<allot::Lease>{};
    const auto begun = d.submit(gang, walk_at(0s));
    for (const auto& one : begun) {
        if (const auto* started = std::get_if<event::TaskStarted>(&one)) { leases.push_back(started->lease); }
    }
    REQUIRE(leases.size() == 3);
    for (std::uint64_t id = 0; id < 1'100; ++id) {
        auto task = walk_task(10 + id);
        task.group = allot::GroupId{7};
        REQUIRE(d.submit(task, walk_at(0s)).accepted());
    }
    const auto version = GENERATE(std::uint32_t{1}, std::uint32_t{2});
    REQUIRE(d.configure(rules, version, walk_at(1s)).accepted());
    const auto expected = version == 1 ? 3 * 1'100 : 1'024 + 3 * 8;  // below version 2 each asks about all
    REQUIRE(d.complete(leases[0], walk_at(1s)).accepted());
    REQUIRE(d.complete(leases[1], walk_at(1s)).accepted());
    CountingFit::asked = 0;
    REQUIRE(d.complete(leases[2], walk_at(1s)).accepted());
    CHECK(d.queued() == 1'100);
    CHECK(CountingFit::asked == expected);
}

TEST_CASE("a pull with too few tries left asks about no gang, but about other tasks", "[A5]") {
    const auto rules = allot::RulesParameters{.narrowing = GENERATE(allot::Narrowing::any, allot::Narrowing::gate)};
    auto d = allot::Dispatcher<allot::Rules, allot::ValueQueue>{allot::Rules{rules}, allot::ValueQueue{queue_room}};
    REQUIRE(d.join(walk_card(1, "RTX 4090", 24, 1), walk_dark).accepted());
    REQUIRE(d.join(walk_card(2, "RTX 4090", 24, 2), walk_dark).accepted());
    REQUIRE(d.submit(walk_pair(1), walk_dark).accepted());
    REQUIRE(d.submit(walk_task(2), walk_dark).accepted());
    const auto best = [&](std::uint32_t tries_left) {
        const auto next = d.view().next_for(walk_handle(d, 1), tries_left);
        return next.task ? std::optional{d.state().tasks()[*next.task].id} : std::nullopt;
    };
    CHECK(best(allot::pull_tries_max) == allot::TaskId{1});
    CHECK(best(allot::gang_tries) == allot::TaskId{1});
    CHECK(best(allot::gang_tries - 1) == allot::TaskId{2});
    CHECK(best(0) == allot::TaskId{2});
    CHECK(d.view().next_for(walk_handle(d, 1), 0).cut);
    CHECK_FALSE(d.view().next_for(walk_handle(d, 1)).cut);
    REQUIRE(d.configure(rules, 1, walk_dark).accepted());
    CHECK(best(0) == allot::TaskId{1});
    SECTION("it passes over 63 gangs") {
        REQUIRE(d.configure(rules, 2, walk_dark).accepted());
        for (std::uint64_t id = 3; id < 65; ++id) {
            auto pair = walk_pair(id);
            pair.group.reset();
            REQUIRE(d.submit(pair, walk_dark).accepted());
        }
        CHECK(best(0) == allot::TaskId{2});
        auto pair = walk_pair(65);
        pair.group.reset();
        REQUIRE(d.submit(pair, walk_dark).accepted());
        CHECK(best(0) == std::nullopt);
    }
}

TEST_CASE("where a gang waits, 256 classes count as one of the tries of a command's pulls", "[A5]") {
    auto d = Network{};
    for (std::uint64_t id = 1; id <= 512; ++id) {
        REQUIRE(d.join(walk_card(id, "card " + std::to_string(id), 24, id), walk_dark).accepted());
    }
    REQUIRE(d.submit(walk_task(1), walk_dark).accepted());
    const auto counted = [&] { return d.view().next_for(walk_handle(d, 1)).counted; };
    CHECK(counted() == 0);
    REQUIRE(d.submit(walk_pair(2), walk_dark).accepted());
    CHECK(counted() == 2);
    for (std::uint64_t id = 3; id < 34; ++id) {  // and 32 requirements of gangs as another
        auto other = walk_pair(id);
        other.group.reset();
        other.platforms_refused = {"platform " + std::to_string(id)};
        REQUIRE(d.submit(other, walk_dark).accepted());
    }
    CHECK(counted() == 3);
    CHECK(d.view().next_for(walk_handle(d, 1)).tries == 0);
}

TEST_CASE("a pulled gang gives up after 16 sizes of VRAM of which no node may join", "[A5]") {
    const auto others = GENERATE(std::uint32_t{15}, std::uint32_t{16});
    auto d = Network{};
    // The sizes above the last one are all of the node's own operator.
    REQUIRE(d.join(walk_card(1, "mine", 8, 77), walk_dark).accepted());
    for (std::uint32_t i = 0; i < others; ++i) {
        REQUIRE(d.join(walk_card(10 + i, "mine", 100 + i, 77), walk_dark).accepted());
    }
    REQUIRE(d.join(walk_card(2, "honest", 16, 5), walk_dark).accepted());
    REQUIRE(d.submit(walk_pair(1), walk_dark).accepted());
    const auto size = [&] {
        const auto& task = d.state().tasks()[*d.state().tasks().find(allot::TaskId{1})];
        return d.view().gang_of(walk_handle(d, 1), task, allot::Entropy{1}).size();
    };
    CHECK(size() == (others < 16 ? 2 : 0));
    REQUIRE(d.configure(allot::RulesParameters{}, 1, walk_dark).accepted());
    CHECK(size() == 2);
}

TEST_CASE("the draw of a gang of one card is undecided after 32 cards in vain", "[A5]") {
    const auto cards = GENERATE(std::uint64_t{32}, std::uint64_t{33});
    auto d = Network{};
    for (std::uint64_t i = 0; i < 2 * cards; ++i) {  // each card has two nodes, of one operator
        REQUIRE(d.join(walk_card(1 + i, "card " + std::to_string(i / 2), 24, 77), walk_dark).accepted());
    }
    auto pair = walk_pair(1);
    pair.same_card = true;
    REQUIRE(d.submit(pair, walk_dark).accepted());
    const auto drawn = [&] {
        return d.view().draw(d.state().tasks()[*d.state().tasks().find(allot::TaskId{1})], allot::Entropy{1});
    };
    if (cards == 32) {
        CHECK(drawn().empty());  // all were tried: no node can run it
    } else {
        REQUIRE(drawn().size() == 1);
        CHECK(drawn()[0].undecided());
    }
    REQUIRE(d.configure(allot::RulesParameters{}, 1, walk_dark).accepted());
    CHECK(drawn().empty());
}

TEST_CASE("a node of many models counts as more of what is settled or renewed in one command", "[A5]") {
    auto models = std::vector<std::string>{};
    for (auto i = 0; i < 64; ++i) { models.push_back("model " + std::to_string(i)); }  // it counts as three
    const auto version = GENERATE(std::uint32_t{1}, std::uint32_t{2});
    const auto rules = allot::RulesParameters{.due_max = 4, .renewals_max = 4};
    auto d = Network{allot::Rules{rules}};
    REQUIRE(d.configure(rules, version, walk_dark).accepted());
    SECTION("leases that end") {
        for (std::uint64_t id = 1; id <= 4; ++id) {
            REQUIRE(d.join(walk_node(id, models), walk_at(0s)).accepted());
            REQUIRE(d.submit(walk_task(id), walk_at(0s)).lease() != nullptr);
        }
        REQUIRE(d.advance(walk_at(24h)).accepted());
        auto left = 0;
        for (std::uint64_t id = 1; id <= 4; ++id) { left += d.lease_of(id) ? 1 : 0; }
        CHECK(left == (version == 1 ? 0 : 2));
    }
    SECTION("exclusions that end") {
        for (std::uint64_t id = 1; id <= 4; ++id) {
            REQUIRE(d.join(walk_node(id, models), walk_at(0s)).accepted());
            for (auto i = 0; i < 3; ++i) {
                REQUIRE(d.observe(id, allot::OutcomeKind::timeout, walk_at(0s)).accepted());
            }
            REQUIRE(d.node(id)->node.excluded);
        }
        REQUIRE(d.advance(walk_at(24h)).accepted());
        auto left = 0;
        for (std::uint64_t id = 1; id <= 4; ++id) { left += d.node(id)->node.excluded ? 1 : 0; }
        CHECK(left == (version == 1 ? 0 : 2));
    }
    SECTION("bounds that are renewed") {
        for (std::uint64_t id = 1; id <= 20; ++id) { REQUIRE(d.join(walk_node(id, models), walk_at(0s)).accepted()); }
        REQUIRE(d.advance(walk_at(1s)).accepted());
        REQUIRE_FALSE(d.state().counters().ceilings.moving());
        auto whale = walk_node(99);
        whale.stake = 1'000'000'000'000;
        REQUIRE(d.join(whale, walk_at(1s)).accepted());
        const auto renewed = [&] { return d.state().counters().ceilings.renewed; };
        CHECK(renewed() == (version == 1 ? 4 : 2));
        REQUIRE(d.advance(walk_at(1s)).accepted());
        CHECK(renewed() == (version == 1 ? 8 : 4));
    }
}

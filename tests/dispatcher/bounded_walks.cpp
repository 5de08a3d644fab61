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

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>

#include <allot/explain/metrics.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace {

using namespace support;

using Measured = allot::Dispatcher<allot::ValueQueue>;

/// Says that it is monotone and looks at the task: what a bound is made for is not what is weighed.
struct Liar {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors) const -> allot::Weight {
        const auto doubled = node.stake == allot::Amount{2} && !task.id.is_null() && task.fee > allot::Amount{0};
        return allot::Weight::from_ratio(doubled ? 2 : 1, 1);
    }
};
using Deceived = allot::Dispatcher<allot::Rules, Liar>;

}  // namespace

TEST_CASE("figures are what was heard of, and how the network stands") {
    auto d = Measured{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 2}}};
    auto recorder = allot::MetricsRecorder{};
    const auto run = [&](const Measured::Command& command, const Moment& moment) {
        auto events = Events{};
        d.apply(command, moment, events, recorder.trace<Measured>());
        recorder.hear(d, events);
        return events;
    };
    (void)run(command::Join{plain_node(1)}, at(0s));
    (void)run(command::Join{with(plain_node(2), [](NodeSpec& n) { n.vram = 4_GiB; })}, at(0s));
    (void)run(command::Join{plain_node(1)}, at(0s));  // refused
    const auto first = run(command::Submit{plain_task(1)}, at(0s));
    (void)run(command::Submit{plain_task(2)}, at(0s));
    (void)run(command::Complete{leased(first)}, at(5s));  // task 2 waited five seconds
    for (auto id = 3; id <= 5; ++id) {
        (void)run(command::Submit{plain_task(id)}, at(5s));  // the third finds the queue full
    }
    CHECK(recorder.metrics(d).explanations == 0);
    recorder.explained();
    recorder.explained();
    const auto m = recorder.metrics(d);
    CHECK(m.explanations == 2);
    CHECK(m.count<event::NodeJoined>() == 2);
    CHECK(m.count<event::TaskStarted>() == 2);
    CHECK(m.count<event::TaskDone>() == 1);
    CHECK(m.count<event::TaskEvicted>() == 1);
    CHECK(m.count<event::Refused>() == 1);
    CHECK(m.refusals.at(Error::node_duplicate) == 1);
    CHECK(m.waits.count == 2);
    CHECK(m.waits.sum_ms == 5'000);
    CHECK(m.waits.buckets[0] == 1);
    CHECK(m.waits.buckets[2] == 1);
    CHECK(m.choices[static_cast<std::size_t>(allot::DecisionKind::draw)] == 1);
    CHECK(m.choices[static_cast<std::size_t>(allot::DecisionKind::pull)] == 1);
    CHECK(m.choices[static_cast<std::size_t>(allot::DecisionKind::eviction)] == 1);
    CHECK(m.queued == 2);
    CHECK(m.queue_capacity == 2);
    REQUIRE(m.queued_by_group.size() == 1);
    CHECK(m.queued_by_group[0].first.vram_min == 8_GiB);
    CHECK(m.queued_by_group[0].second == 2);
    CHECK(m.nodes[static_cast<std::size_t>(NodeState::busy)] == 1);
    CHECK(m.nodes[static_cast<std::size_t>(NodeState::available)] == 1);
    CHECK(m.leases == 1);
    CHECK(m.jain == allot::Fraction{1, 2});  // one of two did everything
    CHECK(m.top_1 == allot::Fraction{1, 1});
    CHECK(allot::MetricsRecorder{}.metrics(Measured{}).jain == allot::Fraction{0, 0});
}

TEST_CASE("a renewal of the bounds is counted when the largest stake changes much, not otherwise") {
    auto d = Measured{};
    auto recorder = allot::MetricsRecorder{};
    const auto renewals = [&](int id, std::uint64_t stake) {
        recorder.hear(d, d.join(with(plain_node(id), [&](NodeSpec& n) { n.stake = stake; }), at(0s)));
        return recorder.metrics(d).renewals;
    };
    CHECK(renewals(1, 400) == 0);  // what was before is not known
    CHECK(renewals(2, 390) == 0);
    CHECK(renewals(3, 400'000'000) == 1);
    CHECK(renewals(4, 1) == 1);
    recorder.hear(d, d.leave(3, at(1s)));
    CHECK(recorder.metrics(d).renewals == 2);
}

TEST_CASE("a node that left is forgotten, and begins anew when it comes back") {
    auto d = Measured{};
    auto recorder = allot::MetricsRecorder{};
    const auto hear = [&](const Events& events) { recorder.hear(d, events); };
    for (auto n = 1; n <= 2; ++n) { hear(d.join(support::plain_node(n), support::at({}))); }
    for (auto t = 1; t <= 2; ++t) { hear(d.submit(support::plain_task(t), support::at({}))); }
    for (auto t = 1; t <= 2; ++t) { hear(d.complete(*d.lease(t), support::at({}))); }
    CHECK(recorder.metrics(d).top_1 == allot::Fraction{1, 2});
    hear(d.leave(1, support::at({})));
    hear(d.join(support::plain_node(1), support::at({})));
    CHECK(recorder.metrics(d).top_1 == allot::Fraction{1, 1});
}

TEST_CASE("the sums of the figures agree with the network, whatever happened") {
    auto d = Measured{};
    auto chaos = support::Chaos<Measured>{support::seed()};
    auto recorder = allot::MetricsRecorder{};
    // The same counted otherwise: who did how much, which tasks that live had a start, and how many first starts there
    // were.
    auto done = std::map<allot::NodeId, std::uint64_t>{};
    auto had_a_start = std::set<allot::TaskId>{};
    auto first_starts = std::uint64_t{0};
    auto starts = std::uint64_t{0};
    auto uneven = 0;
    for (auto step = 0; step < 1'500; ++step) {
        const auto moment = chaos.moment(d);
        auto events = Events{};
        d.apply(chaos.command(d), moment, events, recorder.trace<Measured>());
        recorder.hear(d, events);
        events.each(
            [&](const event::TaskStarted& e) {
                first_starts += had_a_start.insert(e.lease.task).second ? 1U : 0U;
                ++starts;
            },
            [&](const event::TaskDone& e) {
                had_a_start.erase(e.task);
                ++done[e.node];
            },
            [&](const event::NodeLeft& e) { done.erase(e.node); },
            [&](const event::NodeKickedOut& e) { done.erase(e.node); },
            [&](const event::NodeSlashed& e) { done.erase(e.node); },
            [&](const event::NodeDisplaced& e) { done.erase(e.node); },
            [&](const event::TaskFailed& e) { had_a_start.erase(e.task); },
            [&](const event::TaskCancelled& e) { had_a_start.erase(e.task); },
            [&](const event::TaskEvicted& e) { had_a_start.erase(e.task); },
            [&](const event::TaskTimedOut& e) { had_a_start.erase(e.task); });
        const auto m = recorder.metrics(d);
        CHECK(m.waits.count == first_starts);
        auto sum = std::uint64_t{0};
        auto squares = std::uint64_t{0};
        auto most = std::uint64_t{0};
        for (const auto& [id, tasks] : done) {
            const auto* record = d.node(id);
            if (record != nullptr && record->node.present()) {
                sum += tasks;
                squares += tasks * tasks;
                most = std::max(most, tasks);
            }
        }
        CHECK(m.jain == allot::Fraction{sum * sum, d.state().present() * squares});
        CHECK(m.top_1 == allot::Fraction{most, sum});
        uneven += most < sum ? 1 : 0;
        INFO("ALLOT_SEED " << support::seed() << ", step " << step);
        auto waiting = std::uint32_t{0};
        for (const auto& group : m.queued_by_group) { waiting += group.second; }
        CHECK(waiting == d.queued());
        CHECK(std::accumulate(m.nodes.begin(), m.nodes.end(), 0U) == d.state().present());
        CHECK(m.jain.num <= m.jain.den);
        CHECK(m.top_1.num <= m.top_1.den);
        CHECK(m.count<event::TaskStarted>() == m.choices[1] + m.choices[2]);
        CHECK(m.count<event::TaskEvicted>() == m.choices[3]);
        CHECK(std::accumulate(m.waits.buckets.begin(), m.waits.buckets.end(), std::uint64_t{0}) == m.waits.count);
    }
    CHECK(starts > first_starts);  // some were tried again
    CHECK(uneven > 0);
}

TEST_CASE("weights above their bounds are counted, and nothing else is different", "[N2]") {
    const auto rules = GENERATE(allot::RulesParameters{}, allot::RulesParameters{.narrowing = allot::Narrowing::all},
                                allot::RulesParameters{.draw_among = 2});
    auto d = Deceived{allot::Rules{rules}, Liar{}};
    auto unseen = d;
    auto recorder = allot::MetricsRecorder{};
    const auto run = [&](const Deceived::Command& command, const Moment& moment) {
        auto events = Events{};
        d.apply(command, moment, events, recorder.trace<Deceived>());
        (void)unseen.apply(command, moment);
        return events;
    };
    const auto counted = [&] { return recorder.metrics(d).above_bound; };
    for (auto id = 1; id <= 2; ++id) {
        (void)run(command::Join{with(plain_node(id), [&](NodeSpec& n) { n.stake = id; })}, at(0s));
    }
    for (auto id = 1; id <= 20; ++id) {
        (void)run(command::Submit{with(paying(id, 0), [](auto& t) { t.gang_size = 2; })}, at(0s, id));
        (void)run(command::Cancel{allot::TaskId{id}}, at(0s));
    }
    CHECK(counted() == 0);
    for (auto id = 21; id <= 60; ++id) {
        (void)run(command::Submit{with(plain_task(id), [&](auto& t) { t.gang_size = id % 2 == 0 ? 2 : 1; })},
                  at(0s, id));
        (void)run(command::Cancel{allot::TaskId{id}}, at(0s));
    }
    CHECK(counted() > 20);
    // So are the lots for a copy of a model: the node that is drawn is told by its task, and the other one is asked.
    const auto before = counted();
    for (auto id = 61; id <= 80; ++id) {
        (void)run(command::Submit{with(plain_task(id), [](auto& t) { t.models = {"m" + t.id.text()}; })}, at(0s, id));
        (void)run(command::Cancel{allot::TaskId{id}}, at(0s));
    }
    CHECK(recorder.metrics(d).choices[static_cast<std::size_t>(allot::DecisionKind::copy)] > 0);
    CHECK(counted() >= before + 15);
    CHECK(d == unseen);
    CHECK(d.digest() == unseen.digest());
}

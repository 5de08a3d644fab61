// labels: jobs
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include <allot/allot.hpp>

#include "job/support/fixture.hpp"
#include "job/support/simulation.hpp"
#include "support/catch.hpp"
#include "support/network.hpp"

// What jobs teach a dispatcher. The two know nothing of each other: whoever runs both turns the events of jobs into
// commands, here in one class, and the dispatcher draws its conclusions as from its own tasks.

namespace job_test::learning {

namespace {

using allot::OutcomeKind;
using Dispatcher = allot::Dispatcher<>;
using namespace std::chrono_literals;

/// Turns the events of jobs into commands. Good marks wait until the job is settled: before that a lie looks like quick
/// work.
class Teacher {
public:
    void hear(Dispatcher& d, const allot::JobEvent& event, allot::Moment moment) {
        const auto observe = [&](const allot::NodeId& node, OutcomeKind outcome) {
            if (d.node(node) != nullptr) { support::ok(d.observe(node, outcome, moment)); }
        };
        if (const auto* done = std::get_if<allot::job_event::MicroCompleted>(&event)) {
            // Ten points within a quarter of the lease, five within it, two when it was late.
            marks_.insert_or_assign({done->job, done->key}, Mark{done->node, done->late        ? 2U
                                                                             : done->took < 4s ? 10U
                                                                                               : 5U});
        } else if (const auto* rejected = std::get_if<allot::job_event::ResultRejected>(&event)) {
            marks_.erase({rejected->job, rejected->key});
            if (rejected->reason == allot::RejectReason::culprit) {
                observe(rejected->node, OutcomeKind::incorrect_result);
            }
        } else if (const auto* expired = std::get_if<allot::job_event::LeaseExpired>(&event)) {
            observe(expired->holder, OutcomeKind::timeout);
        } else if (const auto* ended = std::get_if<allot::job_event::JobEnded>(&event)) {
            for (const auto& [which, mark] : marks_) {
                if (which.first != ended->record.job || d.node(mark.node) == nullptr) { continue; }
                support::ok(d.observe(mark.node, OutcomeKind::success, moment));
                support::ok(d.score(mark.node, mark.points, moment));
            }
            std::erase_if(marks_, [&](const auto& entry) { return entry.first.first == ended->record.job; });
        }
    }

private:
    struct Mark {
        allot::NodeId node;
        std::uint32_t points = 0;
    };
    std::map<std::pair<allot::JobId, MicroKey>, Mark> marks_;
};

/// Nodes that do jobs, and a dispatcher that hears of it. The last one cheats.
struct World {
    World() {
        for (std::uint32_t n = 0; n < nodes; ++n) {
            support::ok(d.join(support::plain_node(node_id(n)), {time, std::nullopt}));
        }
    }

    /// A job from its posting to its end, in a clean network.
    void job(std::uint64_t seed) {
        auto o = Options{};
        o.nodes = nodes;
        o.cheaters = 1;
        o.slicing = {2, 5, 1, 6, 1};
        o.boots_together = true;
        o.work_min = 2'000;
        o.work_max = 1'000;
        o.keep_events = true;
        auto simulation = Simulation{o, seed};
        const auto outcome = simulation.run();
        CHECK(outcome.outcome == allot::JobOutcome::complete);
        for (const auto& [ms, event] : simulation.events()) {
            teacher.hear(d, event, {time + allot::Duration{ms}, std::nullopt});
        }
        time += allot::Duration{outcome.ended_at} + 1min;
    }

    [[nodiscard]] auto score(std::uint32_t n) const -> allot::Score {
        const auto& record = *d.node(node_id(n));
        return d.qos().score(record.qos, time);
    }
    /// How often each node is drawn for a task of no further account.
    auto draws(int tasks) -> std::map<allot::NodeId, int> {
        auto count = std::map<allot::NodeId, int>{};
        for (auto i = 0; i < tasks; ++i) {
            const auto id = ++tasks_so_far;
            const auto placed = d.submit(support::plain_task(id), {time, allot::Entropy{id}});
            REQUIRE(placed.lease() != nullptr);
            ++count[placed.lease()->node];
            support::ok(d.cancel(id, {time, std::nullopt}));
        }
        return count;
    }

    static constexpr std::uint32_t nodes = 7;
    static constexpr std::uint32_t cheat = 6;
    Dispatcher d{};
    Teacher teacher{};
    TimePoint time{};
    int tasks_so_far = 0;
};

}  // namespace

TEST_CASE("a cheat's score falls with each job that names it, and the dispatcher avoids it") {
    auto world = World{};
    const auto before = world.draws(500);
    CHECK(before.at(node_id(World::cheat)) > 40);  // a seventh
    for (std::uint64_t seed = 1; seed <= 6; ++seed) { world.job(seed); }
    for (std::uint32_t n = 0; n < World::cheat; ++n) { CHECK(world.score(n) > world.score(World::cheat)); }
    auto after = world.draws(500);
    CHECK(after[node_id(World::cheat)] * 4 < before.at(node_id(World::cheat)));
}

TEST_CASE("leases that expire count as timeouts: a node that vanishes at its work loses score") {
    auto world = World{};
    const auto plan = plan_of({1, 5, 0, 1, 0}).macro(0);
    const auto vanishing = allot::JobNode{node_id(1), wallet_id(1), 1};
    auto queue = allot::MicroQueueReplica{plan, vanishing, {}, world.time};
    (void)queue.create(world.time);
    (void)queue.want_work(true, world.time);
    world.time += 15s;
    const auto effects = queue.tick(world.time);
    REQUIRE(effects.get<allot::job_event::LeaseExpired>() != nullptr);
    for (const auto& event : effects.events) { world.teacher.hear(world.d, event, {world.time, std::nullopt}); }
    CHECK(world.score(1) < world.score(2));
}

TEST_CASE("who is quick earns more than who is late, and nobody earns before the job is settled") {
    auto world = World{};
    const auto job = allot::JobId{1};
    const auto hear = [&](const allot::JobEvent& event) {
        world.teacher.hear(world.d, event, {world.time, std::nullopt});
    };
    const auto before = world.score(0);
    hear(allot::job_event::MicroCompleted{job, {0, 0}, node_id(0), 1s, false});
    hear(allot::job_event::MicroCompleted{job, {0, 1}, node_id(1), 10s, false});
    hear(allot::job_event::MicroCompleted{job, {0, 2}, node_id(2), 0s, true});
    CHECK(world.score(0) == before);
    hear(allot::job_event::JobEnded{{job, 1, node_id(0), allot::JobOutcome::complete, {}, {}}});
    CHECK(world.score(0) > world.score(1));
    CHECK(world.score(1) > world.score(2));
}

}  // namespace job_test::learning

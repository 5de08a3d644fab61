#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <allot/explain/task.hpp>
#include <allot/queue/share_queue.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// A requirement has a share of the queue: so many tasks for each node that fits it, has weight and has not left.

namespace shares_test {
namespace {

using namespace support;
using allot::QueueShare;
using allot::RequirementId;
using allot::ShareQueue;
using Shares = allot::Dispatcher<ShareQueue<>>;

/// So many plain nodes, and as many tasks of a requirement for each node that fits it.
auto network(int nodes, allot::Ratio tasks_per_fitting_node = 1, const allot::ValueQueueParameters& size = {})
    -> Shares {
    auto d =
        Shares{ShareQueue{allot::ValueQueue{size}, QueueShare{{.tasks_per_fitting_node = tasks_per_fitting_node}}}};
    join_plain(d, nodes);
    return d;
}
/// A task for a card that a plain node has not.
auto large(allot::TaskId id, allot::Amount fee) -> TaskSpec {
    return with(paying(id, fee), [](TaskSpec& t) { t.vram_min = 80_GiB; });
}
/// A node with that card.
auto large_node(allot::NodeId id, std::uint64_t stake) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) {
        n.vram = 80_GiB;
        n.stake = stake;
    });
}

/// The number of nodes that count for a requirement, by a look at each.
auto fitting(const Shares& d, RequirementId requirement) -> std::uint32_t {
    auto nodes = std::uint32_t{0};
    const auto& view = d.view();
    view.records.nodes().for_each([&](allot::NodeHandle, const auto& record) {
        const auto& node = record.node;
        if (!node.present() || node.stake == allot::Amount{0}) { return; }
        const auto& asked = view.records.fits().value(requirement);
        nodes += view.fitness(node.node_class, asked) == allot::Reason::none ? 1U : 0U;
    });
    return nodes;
}
/// The number of tasks of a requirement that wait in the queue, by a look at each.
auto waiting(const Shares& d, RequirementId requirement) -> std::uint32_t {
    auto tasks = std::uint32_t{0};
    d.view().records.tasks().for_each([&](allot::TaskHandle, const allot::Task& task) {
        tasks += task.requirement == requirement && task.state == allot::TaskState::queued ? 1U : 0U;
    });
    return tasks;
}

}  // namespace

TEST_CASE("tasks that only a node without stake could run are refused, however dear they are") {
    auto d = network(3);
    ok(d.join(large_node(9, 0), at(0s)));
    const auto before = d;
    CHECK(refusal(d.submit(large(1, 1'000'000), dark(0s))) == Error::task_unrunnable);
    CHECK(d == before);
    // The same with a requirement that another task has already: its own node counts as soon as it has stake.
    ok(d.update({.id = 9, .stake = 1}, dark(0s)));
    CHECK(refusal(d.submit(large(1, 1'000'000), dark(0s))) == std::nullopt);
    ok(d.update({.id = 9, .stake = 0}, dark(0s)));
    CHECK(refusal(d.submit(large(2, 2'000'000), dark(0s))) == Error::task_unrunnable);
    // Platforms in another order are the same requirement.
    const auto odd = with(large(3, 5), [](TaskSpec& t) { t.platforms_refused = {"b", "a"}; });
    CHECK(refusal(d.submit(odd, dark(0s))) == Error::task_unrunnable);
}

TEST_CASE("a requirement that has its share takes a dearer task in place of its worst, and refuses others") {
    auto d = network(10);
    ok(d.join(large_node(21, 400), dark(0s)));
    ok(d.join(large_node(22, 400), dark(0s)));
    CHECK(refusal(d.submit(large(1, 50), dark(0s))) == std::nullopt);
    CHECK(refusal(d.submit(large(2, 60), dark(0s))) == std::nullopt);
    CHECK(d.submit(large(3, 50), dark(0s)).accepted());  // as dear as the worst, and later: it is the worst
    CHECK_FALSE(is_queued(d, 3));
    CHECK(is_queued(d, 1));
    const auto before = d;
    CHECK(refusal(d.submit(large(4, 49), dark(0s))) == Error::requirement_full);
    CHECK(d == before);
    const auto odd = with(large(4, 49), [](TaskSpec& t) { t.gpus = {}; });
    CHECK(refusal(d.submit(odd, dark(0s))) == Error::requirement_full);
    // The explanation knows, of a newcomer and of a task that waits: a fee of 100 is worth one.
    const auto stays = [&](std::uint64_t fee) {
        const auto e = allot::explain(d, large(4, fee)).value();
        return !e.survives_above || e.value > *e.survives_above;
    };
    CHECK_FALSE(stays(50));
    CHECK(stays(51));
    CHECK(allot::explain(d, paying(4, 1))->survives_above == std::nullopt);
    CHECK(allot::explain(d, allot::TaskId{1})->survives_above->num() > allot::u128{50});
    CHECK(allot::explain(d, allot::TaskId{2})->survives_above->num() < allot::u128{60});
    CHECK(evicted(d.submit(large(5, 70), dark(0s))) == std::vector<std::string>{"1"});
    // Other requirements have shares of their own: a plain task fits all twelve.
    for (auto id = 100; id < 112; ++id) { CHECK(refusal(d.submit(paying(id, 1), dark(0s))) == std::nullopt); }
    CHECK(refusal(d.submit(paying(112, allot::Amount{0}), dark(0s))) == Error::requirement_full);
    CHECK(d.queued() == 14);
    // A pinned task waits at its node, outside the queue.
    const auto pinned = with(large(6, 0), [](TaskSpec& t) {
        t.node = allot::NodeId{21};
        t.owner.reset();
    });
    CHECK(refusal(d.submit(pinned, dark(0s))) == std::nullopt);
}

TEST_CASE("nodes count for a share until they leave, also at work and paused") {
    auto d = network(0);
    ok(d.join(large_node(21, 400), dark(0s)));
    ok(d.join(large_node(22, 400), dark(0s)));
    ok(d.submit(large(1, 50), at(0s)));  // it runs, so it does not wait
    ok(d.submit(large(2, 50), dark(0s)));
    ok(d.submit(large(3, 50), dark(0s)));
    CHECK(refusal(d.submit(large(4, 40), dark(0s))) == Error::requirement_full);
    ok(d.cancel(3, dark(0s)));
    CHECK(refusal(d.submit(large(4, 40), dark(0s))) == std::nullopt);
    const auto idle = state_of(d, 21) == NodeState::available ? allot::NodeId{21} : allot::NodeId{22};
    ok(d.cancel(4, dark(0s)));
    ok(d.pause(idle, dark(0s)));
    CHECK(refusal(d.submit(large(5, 40), dark(0s))) == std::nullopt);
    ok(d.leave(idle, dark(0s)));
    CHECK(refusal(d.submit(large(6, 30), dark(0s))) == Error::requirement_full);
}

TEST_CASE("a full queue gives up a task of a requirement that has its share, and not that of another") {
    auto d = network(0, 1, {.tasks_per_node = 1, .capacity_min = 2});
    ok(d.join(plain_node(1), dark(0s)));
    ok(d.join(large_node(2, 400), dark(0s)));
    ok(d.submit(paying(1, 5), dark(0s)));
    ok(d.submit(large(2, 50), dark(0s)));
    CHECK(evicted(d.submit(large(3, 60), dark(0s))) == std::vector<std::string>{"2"});
    CHECK(is_queued(d, 1));
}

TEST_CASE("a task that starts over comes back to a full share, and keeps no newcomer's place") {
    auto d = network(0);
    ok(d.join(large_node(21, 400), at(0s)));
    const auto begun = d.submit(large(1, 50), at(0s));
    ok(d.submit(large(2, 50), dark(0s)));
    const auto events = d.decline(*begun.lease(), dark(1s));
    REQUIRE(events.accepted());
    CHECK(evicted(events).empty());
    CHECK(refusal(d.submit(large(3, 40), dark(1s))) == Error::requirement_full);
}

TEST_CASE("a node that declines ever dearer tasks cannot fill the queue with them") {
    auto d = network(40);
    ok(d.join(large_node(41, 400), at(0s)));
    for (auto i = 0; i < 30; ++i) {
        const auto submitted = d.submit(large(1'000 + i, 1'000'000 + static_cast<std::uint64_t>(i)), at(0s));
        if (submitted.accepted() && submitted.lease() != nullptr) { ok(d.decline(*submitted.lease(), dark(0s))); }
    }
    // One of the share, and one that came back from the node.
    CHECK(d.queued() == 2);
    CHECK(is_queued(d, 1'028));
    CHECK(is_queued(d, 1'029));
}

TEST_CASE("shares follow any commands and rollbacks, and no requirement grows beyond its share") {
    auto checked = std::uint64_t{0};
    auto full = std::uint64_t{0};
    auto queued = std::uint64_t{0};
    for (std::uint64_t run = 0; run < 10; ++run) {
        const auto seed = support::seed() + run;
        INFO("ALLOT_SEED " << seed);
        auto d = network(0, {3, 2});
        auto chaos = Chaos<Shares>{seed, true};
        for (auto i = 0; i < 600; ++i) {
            if (chaos.below(8) == 0) {
                auto session = d.session();
                for (auto j = 0; j < 5; ++j) {
                    const auto moment = chaos.moment(d);
                    (void)d.apply(chaos.command(d), moment);
                }
                session.rollback();
            }
            const auto floods = chaos.below(2) == 0;
            const auto moment = floods ? Moment{d.now(), std::nullopt} : chaos.moment(d);
            const auto command = floods ? Shares::Command{command::Submit{with(
                                              chaos.a_task(), [&](TaskSpec& t) { t.id = allot::TaskId{1'000 + i}; })}}
                                        : chaos.command(d);
            auto before = std::map<std::uint32_t, std::uint32_t>{};  // waiting tasks, by requirement
            d.view().records.fits().requirements().for_each(
                [&](std::uint32_t r, const allot::Requirement&) { before[r] = waiting(d, RequirementId{r}); });
            const auto events = d.apply(command, moment);
            full += !events.accepted() && events.error() == Error::requirement_full ? 1U : 0U;
            const auto& view = d.view();
            view.records.fits().requirements().for_each([&](std::uint32_t r, const allot::Requirement&) {
                const auto requirement = RequirementId{r};
                const auto share = view.queue.share(fitting(d, requirement));
                REQUIRE(view.waiting_of(requirement) == waiting(d, requirement));
                REQUIRE((share == 0 || view.share_exceeds(requirement, share - 1)));
                REQUIRE(!view.share_exceeds(requirement, share));
                ++checked;
            });
            for (const auto& event : all<event::TaskQueued>(events)) {
                const auto* task = d.task(event.task);  // a later event of the command may have ended or started it
                if (task == nullptr || task->state != allot::TaskState::queued) { continue; }
                const auto nodes = fitting(d, task->requirement);
                const auto share = view.queue.share(nodes) + (task->attempt > 0 ? nodes : 0);
                // A share that shrinks evicts nothing; it takes no more than it has.
                REQUIRE(waiting(d, task->requirement) <= std::max(share, before[task->requirement.value]));
                ++queued;
            }
        }
    }
    CHECK(checked > 1'000);
    CHECK(full > 10);
    CHECK(queued > 10);
}

}  // namespace shares_test

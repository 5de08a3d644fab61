#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/journal/state_root.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace {

using namespace support;
using allot::Narrowing;
using allot::Reason;

using Ruled = allot::Dispatcher<allot::Rules>;

auto count_of(const allot::NodeExplanation& e, Reason reason) -> std::uint32_t {
    for (const auto& row : e.tasks) {
        if (row.reason == reason) { return row.count; }
    }
    return 0;
}

/// The odds of a node as the distribution of a draw has them.
template <class Dispatcher>
auto odds_in(const Dispatcher& d, const allot::TaskId& task, const allot::NodeId& node) -> allot::Odds {
    const auto all = allot::probabilities(d, task).value();
    auto odds = allot::Odds{{}, all.total, 0, static_cast<std::uint32_t>(all.nodes.size())};
    for (const auto& share : all.nodes) { odds.weight = share.node == node ? share.weight : odds.weight; }
    if (odds.weight > allot::u128{}) {
        odds.rank = 1;
        for (const auto& share : all.nodes) { odds.rank += share.weight > odds.weight ? 1U : 0U; }
    }
    return odds;
}

}  // namespace

TEST_CASE("a node is told which waiting tasks it could take, and why not the others; nothing changes by asking") {
    auto told = 0;
    auto compared = 0;
    auto improved = 0;
    for (auto run = std::uint64_t{0}; run < 6; ++run) {
        auto d =
            Ruled{allot::Rules{{.narrowing = static_cast<Narrowing>(run % 3), .class_nodes_min = run == 4 ? 2U : 0U}}};
        auto chaos = support::Chaos<Ruled>{support::seed() + run};
        for (auto step = 0; step < 300; ++step) {
            const auto moment = chaos.moment(d);
            (void)d.apply(chaos.command(d), moment);
            if (step % 10 != 0) { continue; }
            INFO("ALLOT_SEED " << support::seed() << ", run " << run << ", step " << step);
            const auto root = allot::state_root(d);
            for (auto id = std::uint64_t{0}; id < 8; ++id) {
                const auto* record = d.node(id);
                const auto e = allot::explain(d, allot::NodeId{id});
                if (record == nullptr || !record->node.present()) {
                    CHECK(e.error() == Error::node_unknown);
                    continue;
                }
                ++told;
                auto sum = e->runnable;
                for (const auto& row : e->tasks) { sum += row.count; }
                CHECK(sum == d.queued());
                CHECK(e->queued == d.queued());
                auto runnable = std::uint32_t{0};
                d.view().each_runnable(d.state().nodes().find(id).value(), [&](auto&&...) { ++runnable; });
                CHECK(e->runnable == runnable);
                for (const auto& group : e->groups) {
                    if (e->obstacle == Reason::none) {
                        CHECK(group.now == odds_in(d, group.task, id));
                        ++compared;
                    }
                    CHECK(group.now.weight <= group.now.total);
                    if (group.now.rank > 0) {
                        CHECK(group.full_quality.weight >= group.now.weight);
                        ++improved;
                    }
                }
            }
            CHECK(allot::state_root(d) == root);
        }
    }
    CHECK(told > 100);
    CHECK(compared > 50);
    CHECK(improved > 50);
}

TEST_CASE("a node learns its share and what would better it, as exact numbers") {
    auto d = allot::Dispatcher<allot::Rules>{};
    join_plain(d, 4);
    ok(d.join(with(plain_node(5),
                   [](NodeSpec& n) {
                       n.vram = 80_GiB;
                       n.stake = 1'600;
                       n.models = {"sdxl"};
                   }),
              at(0s)));
    ok(d.score(1, 10, at(0s)));
    ok(d.submit(with(paying(1, 500), [](TaskSpec& t) { t.models = {"sdxl"}; }), dark(0s)));
    ok(d.submit(with(paying(2, 100), [](TaskSpec& t) { t.vram_min = 80_GiB; }), dark(0s)));
    const auto e = allot::explain(d, allot::NodeId{2}).value();
    CHECK(e.obstacle == Reason::none);
    CHECK(e.queued == 2);
    CHECK(e.runnable == 1);
    CHECK(count_of(e, Reason::vram_too_small) == 1);
    CHECK(e.next_vram == 80_GiB);
    REQUIRE(e.groups.size() == 2);
    CHECK(e.groups[0].task == allot::TaskId{1});  // worth more
    CHECK(e.groups[0].now.rank == 0);             // narrowed to node 5, which holds the model
    CHECK(e.groups[0].now.candidates == 1);
    CHECK(e.groups[0].model == "sdxl");
    REQUIRE(e.groups[0].one_more_model);
    CHECK(e.groups[0].one_more_model->rank == 2);
    CHECK(e.groups[0].one_more_model->candidates == 2);
    CHECK(e.groups[1].now.rank == 0);
    REQUIRE(e.groups[1].next_vram);
    CHECK(e.groups[1].next_vram->candidates == 2);
    CHECK_FALSE(e.groups[1].one_more_model);

    // Each change, made for good, leads to the very odds that were told.
    const auto expect = [&](auto change, std::size_t group, std::optional<allot::Odds> told) {
        auto copy = d;
        change(copy);
        REQUIRE(told);
        CHECK(*told == odds_in(copy, e.groups[group].task, 2));
    };
    expect([](auto& c) { ok(c.update({.id = 2, .stake = 800}, dark(0s))); }, 0, e.groups[0].stake_doubled);
    expect([](auto& c) { ok(c.update({.id = 2, .vram = 80_GiB}, dark(0s))); }, 1, e.groups[1].next_vram);
    expect([](auto& c) { ok(c.report_model(2, command::Report::add, {"sdxl"}, dark(0s))); }, 0,
           e.groups[0].one_more_model);
    ok(d.submit(paying(3, 200), dark(0s)));
    const auto told = allot::explain(d, allot::NodeId{2}).value().groups;
    const auto plain = std::find_if(told.begin(), told.end(), [](const auto& g) { return g.task == allot::TaskId{3}; });
    REQUIRE((plain == told.end()));  // it waits in the group of task 1, which is the best there
    CHECK(told[0].waiting == 2);
    auto copy = d;
    ok(copy.cancel(1, dark(0s)));
    const auto before = allot::explain(copy, allot::NodeId{2}).value().groups[0];
    REQUIRE(before.task == allot::TaskId{3});
    CHECK(before.now.rank == 3);  // behind node 1, which scored better, and node 5, which staked more
    auto richer = copy;
    ok(richer.update({.id = 2, .stake = 800}, dark(0s)));
    CHECK(before.stake_doubled == odds_in(richer, 3, 2));
    CHECK(before.stake_doubled->weight > before.now.weight);
    ok(copy.score(2, 10, dark(0s)));
    CHECK(before.full_quality == odds_in(copy, 3, 2));
    // As much as is admitted cannot be doubled.
    ok(copy.update({.id = 2, .stake = allot::Amount{allot::u128{1} << 95}}, dark(0s)));
    CHECK_FALSE(allot::explain(copy, allot::NodeId{2}).value().groups[0].stake_doubled);
    CHECK(allot::explain(copy, allot::NodeId{2}, 0).value().groups.empty());
}

TEST_CASE("a node that takes no tasks at all is told so, and when that ends") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto obstacle = [&] { return allot::explain(d, allot::NodeId{1}).value().obstacle; };
    CHECK(obstacle() == Reason::none);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(obstacle() == Reason::busy);
    CHECK(allot::explain(d, allot::NodeId{1}).value().free_by == lease.deadline);
    ok(d.pause(1, at(0s)));
    CHECK(obstacle() == Reason::pending);
    ok(d.complete(lease, at(0s)));
    CHECK(obstacle() == Reason::paused);
    ok(d.resume(1, at(0s)));
    for (auto i = 0; i < 4; ++i) { ok(d.observe(1, allot::OutcomeKind::timeout, dark(0s))); }
    CHECK(obstacle() == Reason::excluded);
    const auto back = allot::explain(d, allot::NodeId{1}).value().back_at;
    REQUIRE(back);
    CHECK(d.advance({*back, 1}).get<event::NodeReadmitted>() != nullptr);
    CHECK(obstacle() == Reason::none);
    ok(d.submit(plain_task(2), dark(back->time_since_epoch())));
    CHECK(allot::explain(d, allot::NodeId{1}).value().runnable == 1);
    CHECK(allot::explain(d, allot::NodeId{2}).error() == Error::node_unknown);
}

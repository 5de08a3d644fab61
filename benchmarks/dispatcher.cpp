// The whole dispatcher: records, leases, quality of service, events; its memory; changes of stake.

#include <memory>
#include <string>
#include <vector>

#include <allot/pool/gpu_group_pool.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/composition.hpp"
#include "contestant/hub_of_allot.hpp"
#include "contestant/packed_scan.hpp"
#include "contestant/pool_of_allot.hpp"
#include "contestant/queue_of_allot.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/dependent_load.hpp"
#include "workload/dispatching.hpp"
#include "workload/draws.hpp"
#include "workload/footprint.hpp"
#include "workload/stake_changes.hpp"
#include "workload/waiting.hpp"

namespace bench { namespace {

using Ours = Dispatching<HubOfAllot<allot::ValueQueue>>;
using OursFlat = Dispatching<HubOfAllot<allot::FlatQueue>>;
using Obvious = Dispatching<Composition>;

/// Equal decisions, one by one and as a span.
void check() {
    for (const auto regime : {Regime::idle, Regime::saturated}) {
        const auto decided = [&](auto&& hub, Feed feed) { return hub.turn(5'000, feed), hub.checksum(); };
        const auto sum = decided(Obvious{2'000, regime}, Feed::one_by_one);
        same("the dispatcher and the obvious composition", decided(Ours{2'000, regime}, Feed::one_by_one), sum);
        same("the dispatcher fed by spans and the obvious composition", decided(Ours{2'000, regime}, Feed::span), sum);
        same("the dispatcher with FlatQueue and the obvious composition", decided(OursFlat{2'000, regime}, Feed::span),
             sum);
    }
}

template <class Hub>
auto calls_a_pair(Hub& hub) -> double {
    const auto pairs = std::size_t{20'000};
    return static_cast<double>(hub.allocator_calls(pairs, Feed::one_by_one)) / static_cast<double>(pairs);
}

void idle(Figures& f) {
    const auto pairs = std::size_t{20'000};
    auto ours = std::make_shared<Ours>(f.large, Regime::idle);
    auto obvious = std::make_shared<Obvious>(f.large, Regime::idle);
    auto small = std::make_shared<Ours>(1'000, Regime::idle);
    auto turns = std::vector<Contestant>{
        {"ours, one by one", pairs, turn_of(ours, Feed::one_by_one)},
        {"obvious composition", pairs, turn_of(obvious, Feed::one_by_one)},
        {"ours, span", pairs, turn_of(ours, Feed::span)},
        {"obvious composition again, so that both see the same commands", pairs, turn_of(obvious, Feed::one_by_one)},
        {"pool alone", pairs, turn_of(std::make_shared<Draws<PoolOfAllot<allot::GpuGroupPool>>>(f.large))},
        {"vectorised scan, draw only", 200, turn_of(std::make_shared<Draws<PackedScan>>(f.large))},
        {"ours, one by one, 1,000 nodes", pairs, turn_of(small, Feed::one_by_one)},
        {"ours, span, 1,000 nodes", pairs, turn_of(small, Feed::span)},
        {"dependent load, 256 MiB", 1'000'000, turn_of(std::make_shared<DependentLoad>())}};
    f.measure("whole dispatcher, idle regime, complete + submit", turns);
    same("the dispatcher and the obvious composition", ours->checksum(), obvious->checksum());
    // What the same pair costs more than in a small network, whose records are in the caches.
    const auto serial_loads = [&](std::size_t large, std::size_t little) {
        return ratio(turns[large], turns[8]) - ratio(turns[little], turns[8]);
    };
    f.at_most("whole, idle: serial loads, one by one", serial_loads(0, 6), 5.5, 4.5, "loads");
    f.at_most("whole, idle: serial loads, span", serial_loads(2, 7), 3.5, 2.8, "loads");
    f.at_most("pool alone / dependent load", ratio(turns[4], turns[8]), 2);
    f.told("whole, idle: vectorised scan / ours, one by one", ratio(turns[5], turns[0]));
    f.told("whole, idle: vectorised scan / ours, span", ratio(turns[5], turns[2]));
    f.at_least("whole, idle: obvious composition / ours, one by one", ratio(turns[1], turns[0]), 3.5);
    f.at_least("whole, idle: obvious composition / ours, span", ratio(turns[1], turns[2]), 5);
    f.told("whole, idle: ours / pool alone, one by one", ratio(turns[0], turns[4]));
    f.told("whole, idle: ours / pool alone, span", ratio(turns[2], turns[4]));
    f.at_most("allocator calls a pair, idle", calls_a_pair(*small), 0, "calls");
}

template <class Hub, class Queue>
void saturated(Figures& f, const std::string& name, double goal, double goal_span) {
    const auto pairs = std::size_t{20'000};
    auto ours = std::make_shared<Hub>(f.large, Regime::saturated);
    auto obvious = std::make_shared<Obvious>(f.large, Regime::saturated);
    auto turns = std::vector<Contestant>{{"ours with " + name + ", one by one", pairs, turn_of(ours, Feed::one_by_one)},
                                         {"obvious composition", pairs, turn_of(obvious, Feed::one_by_one)},
                                         {"ours with " + name + ", span", pairs, turn_of(ours, Feed::span)},
                                         {"obvious composition again", pairs, turn_of(obvious, Feed::one_by_one)},
                                         {name + " alone, push + best for a node", pairs,
                                          turn_of(std::make_shared<Waiting<Queue>>(f.large, Takes::best))}};
    f.measure("whole dispatcher, saturated regime, complete + submit", turns);
    same("the dispatcher and the obvious composition", ours->checksum(), obvious->checksum());
    f.at_most("whole, saturated: ours / " + name + " alone, one by one", ratio(turns[0], turns[4]), goal);
    f.at_most("whole, saturated: ours / " + name + " alone, span", ratio(turns[2], turns[4]), goal_span);
    f.told("whole, saturated: obvious composition / ours with " + name, ratio(turns[1], turns[0]));
    f.at_most("allocator calls a pair, saturated, " + name, calls_a_pair(*ours), 0, "calls");
}

void stakes(Figures& f) {
    auto changes = std::make_shared<StakeChanges<HubOfAllot<allot::ValueQueue>>>(f.large);
    auto turns =
        std::vector<Contestant>{{"stake update of an ordinary node", StakeChanges<HubOfAllot<allot::ValueQueue>>::cycle,
                                 turn_of(changes, Whose::ordinary)},
                                {"stake update of the richest, up to 16 times and back",
                                 StakeChanges<HubOfAllot<allot::ValueQueue>>::cycle, turn_of(changes, Whose::richest)}};
    f.measure("stake updates", turns);
    f.at_most("stake_max: a change of it / an ordinary update, amortised", ratio(turns[1], turns[0]), 3);
    f.told("stake_max: the longest single command of a cycle", changes->longest() * 1e-6, "ms");
}

void memory(Figures& f) {
    f.at_most("memory: hot index, a node", bytes_in_pool<allot::GpuGroupPool>(f.large), 9, "B");
    const auto bare = bytes_a_node<HubOfAllot<allot::ValueQueue>>(f.large, false);
    f.at_most("memory: in all, a node without models", bare, 190, 160, "B");
    // At fewer nodes it is more: a tree and a set of places for each model in each class are shared by fewer holders.
    const auto with_models = bytes_a_node<HubOfAllot<allot::ValueQueue>>(f.large, true);
    f.at_most("memory: a held model", (with_models - bare) / models_held, 16, "B");
    f.at_most("memory: a queued task, ValueQueue", bytes_a_task<HubOfAllot<allot::ValueQueue>>(f.large), 220, 190, "B");
    f.at_most("memory: a queued task, FlatQueue", bytes_a_task<HubOfAllot<allot::FlatQueue>>(f.large), 190, 160, "B");
}

const auto subject = Subject{"4 dispatcher", [](Figures& f) {
                                 check();
                                 idle(f);
                                 saturated<Ours, QueueOfAllot<allot::ValueQueue>>(f, "ValueQueue", 2.2, 1.7);
                                 saturated<OursFlat, QueueOfAllot<allot::FlatQueue>>(f, "FlatQueue", 4, 2.4);
                                 stakes(f);
                                 memory(f);
                             }};

template <class Workload>
void offer_all(const std::string& name) {
    for (const auto& [feed, word] : {std::pair{Feed::one_by_one, "/one_by_one"}, {Feed::span, "/span"}}) {
        for (const auto& [regime, title] : {std::pair{Regime::idle, "idle/"}, {Regime::saturated, "saturated/"}}) {
            offers().push_back({"dispatcher/" + (title + name) + word, all_sizes, 256,
                                [feed = feed, regime = regime](std::size_t nodes) {
                                    return turn_of(std::make_shared<Workload>(nodes, regime), feed);
                                }});
        }
    }
}

const auto offered = [] {
    offer_all<Ours>("ValueQueue");
    offer_all<OursFlat>("FlatQueue");
    offer_all<Obvious>("obvious");
    return true;
}();

}}  // namespace bench

// The queue alone: a task out, a task in.

#include <memory>
#include <string>
#include <vector>

#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/map_queue.hpp"
#include "contestant/multi_index_queue.hpp"
#include "contestant/queue_of_allot.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/waiting.hpp"

#ifdef ALLOT_BENCH_SQLITE
#    include "contestant/sqlite_queue.hpp"
#endif

namespace bench { namespace {

using Value = Waiting<QueueOfAllot<allot::ValueQueue>>;
using Flat = Waiting<QueueOfAllot<allot::FlatQueue>>;
using Map = Waiting<MapQueue>;
using MultiIndex = Waiting<MultiIndexQueue>;

/// All take the same tasks out, or nothing that follows means anything.
void check() {
    for (const auto takes : {Takes::best, Takes::worst, Takes::random}) {
        for (const auto blocked : {false, true}) {
            const auto taken = [&](auto&& queue) { return queue.turn(3'000), queue.checksum(); };
            const auto sum = taken(Map{4'000, takes, blocked});
            same("ValueQueue and std::map", taken(Value{4'000, takes, blocked}), sum);
            same("FlatQueue and std::map", taken(Flat{4'000, takes, blocked}), sum);
            same("MultiIndex and std::map", taken(MultiIndex{4'000, takes, blocked}), sum);
#ifdef ALLOT_BENCH_SQLITE
            same("SQLite and std::map", taken(Waiting<SqliteQueue>{4'000, takes, blocked}), sum);
#endif
        }
    }
}

auto contestants(const Figures& f, Takes takes, bool blocked) -> std::vector<Contestant> {
    auto turns = std::vector<Contestant>{
        {"ValueQueue", 20'000, turn_of(std::make_shared<Value>(f.large, takes, blocked))},
        {"FlatQueue", 20'000, turn_of(std::make_shared<Flat>(f.large, takes, blocked))},
        {"MultiIndex, three indices, lower_bound a group", 10'000,
         turn_of(std::make_shared<MultiIndex>(f.large, takes, blocked))},
        {"std::map per group", 10'000, turn_of(std::make_shared<Map>(f.large, takes, blocked))}};
#ifdef ALLOT_BENCH_SQLITE
    turns.push_back({"SQLite, ORDER BY value", blocked ? std::size_t{2} : std::size_t{500},
                     turn_of(std::make_shared<Waiting<SqliteQueue>>(f.large, takes, blocked))});
#endif
    return turns;
}

void figures(Figures& f) {
    check();
    {
        auto turns = contestants(f, Takes::best, false);
        f.measure("queue alone, push + best for a node", turns);
        f.at_least("queue, best for a node: three-index MultiIndex / ValueQueue", ratio(turns[2], turns[0]), 2);
        f.at_least("queue, best for a node: three-index MultiIndex / FlatQueue", ratio(turns[2], turns[1]), 6);
    }
    {
        auto turns = contestants(f, Takes::worst, false);
        f.measure("queue alone, push + evict", turns);
        f.told("queue, evict: three-index MultiIndex / ValueQueue", ratio(turns[2], turns[0]));
        f.told("queue, evict: three-index MultiIndex / FlatQueue", ratio(turns[2], turns[1]));
    }
    {
        auto turns = contestants(f, Takes::random, false);
        f.measure("queue alone, push + cancel", turns);
        f.told("queue, cancel: three-index MultiIndex / ValueQueue", ratio(turns[2], turns[0]));
        f.told("queue, cancel: three-index MultiIndex / FlatQueue", ratio(turns[2], turns[1]));
    }
    {
        auto turns = contestants(f, Takes::best, true);
        f.measure("queue alone, all but a thousand tasks fit no node that asks", turns);
#ifdef ALLOT_BENCH_SQLITE
        f.told("queue, incompatible heads: SQLite / ValueQueue", ratio(turns[4], turns[0]));
#endif
    }
}

const auto subject = Subject{"3 queue", figures};

template <class Workload>
void offer_all(const std::string& name) {
    offer<Workload>("queue/best/" + name, all_sizes, 256, Takes::best);
    offer<Workload>("queue/evict/" + name, all_sizes, 256, Takes::worst);
    offer<Workload>("queue/cancel/" + name, all_sizes, 256, Takes::random);
    offer<Workload>("queue/incompatible_heads/" + name, {10'000, 100'000, 1'000'000}, 4, Takes::best, true);
}

const auto offered = [] {
    offer_all<Value>("ValueQueue");
    offer_all<Flat>("FlatQueue");
    offer_all<Map>("std_map");
    offer_all<MultiIndex>("multi_index");
#ifdef ALLOT_BENCH_SQLITE
    offer_all<Waiting<SqliteQueue>>("sqlite");
#endif
    return true;
}();

}}  // namespace bench

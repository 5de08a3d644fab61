// Nanoseconds an operation against the number of nodes: what stays, what grows, and the picture of it.

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <allot/pool/gpu_group_pool.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/composition.hpp"
#include "contestant/hub_of_allot.hpp"
#include "contestant/packed_scan.hpp"
#include "contestant/pool_of_allot.hpp"
#include "contestant/record_scan.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "support/plot.hpp"
#include "workload/dispatching.hpp"
#include "workload/draws.hpp"

namespace bench { namespace {

using Ours = Dispatching<HubOfAllot<allot::ValueQueue>>;

auto contestants(std::size_t nodes, bool obvious) -> std::vector<Contestant> {
    const auto idle = std::make_shared<Ours>(nodes, Regime::idle);
    const auto full = std::make_shared<Ours>(nodes, Regime::saturated);
    auto turns = std::vector<Contestant>{
        {"scan over records, draw only", 2, turn_of(std::make_shared<Draws<RecordScan<StdSampler>>>(nodes))},
        {"vectorised scan, draw only", 200, turn_of(std::make_shared<Draws<PackedScan>>(nodes))},
        {"Dispatcher, saturated, one by one", 20'000, turn_of(full, Feed::one_by_one)},
        {"Dispatcher, saturated, span", 20'000, turn_of(full, Feed::span)},
        {"Dispatcher, idle, one by one", 20'000, turn_of(idle, Feed::one_by_one)},
        {"Dispatcher, idle, span", 20'000, turn_of(idle, Feed::span)},
        {"pool alone", 20'000, turn_of(std::make_shared<Draws<PoolOfAllot<allot::GpuGroupPool>>>(nodes))}};
    if (obvious) {
        turns.insert(turns.begin() + 2,
                     {"obvious composition, idle", 20'000,
                      turn_of(std::make_shared<Dispatching<Composition>>(nodes, Regime::idle), Feed::one_by_one)});
    }
    return turns;
}

const auto subject =
    Subject{"5 growth", [](Figures& f) {
                if (f.quick) { return; }
                auto plot = Plot{"Nanoseconds for complete + submit, by the number of nodes", "nodes", "ns"};
                for (auto nodes = std::size_t{1'000}; nodes <= f.large; nodes *= 10) {
                    auto turns =
                        contestants(nodes, nodes <= 1'000'000);  // ten million of the obvious do not fit beside ours
                    f.measure("growth, " + std::to_string(nodes) + " nodes", turns);
                    for (const auto& contestant : turns) {
                        plot.add(contestant.name, static_cast<double>(nodes), contestant.measured.min());
                        f.told("growth, " + std::to_string(nodes) + " nodes: " + contestant.name,
                               contestant.measured.min(), "ns");
                    }
                }
                if (!f.growth.empty()) {
                    std::ofstream{f.growth + ".svg"} << plot.svg();
                    std::ofstream{f.growth + ".md"} << plot.table();
                }
            }};

}}  // namespace bench

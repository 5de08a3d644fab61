// Tasks that ask for a model: 8 held a node, 1,000 in all, popularity by Zipf's law. The pool alone.

#include <memory>
#include <vector>

#include <allot/pool/gpu_group_pool.hpp>

#include "contestant/pool_of_allot.hpp"
#include "contestant/record_scan.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/draws.hpp"

namespace bench { namespace {

using Ours = Draws<PoolOfAllot<allot::GpuGroupPool>>;

void figures(Figures& f) {
    auto turns = std::vector<Contestant>{
        {"GpuGroupPool, tasks with a model", 10'000, turn_of(std::make_shared<Ours>(f.large, true))},
        {"GpuGroupPool, tasks without", 50'000, turn_of(std::make_shared<Ours>(f.large))},
        {"scan over records, std::discrete_distribution", 2,
         turn_of(std::make_shared<Draws<RecordScan<StdSampler>>>(f.large, true))}};
    f.measure("pool alone with models", turns);
    f.told("models: scan over records / ours", ratio(turns[2], turns[0]));
    f.at_most("models: with / without", ratio(turns[0], turns[1]), 4);
}

const auto subject = Subject{"2 models", figures};

const auto offered = [] {
    offer<Ours>("models/GpuGroupPool", all_sizes, 256, true);
    offer<Draws<RecordScan<StdSampler>>>("models/record_scan_std", all_sizes, 1, true);
    return true;
}();

}}  // namespace bench

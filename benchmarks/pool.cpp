// The pool alone: draw, mark busy, mark available.

#include <memory>
#include <vector>

#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>

#include "contestant/packed_scan.hpp"
#include "contestant/pool_of_allot.hpp"
#include "contestant/record_scan.hpp"
#include "support/figures.hpp"
#include "support/offer.hpp"
#include "workload/draws.hpp"

#ifdef ALLOT_BENCH_BOOST_RANDOM
#    include "contestant/boost_sampler.hpp"
#endif
#ifdef ALLOT_BENCH_GSL
#    include "contestant/gsl_sampler.hpp"
#endif

namespace bench { namespace {

using Ours = Draws<PoolOfAllot<allot::GpuGroupPool>>;

void figures(Figures& f) {
    auto turns = std::vector<Contestant>{
        {"GpuGroupPool", 50'000, turn_of(std::make_shared<Ours>(f.large))},
        {"vectorised scan over packed weights", 500, turn_of(std::make_shared<Draws<PackedScan>>(f.large))},
        {"scan over records, std::discrete_distribution", 2,
         turn_of(std::make_shared<Draws<RecordScan<StdSampler>>>(f.large))}};
#ifdef ALLOT_BENCH_BOOST_RANDOM
    turns.push_back(
        {"scan over records, boost::random", 2, turn_of(std::make_shared<Draws<RecordScan<BoostSampler>>>(f.large))});
#endif
#ifdef ALLOT_BENCH_GSL
    turns.push_back({"scan over records, GSL", 2, turn_of(std::make_shared<Draws<RecordScan<GslSampler>>>(f.large))});
#endif
    f.measure("pool alone", turns);
#ifdef __AVX2__
    f.told("pool alone: vectorised scan / ours, -O3 -march=x86-64-v3", ratio(turns[1], turns[0]));
#else
    f.told("pool alone: vectorised scan / ours", ratio(turns[1], turns[0]));
    f.told("pool alone: scan over records / ours", ratio(turns[2], turns[0]));
#endif
}

const auto subject = Subject{"1 pool", figures};

const auto offered = [] {
    auto sizes = all_sizes;
    sizes.push_back(10'000'000);
    offer<Ours>("pool/GpuGroupPool", sizes, 1'024);
    offer<Draws<PoolOfAllot<allot::LinearPool>>>("pool/LinearPool", {1'000, 10'000}, 16);
    offer<Draws<PackedScan>>("pool/packed_scan", sizes, 64);
    offer<Draws<RecordScan<StdSampler>>>("pool/record_scan_std", all_sizes, 1);
#ifdef ALLOT_BENCH_BOOST_RANDOM
    offer<Draws<RecordScan<BoostSampler>>>("pool/record_scan_boost", all_sizes, 1);
#endif
#ifdef ALLOT_BENCH_GSL
    offer<Draws<RecordScan<GslSampler>>>("pool/record_scan_gsl", all_sizes, 1);
#endif
    return true;
}();

}}  // namespace bench

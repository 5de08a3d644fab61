// Google Benchmark over subject/workload/contestant/size: --benchmark_filter=queue/best

#include <cstddef>
#include <string>

#include <benchmark/benchmark.h>

#include "support/offer.hpp"

namespace {

/// What was built last is kept, since Google Benchmark calls a function several times to find out how long to run it.
struct Built {
    std::string name;
    bench::Turn turn;
};
auto built = Built{};

void run(benchmark::State& state, const bench::Offer& offer, const std::string& name, std::size_t size) {
    if (built.name != name) {
        built = {};  // before the next is built: two of a million nodes need not fit
        built = {name, offer.build(size)};
        (void)built.turn(offer.operations);
    }
    for (auto _ : state) { state.SetIterationTime(built.turn(offer.operations) * 1e-9); }
    state.counters["an_operation"] = benchmark::Counter(
        static_cast<double>(offer.operations),
        benchmark::Counter::Flags(benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert));
}

}  // namespace

auto main(int argc, char** argv) -> int {
    for (const auto& offer : bench::offers()) {
        for (const auto size : offer.sizes) {
            const auto name = offer.name + "/" + std::to_string(size);
            benchmark::RegisterBenchmark(
                name.c_str(), [&offer, name, size](benchmark::State& state) { run(state, offer, name, size); })
                ->UseManualTime()
                ->MinTime(0.2);
        }
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) { return 1; }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

// As main.cpp, with the default dispatcher and a preset of allot::compiled.
#include <allot/compiled/crynux_trio.hpp>
#include <allot/compiled/dispatcher.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

template <class Dispatcher>
auto runs(Dispatcher dispatcher) -> bool {
    const auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    (void)dispatcher.join({.id = "relay-7", .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}, now).or_throw();
    const auto placed = dispatcher.submit({.id = 7, .vram_min = 16_GiB, .fee = 10, .duration_estimate = 20s}, now);
    return placed.accepted() && placed.lease() != nullptr;
}

auto main() -> int {
    return runs(allot::Dispatcher<>{}) && runs(allot::Dispatcher<allot::preset::CrynuxTrio>{}) ? 0 : 1;
}

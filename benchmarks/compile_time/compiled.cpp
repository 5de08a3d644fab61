// A program that uses the default dispatcher of allot::compiled.
#include <allot/compiled/dispatcher.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

auto main() -> int {
    auto dispatcher = allot::Dispatcher<>{};
    const auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    (void)dispatcher.join({.id = "relay-7", .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}, now).or_throw();
    const auto placed = dispatcher.submit({.id = 7, .vram_min = 16_GiB, .fee = 10, .duration_estimate = 20s}, now);
    return dispatcher.complete(*placed.lease(), now).accepted() ? 0 : 1;
}

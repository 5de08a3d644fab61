#include <fmt/format.h>

#include <allot/allot.hpp>
#include <allot/format.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

int main() {
    auto dispatcher = allot::Dispatcher{};
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    const auto tell = [](const allot::Events& events) {
        for (const auto& event : events) { fmt::print("{}\n", event); }
    };

    tell(dispatcher.join({.id = "relay-7", .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}, now));
    tell(dispatcher.join({.id = "relay-8", .gpu = "RTX 3060", .vram = 12_GiB, .stake = 100}, now));
    tell(dispatcher.submit({.id = 7, .vram_min = 8_GiB, .fee = 10, .duration_estimate = 20s}, now));

    // The node stays silent. The next thing that is due is the end of its lease.
    now.time = dispatcher.next_deadline().value();
    fmt::print("at {}:\n", now.time);
    tell(dispatcher.advance(now));
}

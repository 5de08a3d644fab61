#include <fmt/format.h>

#include <allot/allot.hpp>
#include <allot/format.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

// A policy of our own: model locality counts twice. It never falls when a factor rises, so draws stay O(log n).
struct LocalityFirst {
    using role = allot::role::weight;
    static constexpr bool monotone = true;

    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors f) const -> allot::Weight {
        f.boost_num *= f.boost_num;
        f.boost_den *= f.boost_den;
        return allot::HarmonicWeight{}.weight(node, task, f);
    }
};

int main() {
    // Policies are values, in any order; a role left out takes the library's default.
    auto dispatcher = allot::Dispatcher{LocalityFirst{}, allot::ValueQueue{{.tasks_per_node = 2}}};

    // Time and chance are arguments: the same inputs give the same bytes, on every machine.
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};

    (void)dispatcher.join({.id = "relay-7", .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400, .models = {"sdxl"}}, now)
        .or_throw();

    const auto placed = dispatcher.submit(
        {.id = 7, .vram_min = 16_GiB, .models = {"sdxl"}, .fee = 10, .duration_estimate = 20s}, now);
    if (!placed.accepted()) {
        fmt::print("refused: {}\n", placed.error());
    } else if (const auto* lease = placed.lease()) {
        fmt::print("task {} runs on node {}\n", lease->task, lease->node);
        now.time += 18s;
        for (const auto& event : dispatcher.complete(*lease, now)) {
            fmt::print("{}\n", event);
        }
    }
}

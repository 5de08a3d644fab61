#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/policy/candidate_pool.hpp>

#include "support/allocations.hpp"
#include "support/chance.hpp"
#include "workload/dispatching.hpp"
#include "workload/population.hpp"

namespace bench {

/// Bytes a node in a pool used alone, without models.
template <class Pool>
auto bytes_in_pool(std::size_t nodes) -> double {
    const auto profiles = population(nodes);
    const auto weights = Weights{profiles};
    auto slots = std::vector<std::uint32_t>(classes);
    const auto allocations = Allocations{};
    auto pool = Pool{};
    for (std::uint32_t h = 0; h < nodes; ++h) {
        const auto node_class = profiles[h].node_class();
        auto place = allot::NodePlace{allot::NodeHandle{h}, allot::ClassId{node_class}, slots[node_class]++, 0, 0, {}};
        const auto before = place;
        place.bound = weights.bound(profiles[h]);
        pool.changed(before, place);
    }
    return static_cast<double>(allocations.live_bytes()) / static_cast<double>(nodes);
}

/// Bytes a node in a whole dispatcher where nothing runs.
template <class Hub>
auto bytes_a_node(std::size_t nodes, bool with_models) -> double {
    auto chance = Chance{9};
    const auto profiles = population(nodes);
    const auto sets = model_sets(with_models ? nodes : 0);
    const auto allocations = Allocations{};
    auto hub = Hub{0};
    {
        auto events = allot::Events{};
        for (std::size_t i = 0; i < nodes; ++i) {
            auto spec = spec_of(profiles[i], allot::NodeId{chance.bytes()});
            if (with_models) {
                for (const auto model : sets[i]) { spec.models.push_back(model_name(model)); }
            }
            events.clear();
            hub.apply(allot::command::Join{std::move(spec)}, allot::Moment{}, events);
        }
    }
    return static_cast<double>(allocations.live_bytes()) / static_cast<double>(nodes);
}

/// Bytes a queued task in a whole dispatcher without nodes, 136 groups.
template <class Hub>
auto bytes_a_task(std::size_t tasks) -> double {
    auto chance = Chance{10};
    const auto allocations = Allocations{};
    auto hub = Hub{tasks};
    {
        auto events = allot::Events{};
        for (std::size_t i = 0; i < tasks; ++i) {
            auto task = allot::TaskSpec{.id = allot::TaskId{chance.bytes()}};
            task.vram_min = vram_of(chance.geometric(rows));
            if ((chance.next() >> 63U) != 0) { task.gpus.push_back({card_name(chance.below(cards)), {}}); }
            task.fee = chance.next() >> 16U;
            task.duration_estimate = std::chrono::milliseconds{1'800'000};
            events.clear();
            hub.apply(allot::command::Submit{std::move(task)}, allot::Moment{}, events);
        }
    }
    return static_cast<double>(allocations.live_bytes()) / static_cast<double>(tasks);
}

}  // namespace bench

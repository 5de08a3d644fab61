#pragma once

#include <cstddef>
#include <cstdint>

#include "options.hpp"
#include "scenario.hpp"

// Rules of derivation that several worlds share; `examples/data/README.md` states them in words.

namespace simulate {

/// True for `permille` in a thousand numbers.
constexpr auto falls_in(std::uint64_t number, std::uint32_t permille) -> bool { return number % 1000 < permille; }

/// How many of `scale_milli` / 1000 copies, spread evenly, fall on the item at `index`.
constexpr auto copies_of(std::uint64_t index, std::uint64_t scale_milli) -> std::uint64_t {
    return (index + 1) * scale_milli / 1000 - index * scale_milli / 1000;
}

/// Rank from 0 below `ranks`, drawn in proportion to 1 / (rank + 1).
[[nodiscard]] auto zipf(std::uint64_t number, std::size_t ranks) -> std::uint32_t;

/// Speed, kind and models on the disk of the node with this number; `base_models` is how many there are to draw from.
[[nodiscard]] auto make_node(std::uint64_t seed, std::uint64_t number, std::int64_t run_ms, std::size_t base_models)
    -> NodePlan;

void choose_software(TaskPlan& task, std::uint64_t seed, std::uint64_t number);

/// Adds a task, or the members of a validation group. A gang compares results by itself, so it is in no group.
void add_task(Scenario& scenario, TaskPlan task, std::uint64_t seed, std::uint64_t number, std::uint32_t gang_size);

void sort_by_arrival(Scenario& scenario);

/// The work of all tasks at the load of the options, in thousandths of estimated seconds.
[[nodiscard]] auto offered_work(const Scenario& scenario, const Options& options) -> std::uint64_t;

/// The scenario of a world that is drawn from written distributions (`drawn_world.cpp`).
[[nodiscard]] auto draw_scenario(const Options& options) -> Scenario;

}  // namespace simulate

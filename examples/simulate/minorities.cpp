#include "minorities.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "attacker.hpp"

namespace simulate {
namespace {

/// The tenth of the places with the least numbers.
auto least_tenth(const std::vector<std::int64_t>& numbers) -> std::vector<bool> {
    auto order = std::vector<std::size_t>(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    auto least = std::vector<bool>(numbers.size());
    for (std::size_t i = 0; i < numbers.size() / 10; ++i) { least[order[i]] = true; }
    return least;
}

}  // namespace

auto minorities_of(const Scenario& scenario, std::size_t nodes, std::size_t tasks) -> Minorities {
    auto of_card = std::vector<std::int64_t>(scenario.cards.size());
    auto stakes = std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < nodes; ++i) {
        ++of_card[scenario.nodes[i].model];
        stakes.push_back(scenario.nodes[i].stake_milli);
    }
    auto wanted = std::map<std::string, std::int64_t>{};  // by the first model; "" is that of tasks without one
    const auto model_of = [&](const TaskPlan& task) {
        const auto models = models_of(scenario, task);
        return models.empty() ? std::string{} : models.front();
    };
    for (std::size_t i = 0; i < tasks; ++i) { ++wanted[model_of(scenario.tasks[i])]; }
    auto fitting = std::vector<std::int64_t>{};
    auto popularity = std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < tasks; ++i) {
        const auto& task = scenario.tasks[i];
        const auto accepted = cards_of(scenario, task);
        auto fits = std::int64_t{0};
        for (std::uint32_t card = 0; card < of_card.size(); ++card) {
            const auto& [name, memory, vram] = scenario.cards[card];
            const auto named = std::find(accepted.begin(), accepted.end(), name) != accepted.end();
            const auto enough = vram >= task.vram_min;
            fits += (accepted.empty() ? enough : named) ? of_card[card] : 0;
        }
        fitting.push_back(fits);
        popularity.push_back(wanted[model_of(task)]);
    }
    return {least_tenth(fitting), least_tenth(popularity), least_tenth(stakes)};
}

}  // namespace simulate

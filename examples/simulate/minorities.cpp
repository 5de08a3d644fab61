#include "minorities.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

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
    auto wanted = std::map<std::uint32_t, std::int64_t>{};
    for (std::size_t i = 0; i < tasks; ++i) { ++wanted[scenario.tasks[i].software]; }
    auto fitting = std::vector<std::int64_t>{};
    auto popularity = std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < tasks; ++i) {
        const auto& task = scenario.tasks[i];
        const auto& accepted = scenario.row_cards[task.row];
        auto fits = std::int64_t{0};
        for (std::uint32_t card = 0; card < of_card.size(); ++card) {
            const auto named = std::find(accepted.begin(), accepted.end(), card) != accepted.end();
            const auto enough = scenario.cards[card].vram >= task.vram_min;
            fits += (accepted.empty() ? enough : named) ? of_card[card] : 0;
        }
        fitting.push_back(fits);
        popularity.push_back(wanted[task.software]);
    }
    return {least_tenth(fitting), least_tenth(popularity), least_tenth(stakes)};
}

}  // namespace simulate

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/core/score.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/core/units.hpp>
#include <allot/core/weight.hpp>

#include "support/chance.hpp"

namespace bench {

inline constexpr std::uint32_t rows = 8;    // sizes of VRAM
inline constexpr std::uint32_t cards = 16;  // names of GPUs
inline constexpr std::uint32_t any_card = cards;
inline constexpr std::uint32_t classes = rows * cards;
inline constexpr std::uint32_t groups = rows * (cards + 1);  // 136: each size with "any" and with each card
inline constexpr std::uint32_t models_total = 1'000;
inline constexpr std::uint32_t models_held = 8;

inline auto vram_of(std::uint32_t row) -> allot::Gibibytes {
    constexpr auto sizes = std::array<std::uint32_t, rows>{4, 6, 8, 12, 16, 24, 48, 80};
    return {sizes[row]};
}
inline auto card_name(std::uint32_t card) -> std::string {
    return std::string{"GPU "} + static_cast<char>('0' + card / 10) + static_cast<char>('0' + card % 10);
}
inline auto model_name(std::uint32_t model) -> std::string { return "model-" + std::to_string(model); }

/// One node as the workloads see it.
struct Profile {
    std::uint32_t row = 0;
    std::uint32_t card = 0;
    std::uint64_t stake = 0;
    std::uint32_t points = 10;  ///< Verdict on its first task, of 10.
    [[nodiscard]] auto node_class() const -> std::uint32_t { return row * cards + card; }
};

/// The nodes of all workloads: most are small (each size of VRAM half as frequent as the one below), cards are equally
/// frequent, stakes log-normal, scores from 0.2 to 1.
inline auto population(std::size_t count) -> std::vector<Profile> {
    auto chance = Chance{1};
    auto nodes = std::vector<Profile>(count);
    for (auto& node : nodes) {
        node.row = chance.geometric(rows);
        node.card = chance.below(cards);
        node.stake = static_cast<std::uint64_t>(1e12 * chance.log_normal(1)) + 1;
        node.points = 2 + chance.below(9);
    }
    return nodes;
}

/// Size of a task that may have to wait: each a quarter as frequent as the one below. With the mix of the nodes the
/// large tasks would pile up, for large nodes run small tasks too, and in the end no small node would find a task.
inline auto waiting_row(Chance& chance) -> std::uint32_t {
    return std::min(chance.geometric(rows), chance.geometric(rows));
}

/// For each node, models by Zipf's law, ascending and without duplicates.
inline auto model_sets(std::size_t count) -> std::vector<std::array<std::uint32_t, models_held>> {
    auto chance = Chance{2};
    const auto zipf = Zipf{models_total};
    auto sets = std::vector<std::array<std::uint32_t, models_held>>(count);
    for (auto& set : sets) {
        for (std::size_t filled = 0; filled < set.size();) {
            const auto model = zipf(chance);
            const auto end = set.begin() + static_cast<std::ptrdiff_t>(filled);
            if (std::find(set.begin(), end, model) == end) { set[filled++] = model; }
        }
        std::sort(set.begin(), set.end());
    }
    return sets;
}

/// Weights and bounds of a population, as the dispatcher computes them.
class Weights {
public:
    explicit Weights(const std::vector<Profile>& nodes) {
        for (const auto& node : nodes) { root_max_ = std::max(root_max_, root(node)); }
        ceiling_ = allot::ceil_power_of_two(root_max_);
    }

    /// The weight now, in the scale of bounds. `boost` is the locality in tenths.
    [[nodiscard]] auto now(const Profile& node, std::uint64_t boost = 10) const -> allot::Weight {
        const auto weight = allot::harmonic({root(node), root_max_, score(node), boost, 10});
        return allot::at_stake_root_ceiling(weight, root_max_, ceiling_);
    }
    [[nodiscard]] auto bound(const Profile& node, std::uint64_t boost = 10) const -> std::uint32_t {
        return allot::bound_of(allot::harmonic({root(node), ceiling_, score(node), boost, 10}));
    }

private:
    static auto root(const Profile& node) -> allot::StakeRoot { return allot::StakeRoot::from(node.stake); }
    static auto score(const Profile& node) -> allot::Score { return allot::Score::from_ratio(node.points, 10); }

    allot::StakeRoot root_max_{};
    allot::StakeRoot ceiling_{};
};

}  // namespace bench

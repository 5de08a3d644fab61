#pragma once

#include <cstdint>
#include <functional>

#include "adversary/adversary.hpp"

namespace simulate {

/// Seeds 1 to 20 are for searching knobs; attacks are judged on those behind them.
inline constexpr auto search_seeds = std::uint64_t{20};

/// The knobs with which a case is judged. This is the place of the search: `gain_of` plays knobs on the search seeds
/// and returns what the attacker maximises; each knob may move from its `min` to its `max`. Today the knobs are those
/// that the case states, and `gain_of` is not called.
[[nodiscard]] inline auto best_response(const Recipe& recipe, const Case& chosen,
                                        const std::function<double(const Knobs&)>& /*gain_of*/) -> Knobs {
    auto knobs = Knobs{recipe.knobs};
    for (const auto& [name, value] : chosen.knobs) { knobs.set(name, value); }
    return knobs;
}

}  // namespace simulate

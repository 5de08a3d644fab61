#pragma once

#include <cstddef>
#include <vector>

#include "scenario.hpp"

namespace simulate {

/// Those whom a rule may hit although the average does not show it: a tenth each, by task or by node. Among equals the
/// earlier ones belong to it.
struct Minorities {
    std::vector<bool> rare_card{};    ///< Tasks that the fewest nodes have the card and the memory for.
    std::vector<bool> rare_model{};   ///< Tasks whose model is wanted least.
    std::vector<bool> small_stake{};  ///< Nodes of the smallest stakes.
};

/// The minorities of a scenario among its first nodes, so many, and its first tasks, so many.
/// @complexity O(tasks · cards + n log n).
[[nodiscard]] auto minorities_of(const Scenario& scenario, std::size_t nodes, std::size_t tasks) -> Minorities;

}  // namespace simulate

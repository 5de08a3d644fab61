#pragma once

#include <cstdint>
#include <vector>

#include "attacker.hpp"
#include "ledger.hpp"
#include "money.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "scenario.hpp"
#include "trace.hpp"

namespace simulate {

/// A run: its results, and the records of every task and node.
struct Run {
    Results results{};
    Scenario scenario{};  ///< With the attacker's nodes and tasks behind the honest ones.
    std::uint32_t honest_nodes = 0;
    std::uint32_t honest_tasks = 0;
    std::vector<TaskEntry> tasks{};
    std::vector<NodeEntry> nodes{};
    Money money{};
    std::uint64_t state_bytes = 0;  ///< As `Network::state_bytes` at the end.
};

/// Plays `scenario` against a dispatcher in virtual time, with an attacker or without. Deterministic except for the
/// wall clock in the results. Throws `MoneyError` if the ledger does not balance, `std::invalid_argument` for a wrong
/// setting.
[[nodiscard]] auto simulate(const Trace& trace, Scenario scenario, const Options& options, Progress::Style style,
                            Attacker* attacker = nullptr) -> Run;

}  // namespace simulate

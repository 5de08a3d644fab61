#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "scenario.hpp"
#include "trace.hpp"

namespace simulate {

/// Returns the values of `--preset`.
[[nodiscard]] auto preset_names() -> std::vector<std::string>;

/// Plays `scenario` against a dispatcher in virtual time. Deterministic except for the wall clock in the results.
[[nodiscard]] auto simulate(const Trace& trace, const Scenario& scenario, const Options& options, Progress::Style style)
    -> Results;

}  // namespace simulate

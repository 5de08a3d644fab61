#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "scenario.hpp"
#include "trace.hpp"

namespace simulate {

/// Names that `--preset` takes.
[[nodiscard]] auto preset_names() -> std::vector<std::string>;

/// Plays `scenario` against a dispatcher in virtual time. Deterministic but for the wall clock in the results.
[[nodiscard]] auto simulate(const Trace& trace, const Scenario& scenario, const Options& options, Progress::Style style)
    -> Results;

}  // namespace simulate

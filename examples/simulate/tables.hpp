#pragma once

#include <string>

#include "world.hpp"

namespace simulate {

/// One row a task, and one row a node, as CSV with a header. Times are seconds since the start.
[[nodiscard]] auto tasks_csv(const Run& run) -> std::string;
[[nodiscard]] auto nodes_csv(const Run& run) -> std::string;

}  // namespace simulate

#pragma once

#include <string>

#include "results.hpp"

namespace simulate {

/// The results as text for a terminal.
[[nodiscard]] auto to_text(const Results& results) -> std::string;

}  // namespace simulate

#pragma once

#include <string>

#include "results.hpp"

namespace simulate {

/// The results as JSON, the same document that the report carries. Only the part `wall_clock` differs between equal runs.
[[nodiscard]] auto to_json(const Results& results) -> std::string;

/// The results as one page that needs nothing else: style, charts and data are inside, and no request leaves it.
[[nodiscard]] auto to_html(const Results& results) -> std::string;

}  // namespace simulate

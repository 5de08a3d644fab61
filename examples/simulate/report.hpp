#pragma once

#include <string>

#include "results.hpp"

namespace simulate {

/// The results as JSON, the same document as in the report. Only the part `wall_clock` differs between equal runs.
[[nodiscard]] auto to_json(const Results& results) -> std::string;

/// The results as one self-contained page: style, charts and data are inside, and it makes no request.
[[nodiscard]] auto to_html(const Results& results) -> std::string;

}  // namespace simulate

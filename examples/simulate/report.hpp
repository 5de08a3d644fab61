#pragma once

#include <string>

#include "options.hpp"
#include "world.hpp"

namespace simulate {

/// The results as JSON, the same document as in the report. Only the part `wall_clock` differs between equal runs; it
/// is no part of `digest`.
[[nodiscard]] auto to_json(const Run& run, const Options& options) -> std::string;

/// The results as one self-contained page: style, charts and data are inside, and it makes no request.
[[nodiscard]] auto to_html(const Run& run, const Options& options) -> std::string;

}  // namespace simulate

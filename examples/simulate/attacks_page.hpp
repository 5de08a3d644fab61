#pragma once

#include <string>

#include "page.hpp"

namespace simulate {

/// A page of Markdown with new contents between its marks. `<!-- attacks -->` and `<!-- /attacks -->` hold the
/// sentences and rows of all adversaries, `<!-- figures -->` and `<!-- /figures -->` the table of a comparison of one
/// or two presets, `presets` that of more, `costs` that of rules without an attack; without a comparison these stay as
/// they are. Throws `std::runtime_error` if a mark is missing.
[[nodiscard]] auto attacks_page(std::string page, const Json* comparison) -> std::string;

}  // namespace simulate

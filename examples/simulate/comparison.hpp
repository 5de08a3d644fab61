#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare.hpp"
#include "page.hpp"

namespace simulate {

/// All of a comparison that is shown, wherever: the page's data, and the table of `docs/attacks.md`.
///
/// A measure has its `value` and `error`, as `shown` it is a text that every reader is given, and where a limit exists
/// the `limit` and the `verdict`.
[[nodiscard]] auto document_of(const std::vector<Judged>& all, const std::vector<Contender>& contenders,
                               const std::vector<Played>& fields, const Options& options) -> Json;

/// The document as one self-contained page.
[[nodiscard]] auto comparison_page(const Json& document) -> std::string;

/// An adversary in the sentences of its recipe.
[[nodiscard]] auto sentences_of(const Recipe& recipe) -> Json;

}  // namespace simulate

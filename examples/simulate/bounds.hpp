#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measures.hpp"

namespace simulate {

/// A line of a file of bounds: `ROW PRESET WORLD LOAD MEASURE <= BOUND`, such as `5b hardened small 80 harm_share <=
/// 2`. A preset stands there as it is: no parameter may be set in it. `#` begins a comment.
struct Bound {
    std::string file{};
    std::size_t line = 0;
    std::string row{};
    std::string preset{};
    std::string world{};
    std::uint32_t load_percent = 0;
    std::string measure{};
    double most = 0;
};

/// Reads a file of bounds. Throws `InputError` that names file, line and column.
[[nodiscard]] auto read_bounds(const std::string& path) -> std::vector<Bound>;

/// The text of a file of bounds with other numbers in it, rounded up to four digits. All else stays as it is.
[[nodiscard]] auto with_bounds(const std::string& path, const std::vector<Bound>& bounds,
                               const std::vector<double>& most) -> std::string;

}  // namespace simulate

#pragma once

#include <cstdlib>

namespace support {

/// Returns the number of runs. ALLOT_LONG=1 selects the long form, for campaigns.
inline auto runs(int in_short, int in_long) -> int {
    const auto* given = std::getenv("ALLOT_LONG");
    return given != nullptr && *given != '\0' && *given != '0' ? in_long : in_short;
}

}  // namespace support

#pragma once

#include <cstdlib>
#include <filesystem>

namespace support {

/// The folder of the recorded cases: tests/vectors, or what the environment variable ALLOT_VECTORS names.
inline auto vectors() -> std::filesystem::path {
    const auto* given = std::getenv("ALLOT_VECTORS");
    return given != nullptr && *given != '\0' ? std::filesystem::path{given}
                                              : std::filesystem::path{ALLOT_TESTS_DIR} / "vectors";
}

}  // namespace support

namespace allot_test {
using support::vectors;
}  // namespace allot_test

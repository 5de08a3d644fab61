#pragma once

#include <string>

#include <fmt/format.h>

#include <allot/version.hpp>

namespace simulate {

/// The version of the library, such as "0.6.0".
[[nodiscard]] inline auto version_text() -> std::string {
    return fmt::format("{}.{}.{}", ALLOT_VERSION_MAJOR, ALLOT_VERSION_MINOR, ALLOT_VERSION_PATCH);
}

}  // namespace simulate

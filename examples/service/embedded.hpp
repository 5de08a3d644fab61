#pragma once

#include <string_view>

// Files that CMake puts into the program.

namespace service::embedded {

extern const std::string_view page;
extern const std::string_view openapi;

}  // namespace service::embedded

#pragma once

#include <string_view>

namespace simulate::embedded {

/// Files that the build puts into the program; see `embed.cmake`.
extern const std::string_view report_page;
extern const std::string_view compare_page;
extern const std::string_view page_style;
extern const std::string_view page_script;
extern const std::string_view chart_library;

}  // namespace simulate::embedded

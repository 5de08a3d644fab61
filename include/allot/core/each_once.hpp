#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace allot { inline namespace v0 {

/// Sorts a list and removes its duplicates.
/// @complexity O(n log n).
template <class List>
void canonical(List& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// The names of a list, each once, in order of their bytes. They are views into the list.
/// @complexity O(n log n); it moves words, and no text.
[[nodiscard]] inline auto each_once(const std::vector<std::string>& names) -> std::vector<std::string_view> {
    auto once = std::vector<std::string_view>(names.begin(), names.end());
    canonical(once);
    return once;
}

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <allot/json.hpp>

namespace replay {

using allot::Json;

/// The first difference of two values.
struct Difference {
    std::string field{};  ///< Path of the field, as in "task.models[2]"; empty for the whole value.
    Json first{};         ///< Value in the first; null if absent.
    Json second{};        ///< Value in the second; null if absent.
};

/// Returns the path of the field `name` in the object at path `field`.
[[nodiscard]] inline auto within(const std::string& field, std::string_view name) -> std::string {
    return (field.empty() ? "" : field + ".") + std::string{name};
}

/// Returns the first field in which two values differ, in the order of the first one's fields; none if they are equal.
[[nodiscard]] inline auto first_difference(const Json& a, const Json& b, const std::string& field = {})
    -> std::optional<Difference> {
    if (a.is_object() && b.is_object()) {
        for (const auto& [name, value] : a.items()) {
            const auto found = b.find(name);
            if (auto inner = first_difference(value, found == b.end() ? Json() : *found, within(field, name))) {
                return inner;
            }
        }
        for (const auto& [name, value] : b.items()) {
            if (!a.contains(name)) { return Difference{within(field, name), {}, value}; }
        }
        return std::nullopt;
    }
    if (a.is_array() && b.is_array()) {
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
            const auto at = [&](const Json& list) { return i < list.size() ? list[i] : Json(); };
            if (auto inner = first_difference(at(a), at(b), field + "[" + std::to_string(i) + "]")) { return inner; }
        }
        return std::nullopt;
    }
    return a == b ? std::nullopt : std::optional{Difference{field, a, b}};
}

}  // namespace replay

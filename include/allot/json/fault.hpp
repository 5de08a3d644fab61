#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why a text is not the expected JSON.
struct JsonFault {
    std::size_t line = 0;  ///< Line, counted from 1, if the caller reads several lines and fills it in; else 0.
    std::string field{};   ///< Path of the field, as in "node.models[2]"; empty for the whole text.
    std::string text{};    ///< The value expected there, or the objection.

    /// Returns one sentence with line, field and text. @complexity linear in its length.
    [[nodiscard]] auto message() const -> std::string {
        return (line == 0 ? "" : "line " + std::to_string(line) + ": ") + (field.empty() ? "" : field + ": ") + text;
    }
};

namespace detail {

/// The path of a value in a JSON text, as a chain of its surrounding values. Becomes text only for a fault.
struct JsonPlace {
    const JsonPlace* around = nullptr;  ///< The surrounding value; null for the whole text.
    /// Name of the field in an object; may be empty. Its `data()` is null in a list.
    std::string_view name{};
    std::size_t index = 0;  ///< Index in a list.

    /// Returns the path of the field `field` of this value. @pre This value outlives the result.
    [[nodiscard]] auto in(std::string_view field) const noexcept -> JsonPlace { return {this, field, 0}; }
    /// Returns the path of the `i`-th element of this list. @pre This value outlives the result.
    [[nodiscard]] auto at(std::size_t i) const noexcept -> JsonPlace { return {this, {}, i}; }

    /// Returns the path as text. @complexity linear in its length times its depth.
    [[nodiscard]] auto text() const -> std::string {
        if (around == nullptr) { return {}; }
        const auto before = around->text();
        if (name.data() == nullptr) { return before + "[" + std::to_string(index) + "]"; }
        return (before.empty() ? "" : before + ".") + std::string{name};
    }
};

}  // namespace detail

}}  // namespace allot::v0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why a text is not the JSON of what was to be read.
struct JsonFault {
    std::size_t line = 0;  ///< From 1, for whoever reads a text of many lines to fill in; 0 where there is but one.
    std::string field{};   ///< As in "node.models[2]"; empty for the text as a whole.
    std::string text{};    ///< What was expected there.

    /// One sentence with all of it.
    [[nodiscard]] auto message() const -> std::string {
        return (line == 0 ? "" : "line " + std::to_string(line) + ": ") + (field.empty() ? "" : field + ": ") + text;
    }
};

namespace detail {

/// Where a value stands in the values around it. It is written out only for a fault.
struct JsonPlace {
    const JsonPlace* around = nullptr;  ///< Null for the whole.
    std::string_view name{};            ///< In an object, where it may be empty; without data in a list.
    std::size_t index = 0;              ///< In a list.

    [[nodiscard]] auto in(std::string_view field) const noexcept -> JsonPlace { return {this, field, 0}; }
    [[nodiscard]] auto at(std::size_t i) const noexcept -> JsonPlace { return {this, {}, i}; }

    [[nodiscard]] auto text() const -> std::string {
        if (around == nullptr) {
            return {};
        }
        const auto before = around->text();
        if (name.data() == nullptr) {
            return before + "[" + std::to_string(index) + "]";
        }
        return (before.empty() ? "" : before + ".") + std::string{name};
    }
};

}  // namespace detail

}}  // namespace allot::v0

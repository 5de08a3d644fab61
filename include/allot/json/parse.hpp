#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <allot/json/fault.hpp>

namespace allot { inline namespace v0 {

/// JSON with its fields in their original order.
using Json = nlohmann::ordered_json;

namespace detail {

/// Limits far above any valid value. They bound the cost of a text: the parser compares each field with the earlier
/// ones of its object, and each nested list or object allocates.
inline constexpr auto json_fields_max = std::size_t{256};
inline constexpr auto json_depth_max = std::size_t{32};

/// Parses a text from an untrusted sender. A fault ends parsing; syntax errors throw nothing. Unlike nlohmann's parser,
/// it refuses a repeated field and values that would cost much.
class JsonParser {
public:
    /// Parses `text`. @complexity linear in the text, times at most `json_fields_max`.
    explicit JsonParser(std::string_view text) {
        if (!Json::sax_parse(text, this) && !fault_) { refuse({}, "not JSON"); }
    }
    JsonParser(const JsonParser&) = delete;
    auto operator=(const JsonParser&) -> JsonParser& = delete;

    /// The parsed value; meaningful only without a fault.
    [[nodiscard]] auto json() const noexcept -> const Json& { return root_; }
    /// The first fault; none if the text is JSON within the limits.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<JsonFault>& { return fault_; }

    // `Json::sax_parse` calls these functions; `false` ends parsing.

    auto null() -> bool { return add(Json()); }
    auto boolean(bool value) -> bool { return add(Json(value)); }
    auto number_integer(Json::number_integer_t value) -> bool { return add(Json(value)); }
    auto number_unsigned(Json::number_unsigned_t value) -> bool { return add(Json(value)); }
    /// Keeps a number with a fraction, so that the reader refuses it with its path: no value is read from such a
    /// number.
    auto number_float(Json::number_float_t value, const std::string& /*text*/) -> bool { return add(Json(value)); }
    auto string(std::string& value) -> bool { return add(Json(std::move(value))); }
    auto binary(Json::binary_t& /*value*/) -> bool { return refuse({}, "not JSON"); }
    auto start_object(std::size_t /*size*/) -> bool { return open(Json::object()); }
    auto start_array(std::size_t /*size*/) -> bool { return open(Json::array()); }
    auto end_object() -> bool { return close(); }
    auto end_array() -> bool { return close(); }
    auto key(std::string& name) -> bool {
        auto& object = *open_.back();
        if (object.size() == json_fields_max) {
            return refuse({}, "an object has more than " + std::to_string(json_fields_max) + " fields");
        }
        const auto [place, is_new] = object.emplace(name, Json());
        if (!is_new) { return refuse(std::move(name), "this field stands twice"); }
        field_ = &*place;
        return true;
    }
    auto parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& error) -> bool {
        // nlohmann says "[json.exception.parse_error.101] parse error at line 1, column 5: ..."; its line number is
        // dropped here
        const auto what = std::string_view{error.what()};
        const auto column = what.find("column");
        const auto text = column == std::string_view::npos ? what.substr(what.find(']') + 2) : what.substr(column);
        return refuse({}, "not JSON: " + std::string{text});
    }

private:
    auto refuse(std::string field, std::string text) -> bool {
        fault_ = JsonFault{0, std::move(field), std::move(text)};
        return false;
    }
    auto add(Json&& value) -> bool {
        (void)place(std::move(value));
        return true;
    }
    auto open(Json&& value) -> bool {
        if (open_.size() == json_depth_max) {
            return refuse({}, "lists and objects are nested more than " + std::to_string(json_depth_max) + " deep");
        }
        open_.push_back(place(std::move(value)));
        return true;
    }
    auto close() -> bool {
        open_.pop_back();
        return true;
    }
    /// Stores a value in the innermost open list or object, or as the root, and returns its place.
    auto place(Json&& value) -> Json* {
        auto* const into = open_.empty() ? &root_ : open_.back()->is_array() ? &appended(*open_.back()) : field_;
        *into = std::move(value);
        return into;
    }
    static auto appended(Json& list) -> Json& {
        list.push_back(Json());
        return list.back();
    }

    Json root_{};
    // open lists and objects, the innermost last; the others do not move, because only the innermost grows
    std::vector<Json*> open_{};
    Json* field_ = nullptr;  // receives the next value
    std::optional<JsonFault> fault_{};
};

}  // namespace detail

}}  // namespace allot::v0

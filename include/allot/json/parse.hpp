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

/// JSON that keeps the order of its fields.
using Json = nlohmann::ordered_json;

namespace detail {

/// No value comes near these. They bound what a text may cost: each field is looked for among those before it in its object, and
/// each list or object within another takes memory of its own.
inline constexpr auto json_fields_max = std::size_t{256};
inline constexpr auto json_depth_max = std::size_t{32};

/// Makes a value of a text of strangers; a fault ends it, and nothing is thrown. Unlike nlohmann's own it refuses a field that
/// stands twice, and what would cost much.
class JsonParser {
public:
    explicit JsonParser(std::string_view text) {
        if (!Json::sax_parse(text, this) && !fault_) {
            refuse({}, "not JSON");
        }
    }
    JsonParser(const JsonParser&) = delete;
    auto operator=(const JsonParser&) -> JsonParser& = delete;

    /// Meaningful without a fault.
    [[nodiscard]] auto json() const noexcept -> const Json& { return root_; }
    [[nodiscard]] auto fault() const noexcept -> const std::optional<JsonFault>& { return fault_; }

    // What Json::sax_parse calls; false ends it.

    auto null() -> bool { return add(Json()); }
    auto boolean(bool value) -> bool { return add(Json(value)); }
    auto number_integer(Json::number_integer_t value) -> bool { return add(Json(value)); }
    auto number_unsigned(Json::number_unsigned_t value) -> bool { return add(Json(value)); }
    /// Nothing reads such a number; it is kept to be refused where it stands.
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
        if (!is_new) {
            return refuse(std::move(name), "this field stands twice");
        }
        field_ = &*place;
        return true;
    }
    auto parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& error) -> bool {
        // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...", whose line is not ours
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
    /// Puts a value where it belongs, and says where that is.
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
    std::vector<Json*> open_{};  // the innermost last; none of them moves, for only the innermost grows
    Json* field_ = nullptr;      // whose value comes next
    std::optional<JsonFault> fault_{};
};

}  // namespace detail

}}  // namespace allot::v0

#pragma once

#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/command_fields.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/events.hpp>
#include <allot/core/name.hpp>
#include <allot/core/printable.hpp>
#include <allot/core/score.hpp>
#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/json/kind.hpp>
#include <allot/json/parse.hpp>
#include <allot/store/record_fields.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// True if the text is valid UTF-8, so that JSON can hold it unchanged. @complexity linear in the text.
[[nodiscard]] inline auto is_utf8(std::string_view text) noexcept -> bool {
    while (!text.empty()) {
        const auto [code, size] = first_character(text);
        if (code == 0xFFFD && size == 1) { return false; }
        text.remove_prefix(size);
    }
    return true;
}

/// Returns two hex digits for each byte. @complexity linear in the bytes.
[[nodiscard]] inline auto hex_of_bytes(std::string_view bytes) -> std::string {
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    auto out = std::string{};
    for (const auto c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

/// Converts values to JSON. Ids and amounts too large for a binary floating-point number are written as text, because
/// many languages read JSON numbers as such and would round them. @complexity linear in the value.
class JsonWriter {
public:
    /// Returns the value as JSON. Throws `std::bad_alloc` only.
    template <class T>
    [[nodiscard]] static auto of(const T& value) -> Json {
        if constexpr (std::is_integral_v<T>) {
            return Json(value);
        } else if constexpr (std::is_enum_v<T>) {
            return Json(enumerator_name(value));
        } else if constexpr (std::is_same_v<T, u128>) {
            return Json(to_decimal(value));
        } else if constexpr (std::is_same_v<T, Amount>) {
            return Json(to_decimal(value.units));
        } else if constexpr (std::is_same_v<T, Gibibytes>) {
            return Json(value.count);
        } else if constexpr (std::is_same_v<T, Duration>) {
            return Json(value.count());
        } else if constexpr (std::is_same_v<T, TimePoint>) {
            return Json(value.time_since_epoch().count());
        } else if constexpr (std::is_same_v<T, Ratio>) {
            return quotient(value.num, value.den);
        } else if constexpr (std::is_same_v<T, Score>) {
            const auto divisor = std::gcd(value.raw(), Score::one().raw());
            return quotient(value.raw() / divisor, Score::one().raw() / divisor);
        } else if constexpr (std::is_same_v<T, Value>) {
            return quotient(value.num(), value.den());
        } else if constexpr (std::is_same_v<T, Entropy>) {
            return Json(Id<struct EntropyTag>{value.bytes()}.hex());
        } else if constexpr (std::is_same_v<T, Events>) {
            return list(value);
        } else if constexpr (has_alternatives<T>) {
            return alternative(value);
        } else if constexpr (is_log_entry<T>) {
            auto object = Json::object();
            put_fields(object, value.moment);
            put_kind(object, value.command);
            return object;
        } else if constexpr (has_fields<T>) {
            auto object = Json::object();
            put_fields(object, value);
            return object;
        } else {
            return of_others(value);
        }
    }

private:
    /// Adds the fields of a struct to an object; an empty `std::optional` adds no field.
    template <class T>
    static void put_fields(Json& object, const T& value) {
        each_field(value, [&](std::string_view name, const auto& field) {
            if (auto json = of(field); !json.is_null()) { object[std::string{name}] = std::move(json); }
        });
    }
    /// Adds the name of an alternative and its fields to an object.
    template <class T>
    static void put_kind(Json& object, const T& value) {
        std::visit(
            [&]<class A>(const A& chosen) {
                object[std::string{json_kind<T>}] = type_name<A>();
                put_fields(object, chosen);
            },
            static_cast<const alternatives_of<T>&>(value));
    }
    template <class T>
    static auto alternative(const T& value) -> Json {
        auto object = Json::object();
        if constexpr (!json_kind<T>.empty()) {
            put_kind(object, value);
        } else {
            std::visit([&]<class P>(const P& chosen) { object[std::string{type_name<P>()}] = of(chosen); },
                       static_cast<const alternatives_of<T>&>(value));
        }
        return object;
    }
    static auto quotient(u128 num, std::uint32_t den) -> Json {
        return Json(to_decimal(num) + "/" + std::to_string(den));
    }
    template <class Values>
    static auto list(const Values& values) -> Json {
        auto all = Json::array();
        for (const auto& value : values) { all.push_back(of(value)); }
        return all;
    }

    template <class Tag>
    static auto of_others(const Id<Tag>& id) -> Json {
        const auto text = id.text();
        if (const auto number = parse_decimal(text); number && Id<Tag>{number->low()} == id) {
            constexpr auto exact_max = std::uint64_t{1} << 53U;
            return number->low() <= exact_max ? Json(number->low()) : Json(id.hex());
        }
        return Json(text);
    }
    static auto of_others(const Name& name) -> Json { return of_others(std::string{name.view()}); }
    static auto of_others(const std::string& text) -> Json {
        if (is_utf8(text)) { return Json(text); }
        auto object = Json::object();
        object["hex"] = hex_of_bytes(text);
        return object;
    }
    template <class T>
    static auto of_others(const std::vector<T>& values) -> Json {
        return list(values);
    }
    template <class T>
    static auto of_others(const std::deque<T>& values) -> Json {
        return list(values);
    }
    template <class T>
    static auto of_others(const std::optional<T>& value) -> Json {
        return value ? of(*value) : Json();
    }
};

}}}  // namespace allot::v0::detail

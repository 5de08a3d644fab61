#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <allot/core/command_fields.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/printable.hpp>
#include <allot/core/score.hpp>

namespace replay {

/// JSON that keeps the order of its fields.
using Json = nlohmann::ordered_json;

/// Why a line is no command or event.
struct JsonFault {
    std::size_t line = 0;  ///< From 1; 0 where there is but one.
    std::string field{};   ///< As in "node.models[2]"; empty for the line as a whole.
    std::string text{};    ///< What was expected there.

    /// One sentence with all of it.
    [[nodiscard]] auto message() const -> std::string {
        return (line == 0 ? "" : "line " + std::to_string(line) + ": ") + (field.empty() ? "" : field + ": ") + text;
    }
};

/// JSON as one line. Control characters and signs that turn the direction of writing are written as numbers, for a stranger may have
/// chosen them and a terminal may show the line.
[[nodiscard]] inline auto dumped(const Json& json) -> std::string {
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    const auto text = json.dump();
    auto out = std::string{};
    for (auto rest = std::string_view{text}; !rest.empty();) {
        const auto [code, size] = allot::detail::first_character(rest);
        if (allot::detail::steers(code)) {
            out += "\\u";
            for (auto shift = 16U; shift > 0;) {
                out += digits[code >> (shift -= 4U) & 15U];
            }
        } else {
            out += rest.substr(0, size);
        }
        rest.remove_prefix(size);
    }
    return out;
}

namespace detail {

/// Thrown at the first value that is wrong.
struct Refused {
    JsonFault fault;
};
[[noreturn]] inline void refuse(const std::string& field, std::string text) { throw Refused{{0, field, std::move(text)}}; }

/// The field `name` of the object that stands in `field`.
[[nodiscard]] inline auto within(const std::string& field, std::string_view name) -> std::string {
    return (field.empty() ? "" : field + ".") + std::string{name};
}

/// Knows how 32 bytes are written in hex.
using Bytes32 = allot::Id<struct Bytes32Tag>;

template <class... Ts>
[[nodiscard]] auto names_of(std::type_identity<std::variant<Ts...>>) -> std::string {
    auto all = std::string{};
    ((((all += all.empty() ? "" : ", ") += allot::type_name<Ts>())), ...);
    return all;
}

[[nodiscard]] inline auto hex(std::string_view bytes) -> std::string {
    auto out = std::string{};
    for (const auto c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    return out;
}
[[nodiscard]] inline auto from_hex(std::string_view digits) -> std::optional<std::string> {
    constexpr auto known = std::string_view{"0123456789abcdef"};
    auto out = std::string{};
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        const auto high = known.find(digits[i]);
        const auto low = known.find(digits[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return std::nullopt;
        }
        out += static_cast<char>(high << 4U | low);
    }
    return digits.size() % 2 == 0 ? std::optional{out} : std::nullopt;
}

/// Writes values. Ids and amounts that a double cannot hold are written as text, for many languages read numbers as doubles.
class ToJson {
public:
    template <class T>
    [[nodiscard]] static auto of(const T& value) -> Json {
        if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T>) {
            return value;
        } else if constexpr (std::is_enum_v<T>) {
            return allot::enumerator_name(value);
        } else if constexpr (std::is_same_v<T, allot::u128>) {
            return allot::to_decimal(value);
        } else if constexpr (std::is_same_v<T, allot::Amount>) {
            return allot::to_decimal(value.units);
        } else if constexpr (std::is_same_v<T, allot::Gibibytes>) {
            return value.count;
        } else if constexpr (std::is_same_v<T, allot::Duration>) {
            return value.count();
        } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
            return value.time_since_epoch().count();
        } else if constexpr (std::is_same_v<T, allot::Ratio>) {
            return quotient(value.num, value.den);
        } else if constexpr (std::is_same_v<T, allot::Score>) {
            const auto divisor = std::gcd(value.raw(), allot::Score::one().raw());
            return quotient(value.raw() / divisor, allot::Score::one().raw() / divisor);
        } else if constexpr (std::is_same_v<T, allot::Entropy>) {
            return Bytes32{value.bytes()}.hex();
        } else if constexpr (allot::has_fields<T>) {
            auto object = Json::object();
            put_fields(object, value);
            return object;
        } else {
            return of_others(value);
        }
    }

    /// Puts the fields of a struct into an object; nothing for what is not there.
    template <class T>
    static void put_fields(Json& object, const T& value) {
        allot::each_field(value, [&]<class F>(std::string_view name, const F& field) {
            if (auto json = of(field); !json.is_null()) {
                object[std::string{name}] = std::move(json);
            }
        });
    }

private:
    static auto quotient(std::uint32_t num, std::uint32_t den) -> Json {
        return std::to_string(num) + "/" + std::to_string(den);
    }

    template <class Tag>
    static auto of_others(const allot::Id<Tag>& id) -> Json {
        const auto text = id.text();
        if (const auto number = allot::parse_decimal(text); number && allot::Id<Tag>{number->low()} == id) {
            constexpr auto exact_max = std::uint64_t{1} << 53U;
            return number->low() <= exact_max ? Json(number->low()) : Json(id.hex());
        }
        return text;
    }
    static auto of_others(const std::string& text) -> Json {
        try {
            auto json = Json(text);
            (void)json.dump();  // throws where it is no UTF-8
            return json;
        } catch (const Json::type_error&) {
            return {{"hex", hex(text)}};
        }
    }
    static auto of_others(const allot::Value& value) -> Json {
        return allot::to_decimal(value.num()) + "/" + std::to_string(value.den());
    }
    template <class T>
    static auto of_others(const std::vector<T>& values) -> Json {
        auto list = Json::array();
        for (const auto& value : values) {
            list.push_back(of(value));
        }
        return list;
    }
    template <class T>
    static auto of_others(const std::optional<T>& value) -> Json {
        return value ? of(*value) : Json();
    }
    template <class... Ps>  // parameters, under the name of their type
    static auto of_others(const std::variant<Ps...>& parameters) -> Json {
        return std::visit([]<class P>(const P& p) { return Json{{std::string{allot::type_name<P>()}, of(p)}}; }, parameters);
    }
};

// Parameters have a default, but nobody means them who names none.
template <class T>
inline constexpr bool has_default = std::default_initializable<T>;
template <class... Ts>
inline constexpr bool has_default<std::variant<Ts...>> = false;

/// Reads values into what holds the defaults. Throws `Refused` at the first that is wrong.
class FromJson {
public:
    template <class T>
    static void get(const Json& json, T& into, const std::string& field) {
        if constexpr (std::is_same_v<T, bool>) {
            into = json.is_boolean() ? json.get<bool>() : (refuse(field, "true or false is expected"), false);
        } else if constexpr (std::is_integral_v<T>) {
            into = integer<T>(json, field);
        } else if constexpr (std::is_enum_v<T>) {
            into = enumerator<T>(json, field);
        } else if constexpr (std::is_same_v<T, allot::u128>) {
            into = wide(json, field);
        } else if constexpr (std::is_same_v<T, allot::Amount>) {
            get(json, into.units, field);
        } else if constexpr (std::is_same_v<T, allot::Gibibytes>) {
            get(json, into.count, field);
        } else if constexpr (std::is_same_v<T, allot::Duration>) {
            into = allot::Duration{integer<std::int64_t>(json, field)};
        } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
            into = allot::TimePoint{allot::Duration{integer<std::int64_t>(json, field)}};
        } else if constexpr (std::is_same_v<T, allot::Ratio>) {
            const auto [num, den] = quotient(json, field);
            into = allot::Ratio{num, den};
        } else if constexpr (std::is_same_v<T, allot::Score>) {
            const auto [num, den] = quotient(json, field);
            if (den == 0 || num > den) {
                refuse(field, "a score lies from 0 to 1");
            }
            into = allot::Score::from_ratio(num, den);
        } else if constexpr (allot::has_fields<T> && !std::is_same_v<T, allot::Entropy>) {
            object(json, field);
            auto known = std::set<std::string_view>{};
            get_fields(json, into, field, known);
            no_others(json, field, known);
        } else {
            get_others(json, into, field);
        }
    }

    static void object(const Json& json, const std::string& field) {
        if (!json.is_object()) {
            refuse(field, "an object is expected, {...}");
        }
    }
    /// The fields of a struct that are there, out of an object. Those whose type has no default have to be.
    template <class T>
    static void get_fields(const Json& json, T& into, const std::string& field, std::set<std::string_view>& known) {
        allot::each_field(into, [&]<class F>(std::string_view name, F& value) {
            known.insert(name);
            const auto found = json.find(std::string{name});
            if (found != json.end()) {
                get(*found, value, within(field, name));
            } else if (!has_default<F> || !is_named(value)) {
                refuse(within(field, name), "this field is missing");
            }
        });
    }
    static void no_others(const Json& json, const std::string& field, const std::set<std::string_view>& known) {
        for (const auto& [name, value] : json.items()) {
            if (known.count(name) == 0) {
                auto names = std::string{};
                for (const auto one : known) {
                    (names += names.empty() ? "" : ", ") += one;
                }
                refuse(within(field, name), "there is no such field; there are " + names);
            }
        }
    }
    /// Makes the alternative of a name, blank, and calls `fill` with it.
    template <class... Ts, class Fill>
    static void named(std::string_view name, std::variant<Ts...>& into, const std::string& field, Fill&& fill) {
        const auto filled = [&]<class T>(std::type_identity<T>) {
            fill(into.template emplace<T>(allot::blank<T>()));
            return true;
        };
        const auto found = ((name == allot::type_name<Ts>() && filled(std::type_identity<Ts>{})) || ...);
        if (!found) {
            refuse(field, "there is no \"" + std::string{name} + "\"; there are " +
                              names_of(std::type_identity<std::variant<Ts...>>{}));
        }
    }
    [[nodiscard]] static auto text(const Json& json, const std::string& field) -> std::string {
        return json.is_string() ? json.get<std::string>() : (refuse(field, "a text is expected, \"...\""), "");
    }

private:
    /// Whether all enumerators in a value have names; the default of some has none, and means nothing.
    template <class T>
    static auto is_named(const T& value) -> bool {
        auto named = true;
        if constexpr (std::is_enum_v<T>) {
            named = !allot::enumerator_name(value).empty();
        } else if constexpr (allot::has_fields<T>) {
            allot::each_field(value, [&](std::string_view, const auto& field) { named = is_named(field) && named; });
        }
        return named;
    }

    template <class I>
    static auto integer(const Json& json, const std::string& field) -> I {
        using Limits = std::numeric_limits<I>;
        if (json.is_number_unsigned() && json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())) {
            return static_cast<I>(json.get<std::uint64_t>());
        }
        if constexpr (std::is_signed_v<I>) {
            if (json.is_number_integer() && !json.is_number_unsigned() && json.get<std::int64_t>() >= Limits::min()) {
                return static_cast<I>(json.get<std::int64_t>());
            }
        }
        refuse(field, "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()) +
                          " is expected");
    }
    template <class E>
    static auto enumerator(const Json& json, const std::string& field) -> E {
        const auto name = text(json, field);
        auto names = std::string{};
        for (const auto value : allot::enumerators<E>()) {
            if (allot::enumerator_name(value) == name) {
                return value;
            }
            (names += names.empty() ? "" : ", ") += allot::enumerator_name(value);
        }
        refuse(field, "there is no \"" + name + "\"; there are " + names);
    }
    static auto wide(const Json& json, const std::string& field) -> allot::u128 {
        if (json.is_number_unsigned()) {
            return json.get<std::uint64_t>();
        }
        const auto value = json.is_string() ? allot::parse_decimal(json.get<std::string>()) : std::nullopt;
        if (!value) {
            refuse(field, "a whole number below 2^64, or below 2^128 as a text of its digits, is expected");
        }
        return *value;
    }
    static auto quotient(const Json& json, const std::string& field) -> std::pair<std::uint32_t, std::uint32_t> {
        const auto both = json.is_string() ? json.get<std::string>() : "";
        const auto slash = both.find('/');
        const auto num = allot::parse_decimal(both.substr(0, slash));
        const auto den = slash == std::string::npos ? std::nullopt : allot::parse_decimal(both.substr(slash + 1));
        constexpr auto most = allot::u128{std::numeric_limits<std::uint32_t>::max()};
        if (!num || !den || *num > most || *den > most) {
            refuse(field, "a quotient of two whole numbers below 2^32 is expected, such as \"3/10\"");
        }
        return {static_cast<std::uint32_t>(*num), static_cast<std::uint32_t>(*den)};
    }

    template <class Tag>
    static void get_others(const Json& json, allot::Id<Tag>& into, const std::string& field) {
        if (json.is_number_unsigned()) {
            into = json.get<std::uint64_t>();
            return;
        }
        const auto name = json.is_string() ? json.get<std::string>() : "";
        if (const auto id = allot::Id<Tag>::from_hex(name)) {
            into = *id;
        } else if (into = name; into.is_null()) {
            refuse(field, "an id is expected: a whole number below 2^64, 1 to 32 bytes of text, or 64 hex digits");
        }
    }
    static void get_others(const Json& json, allot::Entropy& into, const std::string& field) {
        if (json.is_number_unsigned()) {
            into = json.get<std::uint64_t>();
            return;
        }
        const auto bytes = Bytes32::from_hex(json.is_string() ? json.get<std::string>() : "");
        if (!bytes) {
            refuse(field, "64 hex digits or a whole number below 2^64 are expected");
        }
        into = allot::Entropy{bytes->bytes()};
    }
    static void get_others(const Json& json, std::string& into, const std::string& field) {
        if (json.is_object() && json.size() == 1 && json.contains("hex")) {
            const auto bytes = from_hex(text(json["hex"], within(field, "hex")));
            into = bytes ? *bytes : (refuse(within(field, "hex"), "pairs of the digits 0 to 9 and a to f are expected"), "");
        } else {
            into = text(json, field);
        }
    }
    template <class T>
    static void get_others(const Json& json, std::vector<T>& into, const std::string& field) {
        if (!json.is_array()) {
            refuse(field, "a list is expected, [...]");
        }
        into.clear();
        for (std::size_t i = 0; i < json.size(); ++i) {
            get(json[i], into.emplace_back(allot::blank<T>()), field + "[" + std::to_string(i) + "]");
        }
    }
    template <class T>
    static void get_others(const Json& json, std::optional<T>& into, const std::string& field) {
        into.reset();
        if (!json.is_null()) {
            get(json, into.emplace(allot::blank<T>()), field);
        }
    }
    template <class... Ps>
    static void get_others(const Json& json, std::variant<Ps...>& into, const std::string& field) {
        if (!json.is_object() || json.size() != 1) {
            refuse(field, "an object is expected whose one field is named after the parameters' type");
        }
        const auto& name = json.items().begin().key();
        named(name, into, field, [&](auto& parameters) { get(json.front(), parameters, within(field, name)); });
    }
};

}}  // namespace replay::detail

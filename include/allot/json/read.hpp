#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <set>
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
#include <allot/core/score.hpp>
#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/json/kind.hpp>
#include <allot/json/parse.hpp>
#include <allot/store/record_fields.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Decodes pairs of hex digits; none if there is another character or an odd digit. @complexity linear in the digits.
[[nodiscard]] inline auto bytes_of_hex(std::string_view digits) -> std::optional<std::string> {
    constexpr auto known = std::string_view{"0123456789abcdef"};
    auto out = std::string{};
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        const auto high = known.find(digits[i]);
        const auto low = known.find(digits[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) { return std::nullopt; }
        out += static_cast<char>(high << 4U | low);
    }
    return digits.size() % 2 == 0 ? std::optional{out} : std::nullopt;
}

/// Joins names with commas, for a message. @complexity linear in the names.
template <class Names>
[[nodiscard]] auto json_names(const Names& names) -> std::string {
    auto all = std::string{};
    for (const auto& name : names) { (all += all.empty() ? "" : ", ") += name; }
    return all;
}

/// Fills values, which hold their defaults, from JSON of an untrusted sender. The first refused value sets `fault()`;
/// the filled values are then meaningless. @complexity linear in the JSON, times a logarithm.
class JsonReader {
public:
    /// The first fault, with its path; none if all values were accepted.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<JsonFault>& { return fault_; }

    /// Reads a value of type `T` into `into`. A refused value sets `fault()`.
    template <class T>
    void get(const Json& json, T& into, const JsonPlace& at) {
        if constexpr (std::is_same_v<T, bool>) {
            if (json.is_boolean()) {
                into = json.get<bool>();
            } else {
                refuse(at, "true or false is expected");
            }
        } else if constexpr (std::is_integral_v<T>) {
            into = integer<T>(json, at);
        } else if constexpr (std::is_enum_v<T>) {
            get_enumerator(json, into, at);
        } else if constexpr (std::is_same_v<T, u128>) {
            into = wide(json, at);
        } else if constexpr (std::is_same_v<T, Amount>) {
            into.units = wide(json, at);
        } else if constexpr (std::is_same_v<T, Gibibytes>) {
            into.count = integer<std::uint32_t>(json, at);
        } else if constexpr (std::is_same_v<T, Duration>) {
            into = Duration{integer<std::int64_t>(json, at)};
        } else if constexpr (std::is_same_v<T, TimePoint>) {
            into = TimePoint{Duration{integer<std::int64_t>(json, at)}};
        } else if constexpr (has_alternatives<T>) {
            get_alternative(json, into, at);
        } else if constexpr (is_log_entry<T>) {
            get_entry(json, into, at);
        } else if constexpr (has_fields<T> && !std::is_same_v<T, Entropy> && !std::is_same_v<T, Ratio>) {
            auto known = Known{};
            if (object(json, at)) {
                get_fields(json, into, at, known);
                no_others(json, at, known);
            }
        } else {
            get_others(json, into, at);
        }
    }

private:
    using Known = std::set<std::string_view>;  // field names, in the order in which a message lists them

    // Parameters have a default value, but a missing alternative must not mean that default.
    template <class T>
    static constexpr bool has_default = std::default_initializable<T> && !has_alternatives<T>;

    void refuse(const JsonPlace& at, std::string text) {
        if (!fault_) { fault_ = JsonFault{0, at.text(), std::move(text)}; }
    }

    auto object(const Json& json, const JsonPlace& at) -> bool {
        if (!json.is_object()) { refuse(at, "an object is expected, {...}"); }
        return json.is_object();
    }
    /// Reads those fields of a struct that the object has. A field without a default must be present.
    template <class T>
    void get_fields(const Json& json, T& into, const JsonPlace& at, Known& known) {
        each_field(into, [&]<class F>(std::string_view name, F& value) {
            known.insert(name);
            const auto found = json.find(std::string{name});
            if (found != json.end()) {
                get(*found, value, at.in(name));
            } else if (!has_default<F> || !is_named(value)) {
                refuse(at.in(name), "this field is missing");
            }
        });
    }
    void no_others(const Json& json, const JsonPlace& at, const Known& known) {
        for (const auto& [name, value] : json.items()) {
            if (!known.contains(name)) {
                refuse(at.in(name), "there is no such field; there are " + json_names(known));
            }
        }
    }
    template <class Command>
    void get_entry(const Json& json, LogEntry<Command>& into, const JsonPlace& at) {
        auto known = Known{};
        if (!object(json, at)) { return; }
        if (!json.contains("time")) { refuse(at.in("time"), "this field is missing"); }
        get_fields(json, into.moment, at, known);
        get_kind(json, into.command, at, known);
    }
    /// Reads an object with the name of an alternative and with the alternative's fields.
    template <class T>
    void get_kind(const Json& json, T& into, const JsonPlace& at, Known& known) {
        const auto found = json.find(std::string{json_kind<T>});
        if (found == json.end()) {
            refuse(at.in(json_kind<T>), "this field is missing");
            return;
        }
        known.insert(json_kind<T>);
        const auto fill = [&](auto& chosen) { get_fields(json, chosen, at, known); };
        get_named(text(*found, at.in(json_kind<T>)), static_cast<alternatives_of<T>&>(into), at.in(json_kind<T>), fill);
        no_others(json, at, known);
    }
    template <class T>
    void get_alternative(const Json& json, T& into, const JsonPlace& at) {
        if constexpr (!json_kind<T>.empty()) {
            auto known = Known{};
            if (object(json, at)) { get_kind(json, into, at, known); }
        } else if (!json.is_object() || json.size() != 1) {
            refuse(at, "an object is expected whose one field is named after the parameters' type");
        } else {
            const auto first = json.begin();
            const auto fill = [&](auto& chosen) { get(*first, chosen, at.in(first.key())); };
            get_named(first.key(), static_cast<alternatives_of<T>&>(into), at, fill);
        }
    }
    /// Makes the alternative called `name`, blank, and calls `fill` with it. An unknown name is refused.
    template <class... Ts, class Fill>
    void get_named(std::string_view name, std::variant<Ts...>& into, const JsonPlace& at, const Fill& fill) {
        const auto filled = [&]<class T>(std::type_identity<T>) {
            fill(into.template emplace<T>(blank<T>()));
            return true;
        };
        const auto found = ((name == type_name<Ts>() && filled(std::type_identity<Ts>{})) || ...);
        if (!found) {
            refuse(at, "there is no \"" + std::string{name} + "\"; there are " +
                           json_names(std::array{type_name<Ts>()...}));
        }
    }

    /// True if all enumerators in a value have names. The default of some enumerations has none and means nothing.
    template <class T>
    static auto is_named(const T& value) -> bool {
        auto named = true;
        if constexpr (std::is_enum_v<T>) {
            named = !enumerator_name(value).empty();
        } else if constexpr (has_fields<T>) {
            each_field(value, [&](std::string_view, const auto& field) { named = is_named(field) && named; });
        }
        return named;
    }

    auto text(const Json& json, const JsonPlace& at) -> std::string {
        if (!json.is_string()) {
            refuse(at, "a text is expected, \"...\"");
            return {};
        }
        return json.get<std::string>();
    }
    template <class I>
    auto integer(const Json& json, const JsonPlace& at) -> I {
        using Limits = std::numeric_limits<I>;
        if (json.is_number_unsigned() && json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())) {
            return static_cast<I>(json.get<std::uint64_t>());
        }
        if constexpr (std::is_signed_v<I>) {
            if (json.is_number_integer() && !json.is_number_unsigned() && json.get<std::int64_t>() >= Limits::min()) {
                return static_cast<I>(json.get<std::int64_t>());
            }
        }
        refuse(at, "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()) +
                       " is expected");
        return {};
    }
    template <class E>
    void get_enumerator(const Json& json, E& into, const JsonPlace& at) {
        const auto name = text(json, at);
        auto names = std::vector<std::string_view>{};
        for (const auto value : enumerators<E>()) {
            if (enumerator_name(value) == name) {
                into = value;
                return;
            }
            names.push_back(enumerator_name(value));
        }
        refuse(at, "there is no \"" + name + "\"; there are " + json_names(names));
    }
    auto wide(const Json& json, const JsonPlace& at) -> u128 {
        if (json.is_number_unsigned()) { return json.get<std::uint64_t>(); }
        const auto value = json.is_string() ? parse_decimal(json.get<std::string>()) : std::nullopt;
        if (!value) { refuse(at, "a whole number below 2^64, or below 2^128 as a text of its digits, is expected"); }
        return value.value_or(u128{});
    }
    /// Reads a text such as "3/10". Its first number is at most `num_max`.
    auto quotient(const Json& json, u128 num_max, std::string_view power, const JsonPlace& at)
        -> std::pair<u128, std::uint32_t> {
        const auto both = json.is_string() ? json.get<std::string>() : "";
        const auto slash = both.find('/');
        const auto num = parse_decimal(both.substr(0, slash));
        const auto den = slash == std::string::npos ? std::nullopt : parse_decimal(both.substr(slash + 1));
        constexpr auto den_max = std::numeric_limits<std::uint32_t>::max();
        if (!num || !den || *num > num_max || *den > u128{den_max}) {
            refuse(at,
                   "a quotient of two whole numbers below " + std::string{power} + " is expected, such as \"3/10\"");
            return {0, 1};
        }
        return {*num, static_cast<std::uint32_t>(den->low())};
    }
    auto small_quotient(const Json& json, const JsonPlace& at) -> std::pair<std::uint32_t, std::uint32_t> {
        const auto [num, den] = quotient(json, std::numeric_limits<std::uint32_t>::max(), "2^32", at);
        return {static_cast<std::uint32_t>(num.low()), den};
    }

    void get_others(const Json& json, Name& into, const JsonPlace& at) {
        auto name = std::string{};
        get_others(json, name, at);
        if (name.size() > Name::size_max) {
            refuse(at, "a name has at most 128 bytes");
        } else {
            into = name;
        }
    }
    void get_others(const Json& json, Ratio& into, const JsonPlace& at) {
        const auto [num, den] = small_quotient(json, at);
        into = Ratio{num, den};
    }
    void get_others(const Json& json, Score& into, const JsonPlace& at) {
        const auto [num, den] = small_quotient(json, at);
        if (den == 0 || num > den) {
            refuse(at, "a score lies from 0 to 1");
        } else {
            into = Score::from_ratio(num, den);
        }
    }
    void get_others(const Json& json, Value& into, const JsonPlace& at) {
        const auto [num, den] = quotient(json, (u128{1} << 96) - u128{1}, "2^96 and 2^32", at);
        if (den == 0) { refuse(at, "a value is no quotient by zero"); }
        into = Value{num, den};
    }
    template <class Tag>
    void get_others(const Json& json, Id<Tag>& into, const JsonPlace& at) {
        if (json.is_number_unsigned()) {
            into = json.get<std::uint64_t>();
            return;
        }
        const auto name = json.is_string() ? json.get<std::string>() : "";
        if (const auto id = Id<Tag>::from_hex(name)) {
            into = *id;
        } else if (into = name; into.is_null()) {
            refuse(at, "an id is expected: a whole number below 2^64, 1 to 32 bytes of text, or 64 hex digits");
        }
    }
    void get_others(const Json& json, Entropy& into, const JsonPlace& at) {
        if (json.is_number_unsigned()) {
            into = json.get<std::uint64_t>();
        } else if (const auto id = Id<struct EntropyTag>::from_hex(json.is_string() ? json.get<std::string>() : "")) {
            into = Entropy{id->bytes()};
        } else {
            refuse(at, "64 hex digits or a whole number below 2^64 are expected");
        }
    }
    void get_others(const Json& json, std::string& into, const JsonPlace& at) {
        if (!json.is_object() || json.size() != 1 || !json.contains("hex")) {
            into = text(json, at);
        } else if (auto bytes = bytes_of_hex(text(json["hex"], at.in("hex")))) {
            into = *std::move(bytes);
        } else {
            refuse(at.in("hex"), "pairs of the digits 0 to 9 and a to f are expected");
        }
    }
    template <class T>
    void get_others(const Json& json, std::vector<T>& into, const JsonPlace& at) {
        into.clear();
        get_list<T>(json, at, [&](T&& value) { into.push_back(std::move(value)); });
    }
    template <class T>
    void get_others(const Json& json, std::deque<T>& into, const JsonPlace& at) {
        into.clear();
        get_list<T>(json, at, [&](T&& value) { into.push_back(std::move(value)); });
    }
    void get_others(const Json& json, Events& into, const JsonPlace& at) {
        into.clear();
        get_list<Event>(json, at, [&](Event&& event) { into.push(event); });
    }
    template <class T>
    void get_others(const Json& json, std::optional<T>& into, const JsonPlace& at) {
        into.reset();
        if (!json.is_null()) { get(json, into.emplace(blank<T>()), at); }
    }
    template <class T, class Take>
    void get_list(const Json& json, const JsonPlace& at, const Take& take) {
        if (!json.is_array()) {
            refuse(at, "a list is expected, [...]");
            return;
        }
        for (std::size_t i = 0; i < json.size() && !fault_; ++i) {
            auto value = blank<T>();
            get(json[i], value, at.at(i));
            take(std::move(value));
        }
    }

    std::optional<JsonFault> fault_{};
};

}}}  // namespace allot::v0::detail

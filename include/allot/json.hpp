#pragma once

#include <string>
#include <string_view>

#include <allot/core/fields.hpp>
#include <allot/core/printable.hpp>
#include <allot/json/fault.hpp>
#include <allot/json/parse.hpp>
#include <allot/json/read.hpp>
#include <allot/json/write.hpp>
#include <allot/result.hpp>

// Commands, events and explanations as JSON, for people and for other languages. Needs nlohmann-json (the CMake target
// allot::json). A log of commands is best kept as JSON Lines, one `LogEntry` a line:
//
//     {"time": 0, "command": "Join", "node": {"id": "relay-7", "gpu": "RTX 4090", "vram": 24, "stake": 400}}
//     {"time": 5, "entropy": 1, "command": "Submit", "task": {"id": 7, "vram_min": 16, "duration_estimate": 900}}
//     {"time": 900, "command": "Complete", "lease": {"task": 7, "node": "relay-7", "token": 1}}
//     {"time": 950, "command": "Configure", "parameters": {"RulesParameters": {"due_max": 9}}, "rules_version": 2}
//
// Names are those of the C++ structs, fields and enumerators (core/fields.hpp), so every type with a list of
// fields has its JSON. A written value has one form, and reads back as it was:
//
//     LogEntry, command, event   an object: for an entry the fields of the moment, `time` first; then the name of the
//                                command or event in the field `command` or `event`; then its own fields
//     struct                     an object of its fields; those that are none (std::optional) are left out
//     parameters                 an object whose one field is named after their type
//     time, duration             whole milliseconds
//     id                         a number up to 2^53, text, or 64 hex digits
//     u128, Amount               a text of decimal digits, for many languages round large numbers
//     Value, Ratio, Score        a text such as "3/10"
//     Entropy                    64 hex digits
//     text                       a text, or {"hex": "ff00"} where the bytes are no UTF-8
//     std::vector, Events        a list
//     std::optional by itself    null where it is none, as `expected_wait` answers
//
// A person may write less: a field that is left out has its C++ default, but for `time`, names of kinds, and ids, which
// have none; any whole number below 2^64 does for an id, an amount or entropy. A field that is unknown or stands twice
// is a fault.

namespace allot { inline namespace v0 {

/// A value as JSON, to be put into other JSON. Values are those of the table above: a `LogEntry`, a command, an event,
/// `Events`, and the answers of explain/ (`TaskExplanation`, `NodeExplanation`, `Distribution`, `WhatIf`, `Difference`,
/// `QoSChange`, a wait), whose headers are to be included, too.
///
/// Of `Events` it says all but where the direct answer begins.
/// @complexity linear in the value.
template <class T>
[[nodiscard]] auto json_of(const T& value) -> Json {
    return detail::JsonWriter::of(value);
}

/// JSON as one line, without its end. Control characters and signs that turn the direction of writing are written as
/// numbers, for a stranger may have chosen them and a terminal may show the line. Bytes of texts that are no UTF-8
/// become U+FFFD; `json_of` makes none.
/// @complexity linear in the text.
[[nodiscard]] inline auto json_text(const Json& json) -> std::string {
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    const auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    auto out = std::string{};
    for (auto rest = std::string_view{text}; !rest.empty();) {
        const auto [code, size] = detail::first_character(rest);
        if (detail::steers(code)) {
            out += "\\u";
            for (auto shift = 16U; shift > 0;) { out += digits[code >> (shift -= 4U) & 15U]; }
        } else {
            out += rest.substr(0, size);
        }
        rest.remove_prefix(size);
    }
    return out;
}

/// A value as one line of JSON, without its end; `read_json` of the same type reads it back. Values are those of
/// `json_of`.
/// @complexity linear in the value.
template <class T>
[[nodiscard]] auto write_json(const T& value) -> std::string {
    return json_text(json_of(value));
}

/// The value of a text of JSON that an untrusted party may have sent, such as
///
///     const auto entry = allot::read_json<allot::LogEntry<Dispatcher::Command>>(line);
///     if (!entry) {
///         fmt::print("{}\n", entry.error().message());  // "node.vram: a whole number ... is expected"
///     }
///
/// Only the form is judged, as by `decode` (journal/encode.hpp). Whether the value makes sense, such as an amount below
/// 2^96 or a name within the limits, the dispatcher judges as it does of every command.
///
/// @return The value, or the first fault. Faults of form: no JSON, nested more than 32 deep, an object of more than 256
/// fields or with a field twice. Other faults: a field that is missing, unknown, of the wrong type or out of range.
/// @complexity linear in the text, in memory too, where a byte may take some 90; so bound the text of a stranger
/// before. Nothing is thrown but where memory runs out.
template <class T>
[[nodiscard]] auto read_json(std::string_view text) -> Result<T, JsonFault> {
    const auto parser = detail::JsonParser{text};
    if (parser.fault()) { return FailureOf<JsonFault>{*parser.fault()}; }
    auto value = blank<T>();
    auto reader = detail::JsonReader{};
    reader.get(parser.json(), value, {});
    if (reader.fault()) { return FailureOf<JsonFault>{*reader.fault()}; }
    return value;
}

}}  // namespace allot::v0

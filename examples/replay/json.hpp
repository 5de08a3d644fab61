#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <allot/journal/encode.hpp>

#include "json_value.hpp"

// Commands and events as JSON Lines, one a line, for people and for other languages:
//
//     {"time": 0, "command": "Join", "node": {"id": "relay-7", "gpu": "RTX 4090", "vram": 24, "stake": 400}}
//     {"time": 5, "entropy": 2026, "command": "Submit", "task": {"id": 7, "vram_min": 16, "fee": 9, "duration_estimate": 900}}
//     {"time": 900, "command": "Complete", "lease": {"task": 7, "node": "relay-7", "token": 1}}
//     {"time": 950, "command": "Configure", "parameters": {"ValueQueueParameters": {"capacity_min": 9}}, "rules_version": 2}
//
// Names are those of the C++ structs, fields and enumerators; what is left out has its C++ default. README.md says how each
// kind of value is written. What is written here has one form, and reads as it was.
namespace replay {

namespace detail {

/// No value comes near these. They bound what a line may cost: each field is looked for among those before it in its object, and
/// each list or object within another takes memory of its own.
inline constexpr auto fields_max = std::size_t{256};
inline constexpr auto depth_max = 32;

/// The object of a line. Unlike the parser alone it refuses a field that stands twice.
[[nodiscard]] inline auto parsed(std::string_view line) -> Json {
    auto seen = std::vector<std::set<std::string>>{};
    auto twice = std::string{};
    const auto watch = [&](int depth, Json::parse_event_t what, Json& value) {
        if (depth == depth_max && (what == Json::parse_event_t::object_start || what == Json::parse_event_t::array_start)) {
            refuse("", "lists and objects are nested more than " + std::to_string(depth_max) + " deep");
        }
        if (what == Json::parse_event_t::key && seen.back().size() == fields_max) {
            refuse("", "an object has more than " + std::to_string(fields_max) + " fields");
        }
        if (what == Json::parse_event_t::object_start) {
            seen.emplace_back();
        } else if (what == Json::parse_event_t::object_end) {
            seen.pop_back();
        } else if (what == Json::parse_event_t::key && !seen.back().insert(value.get<std::string>()).second && twice.empty()) {
            twice = value.get<std::string>();
        }
        return true;
    };
    try {
        auto json = Json::parse(line, watch);
        if (!twice.empty()) {
            refuse(twice, "this field stands twice");
        }
        return json;
    } catch (const Json::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...", whose line is not ours
        const auto what = std::string_view{error.what()};
        const auto column = what.find("column");
        const auto text = column == std::string_view::npos ? what.substr(what.find(']') + 2) : what.substr(column);
        refuse("", "not JSON: " + std::string{text});
    }
}

/// Writes the name of an alternative in the field `kind`, and its fields beside it.
template <class... Ts>
void put_kind(Json& json, const char* kind, const std::variant<Ts...>& value) {
    std::visit(
        [&]<class T>(const T& alternative) {
            json[kind] = allot::type_name<T>();
            ToJson::put_fields(json, alternative);
        },
        value);
}

/// Reads an object with the name of an alternative in the field `kind`, and its fields beside it.
template <class... Ts>
void get_kind(const Json& json, std::string_view kind, std::variant<Ts...>& into, std::set<std::string_view> known) {
    const auto found = json.find(std::string{kind});
    if (found == json.end()) {
        refuse(std::string{kind}, "this field is missing");
    }
    known.insert(kind);
    FromJson::named(FromJson::text(*found, std::string{kind}), into, std::string{kind}, [&](auto& alternative) {
        FromJson::get_fields(json, alternative, "", known);
    });
    FromJson::no_others(json, "", known);
}

template <class T, class Read>
[[nodiscard]] auto caught(std::string_view line, Read&& read) -> allot::Result<T, JsonFault> {
    try {
        const auto json = parsed(line);
        FromJson::object(json, "");
        auto value = allot::blank<T>();
        read(json, value);
        return value;
    } catch (Refused& refused) {
        return allot::FailureOf<JsonFault>{std::move(refused.fault)};
    }
}

}  // namespace detail

/// A log entry as an object.
template <class Command>
[[nodiscard]] auto json_of(const allot::LogEntry<Command>& entry) -> Json {
    auto json = Json::object();
    detail::ToJson::put_fields(json, entry.moment);
    detail::put_kind(json, "command", entry.command);
    return json;
}

/// An event as an object.
[[nodiscard]] inline auto json_of(const allot::Event& event) -> Json {
    auto json = Json::object();
    detail::put_kind(json, "event", event);
    return json;
}

/// Events as a list of objects.
[[nodiscard]] inline auto json_of(const allot::Events& events) -> Json {
    auto list = Json::array();
    for (const auto& event : events) {
        list.push_back(json_of(event));
    }
    return list;
}

/// A log entry or an event as one line, without its end.
template <class T>
[[nodiscard]] auto json_line(const T& value) -> std::string {
    return dumped(json_of(value));
}

/// The log entry of a line.
template <class Command>
[[nodiscard]] auto entry_from_json(std::string_view line) -> allot::Result<allot::LogEntry<Command>, JsonFault> {
    return detail::caught<allot::LogEntry<Command>>(line, [](const Json& json, auto& entry) {
        auto known = std::set<std::string_view>{};
        if (!json.contains("time")) {
            detail::refuse("time", "this field is missing");
        }
        detail::FromJson::get_fields(json, entry.moment, "", known);
        detail::get_kind(json, "command", entry.command, std::move(known));
    });
}

/// The event of a line.
[[nodiscard]] inline auto event_from_json(std::string_view line) -> allot::Result<allot::Event, JsonFault> {
    return detail::caught<allot::Event>(
        line, [](const Json& json, auto& event) { detail::get_kind(json, "event", event, {}); });
}

/// The longest line that is read, 64 MiB: what the longest record comes to in JSON, and a bound for hostile input.
inline constexpr auto line_max = std::size_t{1} << 26U;

/// Reads the entries of lines; those that are blank are passed over.
template <class Command>
class JsonReader {
public:
    /// @pre `stream` outlives the reader.
    explicit JsonReader(std::istream& stream) noexcept : stream_{&stream} {}

    /// The next entry; nothing at the end and at a line that is malformed, which `fault()` then names.
    [[nodiscard]] auto next() -> std::optional<allot::LogEntry<Command>> {
        while (!fault_ && read_line()) {
            if (line_.find_first_not_of(" \t\r") == std::string::npos) {
                continue;
            }
            auto entry = entry_from_json<Command>(line_);
            if (entry) {
                return *std::move(entry);
            }
            fault_ = std::move(entry.error());
            fault_->line = number_;
        }
        return std::nullopt;
    }

    /// What is wrong with the line that stopped it.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<JsonFault>& { return fault_; }

private:
    /// False at the end of the stream, and for a line that is too long.
    auto read_line() -> bool {
        using Traits = std::istream::traits_type;
        line_.clear();
        ++number_;
        auto& buffer = *stream_->rdbuf();
        if (stream_->tie() != nullptr && buffer.in_avail() <= 0) {
            stream_->tie()->flush();  // whoever sends a line may wait for what it brings
        }
        for (auto c = buffer.sbumpc(); c != Traits::eof(); c = buffer.sbumpc()) {
            if (c == '\n') {
                return true;
            }
            if (line_.size() == line_max) {
                fault_ = JsonFault{number_, "", "the line is longer than 64 MiB; write one command a line"};
                return false;
            }
            line_ += Traits::to_char_type(c);
        }
        return !line_.empty();
    }

    std::istream* stream_;
    std::string line_{};
    std::size_t number_ = 0;
    std::optional<JsonFault> fault_{};
};

}  // namespace replay

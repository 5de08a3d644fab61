#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <allot/explain/node.hpp>
#include <allot/explain/task.hpp>
#include <allot/format/explain.hpp>
#include <allot/json.hpp>

#include "log_input.hpp"

namespace replay {

/// The subject of `--explain`.
using Subject = std::variant<allot::TaskId, allot::NodeId>;

/// Reads "task:ID" or "node:ID". An ID is written as in a log: a whole number, 1 to 32 bytes of text, or 64 hex digits.
[[nodiscard]] inline auto subject_from(std::string_view text) -> Subject {
    const auto colon = text.find(':');
    const auto what = text.substr(0, colon);
    if (colon == std::string_view::npos || (what != "task" && what != "node")) {
        throw InputError{"--explain: task:ID or node:ID is expected, such as task:7 or node:relay-7"};
    }
    const auto name = text.substr(colon + 1);
    const auto number = allot::parse_decimal(name);
    const auto is_number = number && *number <= allot::u128{~std::uint64_t{0}};
    const auto json = is_number ? allot::to_decimal(*number) : allot::write_json(std::string{name});
    const auto id_of = [&](auto&& id) -> Subject {
        if (!id) {
            id.error().field = what;
            throw InputError{"--explain: " + id.error().message()};
        }
        return *id;
    };
    return what == "task" ? id_of(allot::read_json<allot::TaskId>(json)) : id_of(allot::read_json<allot::NodeId>(json));
}

/// Returns an explanation as one line of JSON, or in sentences.
template <class Explanation>
[[nodiscard]] auto written(const Explanation& explanation, bool text) -> std::string {
    return text ? fmt::format("{}", explanation) : allot::write_json(explanation);
}

/// Explains why a task waits, or which tasks a node gets. Throws `InputError` if neither exists.
template <class Dispatcher>
[[nodiscard]] auto explained(Dispatcher& dispatcher, const Subject& subject, std::uint64_t position, bool text)
    -> std::string {
    const auto at = " at position " + std::to_string(position) + "; choose another position with --until";
    if (const auto* node = std::get_if<allot::NodeId>(&subject)) {
        const auto explanation = allot::explain(dispatcher, *node);
        if (!explanation) { throw InputError{"--explain: there is no node \"" + node->text() + "\"" + at}; }
        return written(*explanation, text);
    }
    const auto& task = std::get<allot::TaskId>(subject);
    const auto explanation = allot::explain(dispatcher, task);
    if (!explanation) {
        const auto ended = explanation.error() == allot::Error::task_ended;
        const auto name = "\"" + task.text() + "\"";
        throw InputError{"--explain: " + (ended ? "task " + name + " has ended" : "there is no task " + name) + at};
    }
    return written(*explanation, text);
}

}  // namespace replay

#include "../examples/replay/json_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/qos_journal.hpp>
#include <allot/explain/task.hpp>
#include <allot/explain/what_if.hpp>
#include <allot/journal/encode.hpp>
#include <allot/json.hpp>

#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz_json_lines {

namespace {

using Command = allot::Dispatcher<>::Command;
using Entry = allot::LogEntry<Command>;

// What is written of a value reads as that value, and is written alike again.
template <class T>
void goes_round(const T& value) {
    const auto line = allot::write_json(value);
    fuzz::ensure(line.find('\n') == std::string::npos, "a line has no end within");
    const auto again = allot::read_json<T>(line);
    fuzz::ensure(again.has_value(), "what is written can be read");
    fuzz::ensure(support::told(*again) == support::told(value), "what is written says the same");
    fuzz::ensure(allot::write_json(*again) == line, "a value is written in one form");
}

// Whether a text is a value of a type.
template <class T>
auto is(const std::string& text) -> bool {
    const auto value = allot::read_json<T>(text);
    if (value) {
        goes_round(*value);
    } else {
        fuzz::ensure(!value.error().message().empty(), "a fault is named");
    }
    return value.has_value();
}
template <class... Ts>
auto is_any(const std::string& text) -> bool {
    return (static_cast<int>(is<Ts>(text)) + ...) != 0;
}

auto target(std::span<const std::uint8_t> input) -> bool {
    auto stream = std::istringstream{fuzz::as_text(input)};
    auto reader = replay::JsonLines<Entry>{stream};
    auto taken = false;
    while (const auto entry = reader.next()) {
        goes_round(*entry);
        taken = true;
    }
    if (reader.fault()) { fuzz::ensure(!reader.fault()->message().empty(), "a fault is named"); }
    const auto others =
        is_any<allot::Event, allot::TaskExplanation, allot::NodeExplanation, allot::Distribution, allot::WhatIf,
               std::vector<allot::Difference>, std::vector<allot::QoSChange>>(fuzz::as_text(input));
    return taken || others;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto any = support::AnyValue{2026};
    auto all = std::vector<fuzz::Bytes>{};
    for (std::size_t i = 0; i < std::variant_size_v<Command::Alternatives>; ++i) {
        const auto first = allot::write_json(Entry{any.of<allot::Moment>(), any.alternative<Command>(i)});
        const auto second = allot::write_json(Entry{any.of<allot::Moment>(), any.alternative<Command>(i)});
        all.push_back(fuzz::as_bytes(first + "\n" + second));
    }
    for (std::size_t i = 0; i < allot::event_types; ++i) {
        all.push_back(fuzz::as_bytes(allot::write_json(any.alternative<allot::Event>(i))));
    }
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<allot::TaskExplanation>())));
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<allot::NodeExplanation>())));
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<allot::Distribution>())));
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<allot::WhatIf>())));
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<std::vector<allot::Difference>>())));
    all.push_back(fuzz::as_bytes(allot::write_json(any.of<std::vector<allot::QoSChange>>())));
    return all;
}

}  // namespace

ALLOT_FUZZ(json_lines,
           "any lines are commands, events or explanations that are written as they were read, or are refused")

}  // namespace fuzz_json_lines

#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>

#include "../examples/replay/json.hpp"
#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz_json_lines {

namespace {

using Command = allot::Dispatcher<>::Command;
using Entry = allot::LogEntry<Command>;

// What is written of a value reads as that value, and is written alike again.
template <class T, class Read>
void goes_round(const T& value, Read&& read) {
    const auto line = replay::json_line(value);
    fuzz::ensure(line.find('\n') == std::string::npos, "a line has no end within");
    const auto again = read(line);
    fuzz::ensure(again.has_value(), "what is written can be read");
    fuzz::ensure(allot::encode(*again) == allot::encode(value), "what is written says the same");
    fuzz::ensure(replay::json_line(*again) == line, "a value is written in one form");
}

auto target(std::span<const std::uint8_t> input) -> bool {
    auto stream = std::istringstream{fuzz::as_text(input)};
    auto reader = replay::JsonReader<Command>{stream};
    auto taken = false;
    while (const auto entry = reader.next()) {
        goes_round(*entry, replay::entry_from_json<Command>);
        taken = true;
    }
    if (reader.fault()) {
        fuzz::ensure(!reader.fault()->message().empty(), "a fault is named");
    }
    if (const auto event = replay::event_from_json(fuzz::as_text(input))) {
        goes_round(*event, replay::event_from_json);
        taken = true;
    }
    return taken;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto any = support::AnyValue{2026};
    auto all = std::vector<fuzz::Bytes>{};
    for (std::size_t i = 0; i < std::variant_size_v<Command>; ++i) {
        const auto first = replay::json_line(Entry{any.of<allot::Moment>(), any.alternative<Command>(i)});
        const auto second = replay::json_line(Entry{any.of<allot::Moment>(), any.alternative<Command>(i)});
        all.push_back(fuzz::as_bytes(first + "\n" + second));
    }
    for (std::size_t i = 0; i < std::variant_size_v<allot::Event>; ++i) {
        all.push_back(fuzz::as_bytes(replay::json_line(any.alternative<allot::Event>(i))));
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(json_lines, "any lines are commands or events that are written as they were read, or are refused")

}  // namespace fuzz_json_lines

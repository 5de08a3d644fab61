#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>

#include "fuzz/support/decoding.hpp"
#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz_command_decode {

namespace {

using Command = allot::Dispatcher<>::Command;
using Entry = allot::LogEntry<Command>;

auto target(std::span<const std::uint8_t> input) -> bool {
    const auto entry = fuzz::decoded<Entry>(input);
    const auto command = fuzz::decoded<Command>(input);
    return entry || command;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto any = support::AnyValue{2026};
    auto all = fuzz::messages_of<Command>(any);
    for (auto i = 0; i < 20; ++i) { all.push_back(allot::encode(any.of<Entry>())); }
    return all;
}

}  // namespace

ALLOT_FUZZ(command_decode, "any bytes are the one form of a command, or are refused")

}  // namespace fuzz_command_decode

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <allot/core/event.hpp>
#include <allot/journal/encode.hpp>

#include "fuzz/support/decoding.hpp"
#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz_event_decode {

namespace {

auto target(std::span<const std::uint8_t> input) -> bool { return fuzz::decoded<allot::Event>(input); }

auto seeds() -> std::vector<fuzz::Bytes> {
    auto any = support::AnyValue{2026};
    return fuzz::messages_of<allot::Event>(any);
}

}  // namespace

ALLOT_FUZZ(event_decode, "any bytes are the one form of an event, or are refused")

}  // namespace fuzz_event_decode

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <allot/journal/encode.hpp>

#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz {

/// Whether bytes are a message; its encoding is then the same bytes.
template <class T>
auto decoded(std::span<const std::uint8_t> input) -> bool {
    const auto value = allot::decode<T>(input);
    if (!value) {
        ensure(value.error().offset <= input.size(), "a fault lies within the bytes");
        ensure(message(value.error().error) != "unknown error", "a fault is named");
        return false;
    }
    const auto again = allot::encode(*value);
    ensure(std::equal(again.begin(), again.end(), input.begin(), input.end()), "what is taken has one form");
    return true;
}

/// A message or two of each alternative.
template <class Variant>
auto messages_of(support::AnyValue& any) -> std::vector<Bytes> {
    auto all = std::vector<Bytes>{};
    for (std::size_t i = 0; i < 2 * std::variant_size_v<typename Variant::Alternatives>; ++i) {
        all.push_back(allot::encode(any.alternative<Variant>(i / 2)));
    }
    return all;
}

}  // namespace fuzz

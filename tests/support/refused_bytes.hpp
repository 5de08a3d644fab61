#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"

namespace support {

/// Checks that bytes are accepted, and that any bit flipped, or fewer or more bytes, are refused.
///
/// `refused(bytes)` returns true if they are.
template <class Refused>
void require_every_bit(std::vector<std::uint8_t> bytes, const Refused& refused) {
    REQUIRE_FALSE(refused(std::span<const std::uint8_t>{bytes}));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        INFO("bit " << bit);
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        REQUIRE(refused(std::span<const std::uint8_t>{bytes}));
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        INFO("the first " << size << " bytes");
        REQUIRE(refused(std::span<const std::uint8_t>{bytes}.first(size)));
    }
    bytes.push_back(0);
    REQUIRE(refused(std::span<const std::uint8_t>{bytes}));
}

}  // namespace support

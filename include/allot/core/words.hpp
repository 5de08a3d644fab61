#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// 32 bytes as four words, the lowest byte of each first, independent of the machine's byte order.
/// @complexity constant.
[[nodiscard]] constexpr auto words_of(const std::array<std::uint8_t, 32>& bytes) noexcept
    -> std::array<std::uint64_t, 4> {
    auto words = std::bit_cast<std::array<std::uint64_t, 4>>(bytes);
    if constexpr (std::endian::native == std::endian::big) {
        for (auto& word : words) {
            word = ((word & 0x00FF'00FF'00FF'00FFU) << 8U) | ((word >> 8U) & 0x00FF'00FF'00FF'00FFU);
            word = ((word & 0x0000'FFFF'0000'FFFFU) << 16U) | ((word >> 16U) & 0x0000'FFFF'0000'FFFFU);
            word = std::rotl(word, 32);
        }
    }
    return words;
}

}}  // namespace allot::v0

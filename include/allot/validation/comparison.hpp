#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 {

/// When two results count as the same.
///
/// Text is the same when its bytes are. Images of one prompt differ a little between machines: their perceptual hashes are the
/// same when in each block fewer than `distance` bits differ.
struct Comparison {
    std::uint32_t distance = 1;     ///< Fewer bits of a block may differ; 1 asks for equality, 0 is refused: nothing matches.
    std::uint32_t block_bytes = 0;  ///< Length of a block; zero takes the whole result as one.

    /// Equal to the last bit.
    [[nodiscard]] static constexpr auto exact() noexcept -> Comparison { return {1, 0}; }
    /// Fewer than `bits` bits differ in each block of 8 bytes. The contracts had 5, later 24.
    [[nodiscard]] static constexpr auto hamming(std::uint32_t bits) noexcept -> Comparison { return {bits, 8}; }

    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return distance != 0; }
    friend constexpr auto operator==(const Comparison&, const Comparison&) noexcept -> bool = default;
};

/// How many bits differ. @pre The lengths are equal.
[[nodiscard]] constexpr auto hamming_distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept
    -> std::uint64_t {
    ALLOT_ASSERT(a.size() == b.size(), "only bytes of equal length have a Hamming distance");
    auto bits = std::uint64_t{0};
    for (std::size_t i = 0; i < a.size(); ++i) {
        bits += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(a[i] ^ b[i])));
    }
    return bits;
}

/// Whether two results are the same. Not those of different length, nor those that do not consist of whole blocks.
/// Not transitive unless exact: a may match b and b match c though a does not match c.
/// @complexity linear in the length.
[[nodiscard]] constexpr auto same_result(const Comparison& comparison, std::span<const std::uint8_t> a,
                                         std::span<const std::uint8_t> b) noexcept -> bool {
    if (a.size() != b.size()) { return false; }
    const auto block = comparison.block_bytes == 0 ? std::max<std::size_t>(a.size(), 1) : comparison.block_bytes;
    if (a.size() % block != 0) { return false; }
    for (std::size_t i = 0; i < a.size(); i += block) {
        if (hamming_distance(a.subspan(i, block), b.subspan(i, block)) >= comparison.distance) { return false; }
    }
    return true;
}

}}  // namespace allot::v0

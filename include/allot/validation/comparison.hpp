#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 {

/// Defines when two results count as equal.
///
/// Text results are equal if their bytes are. Images of one prompt differ a little between machines: their perceptual
/// hashes count as equal if fewer than `distance` bits differ in each block.
struct Comparison {
    /// In bits: fewer bits of a block may differ. 1 means equality; 0 is invalid, because nothing would match.
    std::uint32_t distance = 1;
    std::uint32_t block_bytes = 0;  ///< Length of a block in bytes; 0 takes the whole result as one block.

    /// Requires equal bytes.
    [[nodiscard]] static constexpr auto exact() noexcept -> Comparison { return {1, 0}; }
    /// Allows fewer than `bits` differing bits in each block of 8 bytes. The contracts had 5, later 24.
    [[nodiscard]] static constexpr auto hamming(std::uint32_t bits) noexcept -> Comparison { return {bits, 8}; }

    /// True if `distance` is not 0.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return distance != 0; }
    friend constexpr auto operator==(const Comparison&, const Comparison&) noexcept -> bool = default;
};

/// Returns the number of differing bits. @pre The lengths are equal (asserted). @complexity linear in the length.
[[nodiscard]] constexpr auto hamming_distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) noexcept
    -> std::uint64_t {
    ALLOT_ASSERT(a.size() == b.size(), "only bytes of equal length have a Hamming distance");
    auto bits = std::uint64_t{0};
    for (std::size_t i = 0; i < a.size(); ++i) {
        bits += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(a[i] ^ b[i])));
    }
    return bits;
}

/// True if two results count as equal. False if their lengths differ or are no multiple of the block length. Not
/// transitive unless exact: a may match b and b match c although a does not match c.
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

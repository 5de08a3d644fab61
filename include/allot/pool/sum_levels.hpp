#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace allot { inline namespace v0 { namespace detail {

// The sums above the blocks of a sum tree: sums of the blocks, sums of these, and so on, eight to a line, the lowest
// level first. They are plain sums instead of prefix sums, because a change then touches one number per level, and
// changes are twice as frequent as draws. The position of each level follows from the number of blocks. A single block
// needs no sums.

/// Children of a sum.
inline constexpr std::size_t sums_fan_out = 8;

/// The child in which `point` falls, of `count` children. Subtracts the children before it from `point`.
///
/// It visits all children without a branch on the data: the result of a draw is unpredictable, and one mispredicted
/// branch per level costs more than the additions.
/// @pre `point` is below the sum of all children.
/// @complexity linear in `count`.
template <std::size_t count, class Number>
auto step(const Number* child, std::uint64_t& point) noexcept -> std::size_t {
    static_assert(count % 4 == 0);
    std::array<std::uint64_t, count> before;  // NOLINT: the sums before each child; each is written before it is read
    auto end = std::uint64_t{0};
    auto behind = std::size_t{0};
    for (std::size_t i = 0; i < count; i += 4) {  // by four: g++ 12 at -O2 unrolls nothing by itself
        before[i] = end;
        behind += point < (end += child[i]) ? 1U : 0U;
        before[i + 1] = end;
        behind += point < (end += child[i + 1]) ? 1U : 0U;
        before[i + 2] = end;
        behind += point < (end += child[i + 2]) ? 1U : 0U;
        before[i + 3] = end;
        behind += point < (end += child[i + 3]) ? 1U : 0U;
    }
    point -= before[count - behind];
    return count - behind;
}

/// Number of lines of sums above so many blocks.
[[nodiscard]] constexpr auto sums_lines(std::size_t blocks) noexcept -> std::size_t {
    auto lines = std::size_t{0};
    while (blocks > 1) {
        blocks = (blocks + sums_fan_out - 1) / sums_fan_out;
        lines += blocks;
    }
    return lines;
}

/// Adds to the sums above a block; unsigned numbers wrap, so it also subtracts.
/// @param line `line(i)` points to the eight sums of line i.
/// @pre `block < blocks`.
/// @complexity O(log8 blocks).
template <class Line>
auto sums_add(Line&& line, std::size_t blocks, std::size_t block, std::uint64_t difference) noexcept -> void {
    for (auto first = std::size_t{0}; blocks > 1; first += blocks) {
        line(first + block / sums_fan_out)[block % sums_fan_out] += difference;
        block /= sums_fan_out;
        blocks = (blocks + sums_fan_out - 1) / sums_fan_out;
    }
}

/// Computes the upper sums from the lowest ones.
/// @param line As for `sums_add`.
/// @pre all upper sums are zero.
/// @complexity linear in `blocks`.
template <class Line>
auto sums_fill(Line&& line, std::size_t blocks) noexcept -> void {
    for (auto first = std::size_t{0}; blocks > sums_fan_out;) {
        const auto above = (blocks + sums_fan_out - 1) / sums_fan_out;
        for (std::size_t i = 0; i < above; ++i) {
            auto& sum = line(first + above + i / sums_fan_out)[i % sums_fan_out];
            for (std::size_t child = 0; child < sums_fan_out; ++child) { sum += line(first + i)[child]; }
        }
        first += above;
        blocks = above;
    }
}

/// The sum of the blocks before a block.
/// @param line `line(i)` points to the eight sums of line i.
/// @pre `block < blocks`.
/// @complexity O(log8 blocks).
template <class Line>
[[nodiscard]] auto sums_before(Line&& line, std::size_t blocks, std::size_t block) noexcept -> std::uint64_t {
    auto sum = std::uint64_t{0};
    for (auto first = std::size_t{0}; blocks > 1; first += blocks) {
        const auto* const sums = line(first + block / sums_fan_out);
        for (std::size_t i = 0; i < block % sums_fan_out; ++i) { sum += sums[i]; }
        block /= sums_fan_out;
        blocks = (blocks + sums_fan_out - 1) / sums_fan_out;
    }
    return sum;
}

/// The block in which `point` falls. Subtracts the blocks before it from `point`.
/// @param lines `sums_lines(blocks)`.
/// @pre `point` is below the sum of all blocks.
/// @complexity O(log8 blocks).
template <class Line>
auto sums_descend(Line&& line, std::size_t lines, std::size_t blocks, std::uint64_t& point) noexcept -> std::size_t {
    auto block = std::size_t{0};
    // As many levels as the number of the last block has digits in base eight.
    for (auto shift = (static_cast<std::size_t>(std::bit_width(blocks - 1)) + 2) / 3 * 3; shift > 0; shift -= 3) {
        lines -= ((blocks - 1) >> shift) + 1;
        block = block * sums_fan_out + step<sums_fan_out>(line(lines + block), point);
    }
    return block;
}

}}}  // namespace allot::v0::detail

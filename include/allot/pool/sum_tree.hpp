#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>
#include <allot/pool/sum_levels.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// Weights by slot, with their exact sum, and a search for the slot in which a point of that sum falls.
///
/// It is the index of every weighted draw. A leaf is one 64-byte line of eight weights and their items: against leaves
/// of two lines that saves 1.9 cold lines a pair of commands, and costs half a line of the plain sums above them.
///
/// Sums of integers are exact and independent of order: the results depend on the contents, never on their history. A
/// weight has 32 bits and there are at most 2^32 slots, so no sum exceeds 64 bits. Spare memory stays below a
/// sixteenth: 9.1 to 9.7 bytes per slot in all.
///
/// The tree is a value; after a move from it, only assignment and destruction are allowed.
class SumTree {
public:
    /// Result of a search: a slot, its item, and the distance of the point from the beginning of the slot's weight.
    struct Found {
        std::uint32_t slot = 0;
        std::uint32_t item = 0;
        std::uint64_t offset = 0;

        [[nodiscard]] friend auto operator==(const Found&, const Found&) noexcept -> bool = default;
    };

    /// Gives `slot` a weight and an item, and grows the tree if needed. A slot that was never set has weight 0 and item
    /// 0.
    ///
    /// It is reversible: setting the former pair again restores every result but `slots()`. If an allocation throws,
    /// nothing changes.
    /// @complexity O(log8 n); O(1) if the weight stays the same.
    auto set(std::uint32_t slot, std::uint32_t weight, std::uint32_t item) -> void {
        const auto block = std::size_t{slot / block_slots};
        if (slot >= slots_) {
            if (weight == 0 && item == 0) { return; }
            if (block >= blocks_.size()) { grow(block + 1); }
            slots_ = std::uint64_t{slot} + 1;
        }
        auto& leaf = blocks_[block];
        const auto lane = slot % block_slots;
        const auto before = leaf.weight[lane];
        leaf.item[lane] = item;
        if (weight == before) { return; }
        leaf.weight[lane] = weight;
        if (before == 0) { ++positive_; }
        if (weight == 0) { --positive_; }
        // Unsigned numbers wrap, so adding the difference is right when the weight falls, too.
        const auto difference = std::uint64_t{weight} - std::uint64_t{before};
        total_ += difference;
        add(block, difference);
    }

    /// Gives back the room of the slots from `reach` on if it is half of the tree or more, and forgets their items;
    /// `slots()` falls. If that needs memory and there is none, the room stays.
    /// @pre These slots have weight 0.
    /// @complexity O(1), or O(reach) where it gives back room.
    auto trim(std::uint32_t reach) noexcept -> void {
        const auto count = (std::size_t{reach} + block_slots - 1) / block_slots;
        if (2 * count > blocks_.size()) { return; }
        try {
            lay_out(count);
        } catch (const std::bad_alloc&) { return; }
        detail::shrink_to(blocks_, count);
        slots_ = count * block_slots;
    }

    /// Prefetches a slot and the sum above it. Changes nothing.
    /// @complexity O(1).
    auto prefetch(std::uint32_t slot) const noexcept -> void {
        const auto block = std::size_t{slot / block_slots};
        if (block >= blocks_.size()) { return; }
        allot::prefetch(blocks_[block]);
        if (!lines_.empty()) { allot::prefetch(lines_[block / detail::sums_fan_out]); }
    }

    /// The weight of `slot`; 0 if it was never set.
    /// @complexity O(1).
    [[nodiscard]] auto weight(std::uint32_t slot) const noexcept -> std::uint32_t {
        const auto block = std::size_t{slot / block_slots};
        return block < blocks_.size() ? blocks_[block].weight[slot % block_slots] : 0;
    }

    /// The item of `slot`; 0 if it was never set.
    /// @complexity O(1).
    [[nodiscard]] auto item(std::uint32_t slot) const noexcept -> std::uint32_t {
        const auto block = std::size_t{slot / block_slots};
        return block < blocks_.size() ? blocks_[block].item[slot % block_slots] : 0;
    }

    /// The sum of all weights.
    [[nodiscard]] auto total() const noexcept -> std::uint64_t { return total_; }

    /// Number of slots whose weight is above 0.
    [[nodiscard]] auto positive() const noexcept -> std::uint32_t { return positive_; }

    /// True if no slot was given a weight or an item since the last `trim` to zero slots.
    [[nodiscard]] auto blank() const noexcept -> bool { return slots_ == 0; }

    /// One past the highest slot that was ever given a weight or an item; at most 2^32. It is a bound for loops and no
    /// part of the contents: it falls with `trim` alone, and `==` ignores it.
    [[nodiscard]] auto slots() const noexcept -> std::uint64_t { return slots_; }

    /// The first slot whose prefix sum, its own weight included, exceeds `point`.
    /// @pre `point < total()`.
    /// @complexity O(log8 n).
    [[nodiscard]] auto find(std::uint64_t point) const noexcept -> Found {
        ALLOT_ASSERT(point < total_, "SumTree::find: the point must be below total()");
        const auto line = [this](std::size_t i) { return lines_[i].sum.data(); };
        const auto block = detail::sums_descend(line, lines_.size(), room_, point);
        const auto& leaf = blocks_[block];
        const auto lane = detail::step<block_slots>(leaf.weight.data(), point);
        ALLOT_ASSERT(point < leaf.weight[lane], "SumTree: the sums are those of the slots");
        return Found{static_cast<std::uint32_t>(block * block_slots + lane), leaf.item[lane], point};
    }

    /// The sum of the weights before a slot.
    /// @pre `slot < slots()`.
    /// @complexity O(log8 n).
    [[nodiscard]] auto before(std::uint32_t slot) const noexcept -> std::uint64_t {
        ALLOT_ASSERT(slot < slots_, "SumTree::before: the slot must be below slots()");
        const auto block = std::size_t{slot / block_slots};
        auto sum = detail::sums_before([this](std::size_t i) { return lines_[i].sum.data(); }, room_, block);
        for (std::size_t lane = 0; lane < slot % block_slots; ++lane) { sum += blocks_[block].weight[lane]; }
        return sum;
    }

    /// Calls `f(slot, item, weight)` for each slot of positive weight, in ascending order.
    /// @pre `f` does not change the tree.
    /// @complexity O(slots).
    template <class F>
    auto for_each(F&& f) const -> void {
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            const auto& leaf = blocks_[block];
            for (std::size_t lane = 0; lane < block_slots; ++lane) {
                if (leaf.weight[lane] != 0) {
                    f(static_cast<std::uint32_t>(block * block_slots + lane), leaf.item[lane], leaf.weight[lane]);
                }
            }
        }
    }

    /// True if every slot has the same weight and the same item in both.
    /// @complexity O(slots).
    [[nodiscard]] friend auto operator==(const SumTree& a, const SumTree& b) noexcept -> bool {
        if (a.total_ != b.total_ || a.positive_ != b.positive_) { return false; }
        const auto& x = a.blocks_;
        const auto& y = b.blocks_;
        const auto common = static_cast<std::ptrdiff_t>(std::min(x.size(), y.size()));
        const auto blank = [](const Block& block) { return block == Block{}; };
        return std::equal(x.begin(), x.begin() + common, y.begin()) &&
               std::all_of(x.begin() + common, x.end(), blank) && std::all_of(y.begin() + common, y.end(), blank);
    }

private:
    static constexpr std::uint32_t block_slots = 8;

    struct alignas(64) Block {
        std::array<std::uint32_t, block_slots> weight{};
        std::array<std::uint32_t, block_slots> item{};

        friend auto operator==(const Block&, const Block&) noexcept -> bool = default;
    };

    struct alignas(64) Line {
        std::array<std::uint64_t, detail::sums_fan_out> sum{};
    };

    auto add(std::size_t block, std::uint64_t difference) noexcept -> void {
        detail::sums_add([this](std::size_t i) { return lines_[i].sum.data(); }, room_, block, difference);
    }

    /// Makes `count` blocks. If an allocation throws, the room made until then stays.
    auto grow(std::size_t count) -> void {
        if (count > room_) {
            const auto room = std::max(count, room_ + room_ / 16);
            blocks_.reserve(room);
            lay_out(room);
        }
        blocks_.resize(count);
    }

    /// Makes sums for another number of blocks. One array holds all of their levels.
    /// @pre blocks behind it have no weight.
    auto lay_out(std::size_t room) -> void {
        auto lines = std::vector<Line>(detail::sums_lines(room));
        if (room > 1 && room_ > 1) {
            const auto lowest = (std::min(room, room_) + detail::sums_fan_out - 1) / detail::sums_fan_out;
            std::copy_n(lines_.begin(), lowest, lines.begin());
        } else if (room > 1) {
            lines.front().sum.front() = total_;  // of one block, which has no sums
        }
        lines_ = std::move(lines);
        room_ = room;
        detail::sums_fill([this](std::size_t i) { return lines_[i].sum.data(); }, room_);
    }

    detail::Roomy<Block> blocks_;  // a copy has room for as many as there are sums for
    std::vector<Line> lines_;
    std::size_t room_ = 0;  // number of blocks that there are sums for
    std::uint64_t total_ = 0;
    std::uint64_t slots_ = 0;
    std::uint32_t positive_ = 0;
};

}}  // namespace allot::v0

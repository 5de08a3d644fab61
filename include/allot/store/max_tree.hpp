#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/store/pages.hpp>

namespace allot { inline namespace v0 {

/// Keys by slot, with the greatest of them.
///
/// It serves the largest stake, to which every node's score is relative and which may change with each payment. It has
/// lines of 16 keys, and above them lines of 16 maxima: 8.5 bytes per slot, where an ordered index takes 64. An absent
/// slot and the key 0 are equal. The tree is a value; after a move from it, only assignment and destruction are
/// allowed.
class MaxTree {
public:
    /// Gives `slot` a key, and grows the tree if needed. It is reversible: setting the former key again restores every
    /// result. If an allocation throws, nothing changes.
    /// @complexity O(log16 n); O(1) if the maximum of its line stays.
    auto set(std::uint32_t slot, std::uint64_t key) -> void {
        auto index = std::size_t{slot};
        if (!has_room(slot)) {
            if (key == 0) { return; }
            grow(slot);
        }
        for (auto& lines : levels_) {
            auto& line = lines[static_cast<std::uint32_t>(index / fan_out)];
            if (line.key[index % fan_out] == key) { return; }
            line.key[index % fan_out] = key;
            key = *std::max_element(line.key.begin(), line.key.end());
            index /= fan_out;
        }
        max_ = key;
    }

    /// Makes room, so that `set(slot, ...)` does not allocate. Changes no result.
    auto reserve(std::uint32_t slot) -> void {
        if (!has_room(slot)) { grow(slot); }
    }

    /// Gives back the room of the slots from `slots` on. Changes no result.
    /// @pre their keys are 0.
    /// @complexity amortised O(1) for each slot.
    auto trim(std::uint32_t slots) noexcept -> void {
        auto last = slots == 0 ? 0 : slots - 1;
        for (auto& level : levels_) { level.trim(last /= fan_out); }
    }

    /// The key of `slot`; 0 if it was never set.
    /// @complexity O(1).
    [[nodiscard]] auto key(std::uint32_t slot) const noexcept -> std::uint64_t {
        return has_room(slot) ? levels_.front()[slot / fan_out].key[slot % fan_out] : 0;
    }

    /// The greatest key; 0 if there is none.
    [[nodiscard]] auto max() const noexcept -> std::uint64_t { return max_; }

    /// True if every slot has the same key in both; room made for others does not matter.
    /// @complexity O(highest slot ever set).
    [[nodiscard]] friend auto operator==(const MaxTree& a, const MaxTree& b) noexcept -> bool {
        if (a.max_ != b.max_) { return false; }
        if (a.max_ == 0) { return true; }
        const auto end = std::max(a.levels_.front().capacity(), b.levels_.front().capacity()) * fan_out;
        for (std::uint64_t slot = 0; slot < end; ++slot) {
            if (a.key(static_cast<std::uint32_t>(slot)) != b.key(static_cast<std::uint32_t>(slot))) { return false; }
        }
        return true;
    }

private:
    static constexpr std::uint32_t fan_out = 16;
    static constexpr std::uint32_t page_lines = 32;

    struct alignas(64) Line {
        std::array<std::uint64_t, fan_out> key{};
    };
    using Lines = Pages<Line, page_lines>;

    [[nodiscard]] auto has_room(std::uint32_t slot) const noexcept -> bool {
        return !levels_.empty() && slot / fan_out < levels_.front().capacity();
    }

    /// Makes room for `slot`, from the top down: a failing allocation leaves no line without the one above.
    auto grow(std::uint32_t slot) -> void {
        slot |= fan_out * page_lines - 1;  // the last slot of its page: the levels above count for all of these
        auto height = std::size_t{1};
        while ((std::uint64_t{slot} >> (4 * height)) != 0) { ++height; }
        while (levels_.size() < height) {
            auto top = Lines{};
            if (!levels_.empty()) {  // the keys have no line before all levels are there
                top.ensure(0);
                top[0].key[0] = max_;
            }
            levels_.push_back(std::move(top));
        }
        for (auto level = levels_.size(); level > 0; --level) {
            levels_[level - 1].ensure(static_cast<std::uint32_t>(std::uint64_t{slot} >> (4 * level)));
        }
    }

    std::vector<Lines> levels_;  // [0]: the keys; above: maxima of lines. The top level has one line.
    std::uint64_t max_ = 0;
};

}}  // namespace allot::v0

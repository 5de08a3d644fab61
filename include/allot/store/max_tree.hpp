#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>

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
        if (levels_.empty() || index / fan_out >= levels_.front().size()) {
            if (key == 0) { return; }
            grow(slot);
        }
        for (auto& lines : levels_) {
            auto& line = lines[index / fan_out];
            if (line.key[index % fan_out] == key) { return; }
            line.key[index % fan_out] = key;
            key = *std::max_element(line.key.begin(), line.key.end());
            index /= fan_out;
        }
        max_ = key;
    }

    /// Makes room, so that `set(slot, ...)` does not allocate. Changes no result.
    auto reserve(std::uint32_t slot) -> void {
        if (levels_.empty() || slot / fan_out >= levels_.front().size()) { grow(slot); }
    }

    /// Gives back the room of the slots from `slots` on. Changes no result.
    /// @pre their keys are 0.
    /// @complexity amortised O(1) for each slot.
    auto trim(std::uint32_t slots) noexcept -> void {
        auto lines = std::size_t{slots};
        for (auto& level : levels_) {
            lines = std::max<std::size_t>((lines + fan_out - 1) / fan_out, 1);
            detail::shrink_to(level, lines);
        }
    }

    /// The key of `slot`; 0 if it was never set.
    /// @complexity O(1).
    [[nodiscard]] auto key(std::uint32_t slot) const noexcept -> std::uint64_t {
        const auto line = std::size_t{slot / fan_out};
        return levels_.empty() || line >= levels_.front().size() ? 0 : levels_.front()[line].key[slot % fan_out];
    }

    /// The greatest key; 0 if there is none.
    [[nodiscard]] auto max() const noexcept -> std::uint64_t { return max_; }

    /// True if every slot has the same key in both; room made for others does not matter.
    /// @complexity O(highest slot ever set).
    [[nodiscard]] friend auto operator==(const MaxTree& a, const MaxTree& b) noexcept -> bool {
        if (a.max_ != b.max_) { return false; }
        if (a.max_ == 0) { return true; }
        const auto& x = a.levels_.front();
        const auto& y = b.levels_.front();
        const auto common = static_cast<std::ptrdiff_t>(std::min(x.size(), y.size()));
        const auto blank = [](const Line& line) { return line == Line{}; };
        return std::equal(x.begin(), x.begin() + common, y.begin()) &&
               std::all_of(x.begin() + common, x.end(), blank) && std::all_of(y.begin() + common, y.end(), blank);
    }

private:
    static constexpr std::uint32_t fan_out = 16;

    struct alignas(64) Line {
        std::array<std::uint64_t, fan_out> key{};

        friend auto operator==(const Line&, const Line&) noexcept -> bool = default;
    };
    using Lines = std::vector<Line>;

    /// Makes room for `slot`, from the top down: a failing allocation leaves no line without the one above.
    auto grow(std::uint32_t slot) -> void {
        auto height = std::size_t{1};
        while ((std::uint64_t{slot} >> (4 * height)) != 0) { ++height; }
        while (levels_.size() < height) {
            auto top = Lines{};
            if (!levels_.empty()) { top.emplace_back().key[0] = max_; }
            levels_.push_back(std::move(top));
        }
        for (auto level = levels_.size(); level > 0; --level) {
            detail::grow_to(levels_[level - 1], static_cast<std::size_t>(std::uint64_t{slot} >> (4 * level)) + 1);
        }
    }

    std::vector<Lines> levels_;  // [0]: the keys; above: maxima of lines. The top level has one line.
    std::uint64_t max_ = 0;
};

}}  // namespace allot::v0

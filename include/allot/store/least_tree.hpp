#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 {

/// Finds the first slot in an order of the owner's, and the next ones.
///
/// It is a tournament: each sixteen slots have a winner, and each sixteen of these again. It stores no keys, so it
/// takes 0.27 bytes per slot, and a change asks for the order of fifteen neighbours. An ordered index would take 64
/// bytes.
///
/// Each call takes the order as `order(a, b)`, "slot a comes before b", with `order.has(slot)`, "the slot takes part".
/// It reads the owner's records, and a tree with a pointer to them could not be copied. The tree is a value; after a
/// move from it, only assignment and destruction are allowed.
/// @pre of every such call: `order` is a strict total order of the slots that take part, and does not throw.
class LeastTree {
public:
    /// Takes note that a slot begins or ends to take part, or that its position in the order changed.
    /// @pre `reserve(slot)` was called.
    /// @complexity O(log16 n), usually O(1).
    template <class Order>
    auto changed(std::uint32_t slot, const Order& order) noexcept -> void {
        auto index = std::size_t{slot} / fan_out;
        for (std::size_t level = 0; level < levels_.size(); ++level, index /= fan_out) {
            auto winner = none;
            each_child(level, index, order, [&](std::uint32_t child) {
                if (winner == none || order(child, winner)) { winner = child; }
            });
            const auto before = std::exchange(levels_[level][index], winner);
            if (before == winner && winner != slot) { return; }
        }
    }

    /// The first slot in the order; none if no slot takes part.
    /// @complexity O(1).
    [[nodiscard]] auto first() const noexcept -> std::optional<std::uint32_t> {
        return levels_.empty() || levels_.back().front() == none ? std::nullopt : std::optional{levels_.back().front()};
    }

    /// The first slot in the order that `accept(slot)` accepts, among the first `tries`.
    /// @complexity O(log n) for each slot that is asked.
    template <class Order, class Accept>
    [[nodiscard]] auto find(const Order& order, const Accept& accept, std::uint32_t tries) const
        -> std::optional<std::uint32_t> {
        auto open = std::vector<Branch>{};  // a heap
        const auto later = [&](const Branch& a, const Branch& b) { return order(b.slot, a.slot); };
        const auto add = [&](Branch branch) {
            open.push_back(branch);
            std::push_heap(open.begin(), open.end(), later);
        };
        if (const auto winner = first()) { add({*winner, levels_.size()}); }
        while (!open.empty() && tries > 0) {
            std::pop_heap(open.begin(), open.end(), later);
            const auto [slot, level] = open.back();
            open.pop_back();
            if (level > 0) {
                each_child(level - 1, std::size_t{slot} >> (4 * level), order,
                           [&, below = level - 1](std::uint32_t child) {
                               add({child, below});
                           });
                continue;
            }
            if (accept(slot)) { return slot; }
            --tries;
        }
        return std::nullopt;
    }

    /// Makes room, so that `changed(slot, ...)` does not allocate. Changes no result.
    /// @complexity amortised O(1) for each slot.
    auto reserve(std::uint32_t slot) -> void {
        auto height = std::size_t{1};
        while ((std::uint64_t{slot} >> (4 * height)) != 0) { ++height; }
        while (levels_.size() < height) { levels_.emplace_back(1, first().value_or(none)); }
        for (auto level = levels_.size(); level > 0; --level) {
            const auto reach = static_cast<std::size_t>(std::uint64_t{slot} >> (4 * level)) + 1;
            detail::grow_to(levels_[level - 1], reach, none);
        }
    }

    /// Gives back the room of the slots from `slots` on. Changes no result.
    /// @pre none of them takes part.
    /// @complexity amortised O(1) for each slot.
    auto trim(std::uint32_t slots) noexcept -> void {
        auto entries = std::size_t{slots};
        for (auto& level : levels_) {
            entries = std::max<std::size_t>((entries + fan_out - 1) / fan_out, 1);
            detail::shrink_to(level, entries);
        }
    }

private:
    static constexpr std::uint32_t fan_out = 16;
    static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

    /// A slot at level 0, or at level k the branch of 16^k slots that it won.
    struct Branch {
        std::uint32_t slot = none;
        std::size_t level = 0;
    };

    /// Calls `f(slot)` for each slot that takes part, or that won a branch, below an entry of `levels_`.
    template <class Order, class F>
    void each_child(std::size_t level, std::size_t index, const Order& order, F&& f) const {
        const auto first = index * fan_out;
        if (level == 0) {
            for (auto slot = first; slot < first + fan_out; ++slot) {
                if (order.has(static_cast<std::uint32_t>(slot))) { f(static_cast<std::uint32_t>(slot)); }
            }
            return;
        }
        const auto& below = levels_[level - 1];
        for (auto child = first; child < std::min<std::size_t>(first + fan_out, below.size()); ++child) {
            if (below[child] != none) { f(below[child]); }
        }
    }

    std::vector<std::vector<std::uint32_t>> levels_;  // winners: of 16 slots, of 16 of these; the top has one
};

}}  // namespace allot::v0

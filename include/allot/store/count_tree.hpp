#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 {

/// Counts by slot, and the slot in which the k-th of all that is counted falls.
///
/// It is a Fenwick tree: the entry of slot i - 1 is the sum of the last counts up to it, as many as the lowest bit of
/// i. Eight bytes per slot. The tree is a value.
class CountTree {
public:
    /// Makes room, so that `add` to this slot does not allocate. Changes no result.
    /// @complexity O(log n) for each new slot.
    void reserve(std::uint32_t slot) {
        detail::make_room(sums_, std::size_t{slot} + 1);
        while (sums_.size() <= slot) {
            const auto i = sums_.size() + 1;
            sums_.push_back(before(i - 1) - before(i - (i & (0 - i))));
        }
    }

    /// Adds a difference to a count. Unsigned numbers wrap, so the count may also fall.
    /// @pre `reserve(slot)` was called.
    /// @complexity O(log n).
    void add(std::uint32_t slot, std::uint64_t difference) noexcept {
        ALLOT_ASSERT(slot < sums_.size(), "CountTree::add: no room was made for the slot");
        for (auto i = std::size_t{slot} + 1; i <= sums_.size(); i += i & (0 - i)) { sums_[i - 1] += difference; }
    }

    /// Sum of all counts.
    /// @complexity O(log n).
    [[nodiscard]] auto total() const noexcept -> std::uint64_t { return before(sums_.size()); }

    /// The slot of the `point`-th of all that is counted, from zero, and how many of that slot are before it.
    /// @pre `point < total()`.
    /// @complexity O(log n).
    [[nodiscard]] auto find(std::uint64_t point) const noexcept -> std::pair<std::uint32_t, std::uint64_t> {
        ALLOT_ASSERT(point < total(), "CountTree::find: fewer are counted");
        auto i = std::size_t{0};
        for (auto step = std::bit_floor(sums_.size()); step > 0; step /= 2) {
            if (i + step <= sums_.size() && sums_[i + step - 1] <= point) {
                i += step;
                point -= sums_[i - 1];
            }
        }
        return {static_cast<std::uint32_t>(i), point};
    }

    /// Gives back the room of the slots from `reach` on, of which none is counted. Changes no result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept { detail::shrink_to(sums_, reach); }

private:
    /// Sum of the counts of the first `count` slots.
    [[nodiscard]] auto before(std::size_t count) const noexcept -> std::uint64_t {
        auto sum = std::uint64_t{0};
        for (auto i = count; i > 0; i -= i & (0 - i)) { sum += sums_[i - 1]; }
        return sum;
    }

    std::vector<std::uint64_t> sums_;
};

}}  // namespace allot::v0

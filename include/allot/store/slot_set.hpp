#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/assert.hpp>
#include <allot/store/grow.hpp>

namespace allot { inline namespace v0 {

/// A set of taken small integers that knows its lowest free one.
///
/// Handles and slots are given out by it, lowest first, because slot order decides draws: a free list
/// would remember in which order things left, and two replicas with equal contents could then differ.
/// Here the next slot depends on the contents alone, and undoing a `take` by a `free` (or the reverse)
/// leads back to the very same answers.
///
/// A bitmap of 64-ary levels: a bit of the lowest level says "taken", a bit above says "that whole word
/// is full". Memory is one bit and a little for each slot below the highest ever taken.
/// A value; moved from, it may only be assigned to or destroyed.
class SlotSet {
public:
    /// The lowest integer that is not taken.
    /// @pre fewer than 2^32 are taken.
    /// @complexity O(log64 n).
    [[nodiscard]] auto lowest_free() const noexcept -> std::uint32_t {
        auto word = std::uint64_t{0};
        for (auto level = levels_.size(); level > 0; --level) {
            const auto& words = levels_[level - 1];
            if (word >= words.size()) {
                // Nothing was ever taken from here on: the first slot below this word is free.
                return static_cast<std::uint32_t>(word << (6 * level));
            }
            const auto full = static_cast<unsigned>(std::countr_one(words[static_cast<std::size_t>(word)]));
            // A full word can only be the top one (above it, its own bit would have been passed over).
            // Then 64 steps lead just behind everything there is.
            word = (word << 6) + full;
        }
        return static_cast<std::uint32_t>(word);
    }

    /// Takes `slot`. Throws what an allocation throws, and then changes nothing.
    /// @pre `slot` is free.
    /// @complexity O(log64 n), amortised where the set grows.
    auto take(std::uint32_t slot) -> void {
        ALLOT_ASSERT(!taken(slot), "SlotSet::take: the slot is taken already");
        reserve(slot);
        auto index = std::uint64_t{slot};
        for (auto& words : levels_) {
            auto& word = words[static_cast<std::size_t>(index >> 6)];
            word |= std::uint64_t{1} << (index & 63);
            if (word != full_word) { break; }
            index >>= 6;
        }
        ++size_;
    }

    /// Frees `slot`.
    /// @pre `slot` is taken.
    /// @complexity O(log64 n).
    auto free(std::uint32_t slot) noexcept -> void {
        ALLOT_ASSERT(taken(slot), "SlotSet::free: the slot is not taken");
        auto index = std::uint64_t{slot};
        for (auto& words : levels_) {
            auto& word = words[static_cast<std::size_t>(index >> 6)];
            const auto was_full = word == full_word;
            word &= ~(std::uint64_t{1} << (index & 63));
            if (!was_full) { break; }
            index >>= 6;
        }
        --size_;
    }

    /// Whether `slot` is taken.
    /// @complexity O(1).
    [[nodiscard]] auto taken(std::uint32_t slot) const noexcept -> bool {
        const auto word = std::size_t{slot >> 6};
        return !levels_.empty() && word < levels_.front().size() &&
               ((levels_.front()[word] >> (slot & 63)) & 1U) != 0;
    }

    /// How many are taken.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// Whether none is taken.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// Makes room, so that `take(slot)` does not allocate. Changes no answer.
    /// @complexity amortised O(1) for each slot below `slot`.
    auto reserve(std::uint32_t slot) -> void {
        if (!levels_.empty() && (slot >> 6) < levels_.front().size()) { return; }
        auto height = std::size_t{1};
        while ((std::uint64_t{slot} >> (6 * height)) != 0) { ++height; }
        while (levels_.size() < height) {
            // The new top word summarises the old one, if there is one.
            const auto full = !levels_.empty() && !levels_.back().empty() && levels_.back().front() == full_word;
            levels_.push_back(levels_.empty() ? Words{} : Words{std::uint64_t{full ? 1U : 0U}});
        }
        // From the top down, so that a failing allocation leaves no word without the one above it.
        for (auto level = levels_.size(); level > 0; --level) {
            detail::grow_to(levels_[level - 1], static_cast<std::size_t>(std::uint64_t{slot} >> (6 * level)) + 1);
        }
    }

    /// Calls `f(slot)` for each taken slot, in ascending order.
    /// @pre `f` does not change the set.
    /// @complexity O(size + highest ever taken / 64).
    template <class F>
    auto for_each(F&& f) const -> void {
        if (levels_.empty()) { return; }
        const auto& words = levels_.front();
        for (std::size_t i = 0; i < words.size(); ++i) {
            for (auto rest = words[i]; rest != 0; rest &= rest - 1) {
                f(static_cast<std::uint32_t>(i * 64 + static_cast<unsigned>(std::countr_zero(rest))));
            }
        }
    }

    /// Whether both hold the same integers; room made for others does not matter.
    /// @complexity O(highest ever taken / 64).
    [[nodiscard]] friend auto operator==(const SlotSet& a, const SlotSet& b) noexcept -> bool {
        if (a.size_ != b.size_) { return false; }
        if (a.size_ == 0) { return true; }
        // As many are taken in both, so where the words that both have agree, nothing can stand behind them.
        const auto& x = a.levels_.front();
        const auto& y = b.levels_.front();
        const auto common = static_cast<std::ptrdiff_t>(std::min(x.size(), y.size()));
        return std::equal(x.begin(), x.begin() + common, y.begin());
    }

private:
    using Words = std::vector<std::uint64_t>;
    static constexpr auto full_word = ~std::uint64_t{0};

    std::vector<Words> levels_;  // [0]: taken; above: full. The top level has one word.
    std::uint32_t size_ = 0;
};

}}  // namespace allot::v0

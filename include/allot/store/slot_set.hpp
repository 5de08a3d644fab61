#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/grow.hpp>
#include <allot/core/list.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// A set of taken small integers that knows its lowest free one.
///
/// It gives out handles and slots, lowest first, because slot order decides draws. A free list would depend on the
/// order of removals, and two replicas with equal contents could then differ. Here the next slot depends on the
/// contents alone, and undoing a `take` by a `free` (or the reverse) restores every result.
///
/// It is a bitmap of 64-ary levels: a bit of the lowest level means "taken", a bit above means "the whole word is
/// full". Memory is slightly more than one bit for each slot below the highest taken since the last `trim`. A set that
/// stays below 64 allocates nothing, because most sets are the holders of one model in one class. The set is a value;
/// after a move from it, only assignment and destruction are allowed.
class SlotSet {
public:
    /// The lowest integer that is not taken.
    /// @pre fewer than 2^32 are taken.
    /// @complexity O(log64 n).
    [[nodiscard]] auto lowest_free() const noexcept -> std::uint32_t {
        if (is_one_word()) { return static_cast<std::uint32_t>(std::countr_one(first_word_)); }
        auto word = std::uint64_t{0};
        for (auto level = levels_.size(); level > 0; --level) {
            const auto& words = levels_[level - 1];
            if (word >= words.size()) {
                // No slot from here on was ever taken: the first slot below this word is free.
                return static_cast<std::uint32_t>(word << (6 * level));
            }
            const auto full = static_cast<unsigned>(std::countr_one(words[static_cast<std::size_t>(word)]));
            // A full word can only be the top one (above it, its own bit would have been skipped).
            // Then 64 steps lead to the slot right behind all words.
            word = (word << 6) + full;
        }
        return static_cast<std::uint32_t>(word);
    }

    /// Takes `slot`. If an allocation throws, nothing changes.
    /// @pre `slot` is free.
    /// @complexity O(log64 n), amortised where the set grows.
    auto take(std::uint32_t slot) -> void {
        ALLOT_ASSERT(!taken(slot), "SlotSet::take: the slot is taken already");
        if (const auto word = slot >> 6; word >= used_) {
            if (word >= lowest().size()) { reserve(slot); }
            used_ = is_one_word() ? 0 : word + 1;
        }
        ++size_;
        if (is_one_word()) {
            first_word_ |= std::uint64_t{1} << slot;
            return;
        }
        auto index = std::uint64_t{slot};
        for (auto& words : levels_) {
            auto& word = words[static_cast<std::size_t>(index >> 6)];
            word |= std::uint64_t{1} << (index & 63);
            if (word != full_word) { break; }
            index >>= 6;
        }
    }

    /// Frees `slot`.
    /// @pre `slot` is taken.
    /// @complexity O(log64 n); where it is the highest, O(slots down to the next one / 64) more.
    auto free(std::uint32_t slot) noexcept -> void {
        ALLOT_ASSERT(taken(slot), "SlotSet::free: the slot is not taken");
        --size_;
        if (is_one_word()) {
            first_word_ &= ~(std::uint64_t{1} << slot);
            return;
        }
        auto index = std::uint64_t{slot};
        for (auto& words : levels_) {
            auto& word = words[static_cast<std::size_t>(index >> 6)];
            const auto was_full = word == full_word;
            word &= ~(std::uint64_t{1} << (index & 63));
            if (!was_full) { break; }
            index >>= 6;
        }
        if ((slot >> 6) + 1 == used_) {
            while (used_ > 0 && levels_[0][used_ - 1] == 0) { --used_; }
        }
    }

    /// True if `slot` is taken.
    /// @complexity O(1).
    [[nodiscard]] auto taken(std::uint32_t slot) const noexcept -> bool {
        const auto word = std::size_t{slot >> 6};
        const auto words = lowest();
        return word < words.size() && ((words[word] >> (slot & 63)) & 1U) != 0;
    }

    /// Prefetches the bit of `slot`. Changes nothing.
    /// @complexity O(1).
    auto prefetch(std::uint32_t slot) const noexcept -> void {
        const auto words = lowest();
        if (slot >> 6 < words.size()) { allot::prefetch(words[slot >> 6]); }
    }

    /// The room that the taken slots need, of `room` slots in pages: without the empty pages at the end, but for one,
    /// which serves a set that grows and falls by a few.
    /// @pre `page` is a multiple of 64, `room` one of `page`, and above every taken slot.
    /// @complexity O(1).
    [[nodiscard]] auto room_needed(std::uint64_t room, std::uint32_t page) const noexcept -> std::uint64_t {
        const auto full_pages = (std::uint64_t{reach()} + page - 1) / page;
        return std::min(room, (full_pages + 1) * page);
    }

    /// True if an eighth of its memory, or more with a spread, is above the highest taken slot, so that `trim` pays.
    /// @param spread Below 64; 63 stands for three eighths. Sets that fall together differ by it, so that they are not
    /// trimmed together.
    /// @complexity O(1).
    [[nodiscard]] auto sparse(std::uint32_t spread) const noexcept -> bool {
        return !is_one_word() && 256 * std::uint64_t{used_} <= (224 - spread) * std::uint64_t{levels_.front().size()};
    }

    /// Gives back the memory above the highest taken slot. Changes no result.
    /// @complexity O(room).
    auto trim() noexcept -> void {
        if (used_ <= 1 && !is_one_word()) {
            first_word_ = levels_.front().front();
            levels_ = {};
        }
        for (auto words = std::size_t{used_}; auto& level : levels_) {
            detail::shrink_to(level, words);
            words = (words + 63) / 64;
        }
        while (levels_.size() > 1 && levels_[levels_.size() - 2].size() == 1) { levels_.erase(levels_.end() - 1); }
    }

    /// Number of taken slots.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// True if no slot is taken.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// One past the highest taken slot; zero if none is taken.
    /// @complexity O(1).
    [[nodiscard]] auto reach() const noexcept -> std::uint32_t {
        if (size_ == 0) { return 0; }
        const auto word = is_one_word() ? 0 : used_ - 1;
        return word * 64 + static_cast<std::uint32_t>(std::bit_width(lowest()[word]));
    }

    /// Makes room, so that `take(slot)` does not allocate. Changes no result.
    /// @complexity amortised O(1) for each slot below `slot`.
    auto reserve(std::uint32_t slot) -> void {
        if ((slot >> 6) < lowest().size()) { return; }
        auto height = std::size_t{1};
        while ((std::uint64_t{slot} >> (6 * height)) != 0) { ++height; }
        while (levels_.size() < height) {
            // The new top word summarises the old one.
            const auto full = !is_one_word() && levels_.back().front() == full_word;
            if (is_one_word()) { used_ = first_word_ != 0 ? 1 : 0; }
            levels_.push_back(is_one_word() ? Words{first_word_} : Words{std::uint64_t{full ? 1U : 0U}});
        }
        // From the top down, so that a failing allocation leaves no word without the one above it.
        for (auto level = levels_.size(); level > 0; --level) {
            detail::grow_to(levels_[level - 1], static_cast<std::size_t>(std::uint64_t{slot} >> (6 * level)) + 1);
        }
    }

    /// Calls `f(slot)` for each taken slot, in ascending order.
    /// @pre `f` does not change the set.
    /// @complexity O(size + room / 64).
    template <class F>
    auto for_each(F&& f) const -> void {
        const auto words = lowest();
        const auto blank_from = [&]<std::size_t... I>(std::size_t i, std::index_sequence<I...>) {
            return i + sizeof...(I) <= words.size() && (words[i + I] | ...) == 0;
        };
        for (std::size_t i = 0; i < words.size(); ++i) {
            // A set that was large may be nearly empty now.
            while (blank_from(i, std::make_index_sequence<16>{})) { i += 16; }
            if (i == words.size()) { return; }
            for (auto rest = words[i]; rest != 0; rest &= rest - 1) {
                f(static_cast<std::uint32_t>(i * 64 + static_cast<unsigned>(std::countr_zero(rest))));
            }
        }
    }

    /// True if both hold the same integers; room made for others does not matter.
    /// @complexity O(room / 64).
    [[nodiscard]] friend auto operator==(const SlotSet& a, const SlotSet& b) noexcept -> bool {
        if (a.size_ != b.size_) { return false; }
        // Both have as many, so where the words that both have agree, no slot can be taken behind them.
        const auto x = a.lowest();
        const auto y = b.lowest();
        const auto common = static_cast<std::ptrdiff_t>(std::min(x.size(), y.size()));
        return std::equal(x.begin(), x.begin() + common, y.begin());
    }

private:
    using Words = std::vector<std::uint64_t>;
    static constexpr auto full_word = ~std::uint64_t{0};

    [[nodiscard]] auto is_one_word() const noexcept -> bool { return levels_.data() == nullptr; }
    [[nodiscard]] auto lowest() const noexcept -> std::span<const std::uint64_t> {
        return is_one_word() ? std::span{&first_word_, 1} : std::span{levels_.front()};
    }

    std::uint64_t first_word_ = 0;  // the only word while there are no levels
    List<Words> levels_;            // [0]: taken; above: full. The top level has one word.
    std::uint32_t size_ = 0;
    std::uint32_t used_ = 0;  // with levels: words up to the highest one that has a taken slot
};
static_assert(sizeof(void*) > 8 || sizeof(SlotSet) <= 24, "there is one for each model in each class");

}}  // namespace allot::v0

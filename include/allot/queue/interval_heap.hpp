#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <allot/assert.hpp>
#include <allot/store/prefetch.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 {

/// A heap with two ends: the first and the last of its entries are both accessible, and each entry is stored once.
///
/// Entries form pairs, the *high* one before the *low* one. The highs are a 4-ary heap with the first on top, the lows
/// one with the last on top, and every pair lies within the pair above it. So an entry is removed along one short path
/// at either end, and half as many entries compete on that path as in a heap for each end.
///
/// Four sibling pairs make a family, their highs contiguous: the comparisons of one step read two neighbouring cache
/// lines (of 32-byte entries). The first four pairs have no pair above them, so that each family starts at a multiple
/// of its size.
///
/// The heap reports the places of entries: it calls `placed(entry, place)` for each entry that moved to another place.
/// @pre `before(a, b)` is a strict total order and does not throw, and neither does `placed`.
template <class Entry, auto before>
class IntervalHeap {
public:
    /// Adds an entry. If an allocation throws, nothing changes.
    /// @complexity O(log n), O(1) for most; O(64 families) where the heap grows.
    template <class Placed>
    void push(const Entry& entry, const Placed& placed) {
        families_.ensure(size_ / 2 / fan_out);
        const auto place = size_++;
        if (place % 2 == 0) {  // a pair of its own, whose low is also its high
            if (!rises<low>(entry, place)) {
                rise<high>(entry, place, placed);
            } else {
                rise<low>(entry, place, placed);
            }
        } else if (before(entry, at(place - 1))) {
            put(place, at(place - 1), placed);
            rise<high>(entry, place - 1, placed);
        } else {
            rise<low>(entry, place, placed);
        }
    }

    /// Removes the entry at `place`.
    /// @pre `place < size()`.
    /// @complexity O(log n).
    template <class Placed>
    void erase(std::uint32_t place, const Placed& placed) {
        ALLOT_ASSERT(place < size_, "IntervalHeap::erase: no entry stands at this place");
        const auto last = at(--size_);
        if (place == size_) { return; }
        if (place % 2 == high) {
            fill<high>(last, place, placed);
        } else {
            fill<low>(last, place, placed);
        }
    }

    /// The entry at `place`; it stays there until the next change.
    /// @pre `place < size()`.
    [[nodiscard]] auto operator[](std::uint32_t place) const noexcept -> const Entry& { return at(place); }

    /// The first entry in the order.
    /// @pre `size() > 0`.
    [[nodiscard]] auto first() const noexcept -> const Entry& { return at(top_of<high>(0)); }

    /// The last entry in the order.
    /// @pre `size() > 0`.
    [[nodiscard]] auto last() const noexcept -> const Entry& { return at(top_of<low>(0)); }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// Gives back the room of entries that are gone. Changes no result.
    /// @complexity O(1), or linear in the room that is given back.
    void trim() noexcept {
        const auto families = (size_ + 2 * fan_out - 1) / (2 * fan_out);
        families_.trim(families);
    }

    /// Calls `f(place)` for the roots, one of which is the first entry.
    /// @complexity constant: at most four calls.
    template <class F>
    void for_roots(F&& f) const {
        for_family(0, f);
    }

    /// Calls `f(place)` for the entries that are known to follow only the one at `place`.
    ///
    /// A walk that starts at the roots and always continues from the first entry not yet walked from visits all entries
    /// in order.
    /// @complexity constant.
    template <class F>
    void for_next(std::uint32_t place, F&& f) const {
        if (place % 2 == high) {
            if (place + 1 < size_) { f(place + 1); }
            for_family(place / 2 + 1, f);
        }
    }

    /// Fetches from memory the entries that `for_next(place, ...)` will name. Changes nothing.
    void prefetch_next(std::uint32_t place) const noexcept {
        const auto family = place / 2 + 1;
        if (place % 2 == high && family * fan_out < pairs()) { allot::prefetch(families_[family].ends[high]); }
    }

private:
    static constexpr std::uint32_t fan_out = 4;
    /// Ends of a pair. The place of an entry is twice the number of its pair, and 1 more if it is the low one.
    static constexpr std::uint32_t high = 0;
    static constexpr std::uint32_t low = 1;

    struct alignas(64) Family {
        std::array<std::array<Entry, fan_out>, 2> ends;
    };

    [[nodiscard]] static auto at(const Family& family, std::uint32_t place) noexcept -> const Entry& {
        return family.ends[place % 2][place / 2 % fan_out];
    }
    [[nodiscard]] auto at(std::uint32_t place) const noexcept -> const Entry& {
        return at(families_[place / (2 * fan_out)], place);
    }

    template <class Placed>
    void put(std::uint32_t place, const Entry& entry, const Placed& placed) {
        families_[place / (2 * fan_out)].ends[place % 2][place / 2 % fan_out] = entry;
        placed(entry, place);
    }

    /// True if a is above b among the highs or among the lows.
    template <std::uint32_t end>
    [[nodiscard]] static auto above(const Entry& a, const Entry& b) -> bool {
        return end == high ? before(a, b) : before(b, a);
    }

    /// Number of pairs, of which the last may lack its low entry.
    [[nodiscard]] auto pairs() const noexcept -> std::uint32_t { return (size_ + 1) / 2; }

    /// The place of an end of a pair; a pair's only entry is both ends.
    template <std::uint32_t end>
    [[nodiscard]] auto place_of(std::uint32_t pair) const noexcept -> std::uint32_t {
        return std::min(2 * pair + end, size_ - 1);
    }

    /// The place of the top entry of a family.
    /// @pre the family has a pair.
    template <std::uint32_t end>
    [[nodiscard]] auto top_of(std::uint32_t family) const -> std::uint32_t {
        const auto& entries = families_[family];
        auto top = place_of<end>(family * fan_out);
        const auto* first = &at(entries, top);
        for (auto pair = family * fan_out + 1; pair < std::min((family + 1) * fan_out, pairs()); ++pair) {
            const auto place = place_of<end>(pair);
            if (const auto& entry = at(entries, place); above<end>(entry, *first)) {
                top = place;
                first = &entry;
            }
        }
        return top;
    }

    /// The place above, of the same end.
    /// @pre `place` is in no root.
    template <std::uint32_t end>
    [[nodiscard]] static auto parent(std::uint32_t place) noexcept -> std::uint32_t {
        return 2 * (place / (2 * fan_out) - 1) + end;
    }

    template <std::uint32_t end>
    [[nodiscard]] auto rises(const Entry& entry, std::uint32_t place) const -> bool {
        return place >= 2 * fan_out && above<end>(entry, at(parent<end>(place)));
    }

    /// Puts an entry into the hole at `place`, or further up while it is above its parent.
    template <std::uint32_t end, class Placed>
    void rise(const Entry& entry, std::uint32_t place, const Placed& placed) {
        while (place >= 2 * fan_out) {
            const auto& over = at(parent<end>(place));
            if (!above<end>(entry, over)) { break; }
            put(place, over, placed);
            place = parent<end>(place);
        }
        put(place, entry, placed);
    }

    /// Puts an entry into the hole at `place`, from which one of the same end was removed.
    template <std::uint32_t end, class Placed>
    void fill(const Entry& entry, std::uint32_t place, const Placed& placed) {
        for (auto family = place / 2 + 1; family * fan_out < pairs(); family = place / 2 + 1) {
            const auto top = top_of<end>(family);
            const auto& next = at(top);
            if (!above<end>(next, entry)) { break; }
            put(place, next, placed);
            place = top;
        }
        // Only among pairs without a family can the entry belong to the other end.
        const auto other = place ^ 1U;
        if (other < size_ && above<end>(at(other), entry)) {
            put(place, at(other), placed);
            rise<1 - end>(entry, other, placed);
        } else {
            rise<end>(entry, place, placed);
        }
    }

    template <class F>
    void for_family(std::uint32_t family, F& f) const {
        for (auto pair = family * fan_out; pair < std::min((family + 1) * fan_out, pairs()); ++pair) { f(2 * pair); }
    }

    SplitVector<Family, 64, 64> families_;
    std::uint32_t size_ = 0;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <allot/assert.hpp>
#include <allot/store/column.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// An entry that falls due: its time (milliseconds), its kind (a small number of the owner's choice), and its handle.
struct Due {
    std::int64_t time = 0;
    std::uint8_t kind = 0;
    std::uint32_t handle = 0;

    [[nodiscard]] friend auto operator==(const Due&, const Due&) noexcept -> bool = default;
};

/// The entry that falls due next, with at most one entry for each (kind, handle).
///
/// It is a 4-ary heap that stores the place of each entry, so an entry can be moved or erased by its handle. A timer
/// wheel was as fast and needed eleven levels for 64-bit times. In the heap the next deadline is exact, needs no notion
/// of now, and entries of equal time have the owner's order.
///
/// Each call that may compare takes that order as `ties(const Due& a, const Due& b) -> bool`: "a comes before b",
/// called only when the times are equal. It reads ids in the owner's records, and a heap with a pointer to them could
/// not be copied. With a strict total order the result of `top` depends on the contents alone, never on the history.
/// It may have `ties.fetch(const Due&)`, which prefetches the id of an entry.
/// @pre of every such call: `ties` is a strict total order of the entries, does not change while they stay, and does
/// not throw.
template <unsigned kinds>
class DueHeap {
    static_assert(kinds >= 1 && kinds <= 256,
                  "allot::DueHeap: `kinds` counts the kinds of due work, from 1 to 256, for example DueHeap<3>.");

public:
    /// Adds `due`, or moves the entry of the same kind and handle to its time. If an allocation throws, nothing
    /// changes.
    /// @pre `due.kind < kinds`.
    /// @complexity O(log4 n), usually O(1) when the time is late.
    template <class Ties>
    auto set(Due due, const Ties& ties) -> void {
        reserve(due.kind, due.handle);
        put(due, ties);
    }

    /// The same, where there is room. Does not throw.
    /// @pre `reserve` was called for the entry, or it was there, and no `trim` since.
    /// @complexity as `set`.
    template <class Ties>
    auto put(Due due, const Ties& ties) -> void {
        ALLOT_ASSERT(due.kind < kinds, "DueHeap::put: no such kind");
        const auto place = place_of(due.kind, due.handle);
        if (place == absent) {
            settle(size_++, due, ties);
        } else {
            replace(place, due, ties);
        }
    }

    /// Makes room, so that `set` of this kind and handle does not allocate, or of `more` handles that end with this.
    /// @pre `kind < kinds`.
    auto reserve(std::uint8_t kind, std::uint32_t handle, std::uint32_t more = 1) -> void {
        ALLOT_ASSERT(kind < kinds, "DueHeap::reserve: no such kind");
        // Mostly there is room, and this is called for each change.
        const auto last = page_of(size_ + more - 1);
        if (more > 1 || places_[kind].find(handle) == nullptr || last >= heap_.capacity()) {
            places_[kind].reserve(handle, more);
            heap_.ensure(last);
        }
    }

    /// Gives back the room of a kind's handles from `handles` on, and of entries that are gone. Changes no result.
    /// @pre no entry of these handles is there.
    /// @complexity amortised O(1) for each entry or handle that is gone.
    auto trim(std::uint8_t kind, std::uint32_t handles) noexcept -> void {
        places_[kind].trim(handles);
        heap_.trim(page_of(size_) + 1);  // one to spare, for a heap that grows and falls by a few
    }

    /// Removes the entry of `kind` and `handle`; returns true if there was one.
    /// @complexity O(log4 n).
    template <class Ties>
    auto erase(std::uint8_t kind, std::uint32_t handle, const Ties& ties) -> bool {
        const auto place = kind < kinds ? place_of(kind, handle) : absent;
        if (place == absent) { return false; }
        places_[kind].at(handle) = 0;
        const auto last = at(--size_);
        if (place < size_) { replace(place, last, ties); }
        return true;
    }

    /// True if there is an entry of `kind` and `handle`.
    /// @complexity O(1).
    [[nodiscard]] auto contains(std::uint8_t kind, std::uint32_t handle) const noexcept -> bool {
        return find(kind, handle) != nullptr;
    }

    /// The entry of `kind` and `handle`, or null. The pointer holds until the next change.
    /// @complexity O(1).
    [[nodiscard]] auto find(std::uint8_t kind, std::uint32_t handle) const noexcept -> const Due* {
        const auto place = kind < kinds ? place_of(kind, handle) : absent;
        return place == absent ? nullptr : &at(place);
    }

    /// The entry that falls due first, or null. The pointer holds until the next change.
    /// @complexity O(1).
    [[nodiscard]] auto top() const noexcept -> const Due* { return size_ == 0 ? nullptr : &at(0); }

    /// The entries of which one falls due after the first. They hold until the next change.
    /// @complexity O(1).
    [[nodiscard]] auto after_top() const noexcept -> std::span<const Due> {
        if (size_ < 2) { return {}; }
        return children_of(0);
    }

    /// Number of entries.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// True if there is no entry.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// Calls `f(due)` for each entry, by kind and then by handle, both ascending. The order in the heap depends on the
    /// history and must not show.
    /// @pre `f` does not change the heap.
    /// @complexity O(kinds * highest handle).
    template <class F>
    auto for_each(F&& f) const -> void {
        for (const auto& places : places_) {
            places.for_each([&](std::uint32_t place) { f(at(place - 1)); });
        }
    }

    /// True if both hold the same entries, in any internal order.
    /// @complexity O(n).
    [[nodiscard]] friend auto operator==(const DueHeap& a, const DueHeap& b) noexcept -> bool {
        auto equal = a.size_ == b.size_;
        for (std::uint32_t place = 0; equal && place < a.size_; ++place) {
            const auto& due = a.at(place);
            const auto* const other = b.find(due.kind, due.handle);
            equal = other != nullptr && *other == due;
        }
        return equal;
    }

private:
    static constexpr std::uint32_t fan_out = 4;
    static constexpr std::uint32_t page_size = 2'048;
    static constexpr std::uint32_t shift = fan_out - 1;  // of the root, so that siblings are in one cache line
    static constexpr auto absent = ~std::uint32_t{0};

    struct alignas(64) Page {
        std::array<Due, page_size> dues{};
    };

    [[nodiscard]] static constexpr auto page_of(std::uint32_t place) noexcept -> std::uint32_t {
        return (place + shift) / page_size;
    }
    [[nodiscard]] auto at(std::uint32_t place) noexcept -> Due& {
        return heap_[page_of(place)].dues[(place + shift) % page_size];
    }
    [[nodiscard]] auto at(std::uint32_t place) const noexcept -> const Due& {
        return heap_[page_of(place)].dues[(place + shift) % page_size];
    }
    /// The entries of which `place` is the parent: four, or as many as there are.
    /// @pre there is one.
    [[nodiscard]] auto children_of(std::uint32_t place) const noexcept -> std::span<const Due> {
        const auto first = place * fan_out + 1;
        return {&at(first), std::min(fan_out, size_ - first)};
    }

    [[nodiscard]] auto place_of(std::uint8_t kind, std::uint32_t handle) const noexcept -> std::uint32_t {
        return places_[kind][handle] - 1;  // 0 wraps to `absent`
    }

    template <class Ties>
    [[nodiscard]] static auto before(const Due& a, const Due& b, const Ties& ties) -> bool {
        return a.time != b.time ? a.time < b.time : static_cast<bool>(ties(a, b));
    }

    auto write(std::uint32_t place, const Due& due) noexcept -> void {
        at(place) = due;
        places_[due.kind].at(due.handle) = place + 1;
    }

    /// Moves `due` from `place` to its place. If it falls due after the entry there, it does so after the parent, too:
    /// that one is not read, which saves a cold line a pair of commands.
    template <class Ties>
    auto replace(std::uint32_t place, const Due& due, const Ties& ties) -> void {
        if (at(place).time < due.time) {
            write(sink(place, due, ties), due);
        } else {
            settle(place, due, ties);
        }
    }

    /// Moves `due` from the hole at `place` to its place: up while it comes before its parent, or else down.
    template <class Ties>
    auto settle(std::uint32_t place, const Due& due, const Ties& ties) -> void {
        const auto start = place;
        while (place > 0) {
            const auto parent = (place - 1) / fan_out;
            const auto& over = at(parent);
            if (!before(due, over, ties)) { break; }
            write(place, over);
            place = parent;
        }
        if (place == start) { place = sink(place, due, ties); }
        write(place, due);
    }

    /// Prefetches the ids of these siblings, and their children, if they are due at one moment. The owner's records are
    /// far from each other in memory, and the processor cannot guess the result of a comparison: one after another,
    /// each would wait for its own.
    template <class Ties>
    void fetch(std::uint32_t first, std::span<const Due> siblings, const Ties& ties) const noexcept {
        if constexpr (requires { ties.fetch(siblings.front()); }) {
            if (siblings.size() < 2 || siblings[0].time != siblings[1].time) { return; }
            const auto below = first * fan_out + 1;
            for (auto i = below; i < std::min(below + fan_out * fan_out, size_); i += fan_out) { prefetch(at(i)); }
            for (const auto& due : siblings) { ties.fetch(due); }
        }
    }

    /// Moves up the entries that come before `due`, from the hole at `place` down; returns the remaining hole.
    template <class Ties>
    [[nodiscard]] auto sink(std::uint32_t place, const Due& due, const Ties& ties) -> std::uint32_t {
        for (auto first = place * fan_out + 1; first < size_; first = place * fan_out + 1) {
            const auto siblings = children_of(place);
            fetch(first, siblings, ties);
            auto best = std::uint32_t{0};
            for (std::uint32_t i = 1; i < siblings.size(); ++i) {
                if (before(siblings[i], siblings[best], ties)) { best = i; }
            }
            if (!before(siblings[best], due, ties)) { break; }
            write(place, siblings[best]);
            place = first + best;
        }
        return place;
    }

    Pages<Page, 1> heap_;
    std::uint32_t size_ = 0;
    std::array<Column<std::uint32_t, 4'096>, kinds> places_;  // by handle: one more than the place of its entry, or 0
};

}}  // namespace allot::v0

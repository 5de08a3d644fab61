#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <allot/assert.hpp>
#include <allot/store/page_list.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// Records by handle, in pages of `page_size`, at addresses that never change.
///
/// It uses pages instead of one vector. A vector doubles (up to twice the memory) and moves its records while it grows,
/// which is a pause and forbids pointers to them. Pages do not know which records are live; the owner of the handles (a
/// `SlotSet`) does.
///
/// It is a value: a copy copies every record; a move leaves the source empty and keeps the addresses. `T` needs a
/// default constructor, and a copy constructor if the pages are copied. No constraint on the class says so: it would be
/// evaluated too early for a record nested in the class that owns the pages.
template <class T, std::uint32_t page_size = 512>
class Pages {
    static_assert(std::has_single_bit(page_size),
                  "allot::Pages: page_size must be a power of two, for example Pages<T, 512>.");

public:
    /// An object without pages.
    Pages() noexcept = default;

    /// A deep copy. Strong guarantee.
    /// @complexity O(capacity).
    Pages(const Pages& other) requires std::is_copy_assignable_v<T> {
        for (std::size_t i = 0; i < other.pages_.size(); ++i) {
            pages_.make(i);
            std::copy_n(other.pages_[i], page_size, pages_[i]);
        }
    }

    /// Moves the pages; the records keep their addresses.
    Pages(Pages&& other) noexcept = default;

    /// A deep copy. Strong guarantee.
    /// @complexity O(capacity).
    auto operator=(const Pages& other) -> Pages& requires std::is_copy_assignable_v<T> {
        if (this != &other) { *this = Pages{other}; }
        return *this;
    }

    /// Moves the pages; the records keep their addresses.
    auto operator=(Pages&& other) noexcept -> Pages& = default;

    ~Pages() = default;

    /// The record of `handle`.
    /// @pre `handle < capacity()`.
    /// @complexity O(1).
    [[nodiscard]] auto operator[](std::uint32_t handle) noexcept -> T& {
        ALLOT_ASSERT(handle < capacity(), "Pages: no page holds this handle; call ensure() first");
        return pages_[handle / page_size][handle % page_size];
    }

    /// The record of `handle`.
    /// @pre `handle < capacity()`.
    /// @complexity O(1).
    [[nodiscard]] auto operator[](std::uint32_t handle) const noexcept -> const T& {
        ALLOT_ASSERT(handle < capacity(), "Pages: no page holds this handle; call ensure() first");
        return pages_[handle / page_size][handle % page_size];
    }

    /// The page of `handle`: it and its neighbours, which are contiguous.
    /// @pre `handle < capacity()`.
    /// @complexity O(1).
    [[nodiscard]] auto page_of(std::uint32_t handle) const noexcept -> std::span<const T, page_size> {
        ALLOT_ASSERT(handle < capacity(), "Pages: no page holds this handle; call ensure() first");
        return std::span<const T, page_size>{pages_[handle / page_size], page_size};
    }

    /// Adds default-constructed pages until `handle` has a record. Existing records keep their addresses. If an
    /// allocation or `T{}` throws, the pages added until then stay.
    /// @complexity O(1) if the record exists; else O(new records).
    auto ensure(std::uint32_t handle) -> void {
        while (capacity() <= handle) { pages_.make(pages_.size()); }
    }

    /// Gives back the pages behind that of `handle`.
    /// @pre no record there is live.
    /// @complexity O(records given back).
    auto trim(std::uint32_t handle) noexcept -> void { pages_.trim(std::size_t{handle / page_size} + 1); }

    /// Number of handles that have a record: all below this number.
    [[nodiscard]] auto capacity() const noexcept -> std::uint64_t { return std::uint64_t{pages_.size()} * page_size; }

private:
    detail::PageList<T, page_size> pages_;
};

/// True if there are pages to give back after this record was removed: those of no handle in `taken`, but for one.
/// @complexity O(1).
template <class T, std::uint32_t page_size>
[[nodiscard]] auto may_trim(const Pages<T, page_size>& records, const SlotSet& taken, std::uint32_t handle) noexcept
    -> bool {
    const auto end = records.capacity();
    return handle + 2 * std::uint64_t{page_size} >= end && taken.room_needed(end, page_size) < end;
}

/// Gives back the empty pages at the end, but for one, and 4,096 records at most: one record at the end may have kept
/// many pages. Returns the number of handles that still have a page if there were any; then there may be more.
/// @pre no handle that `taken` lacks has a live record.
/// @complexity O(1), and O(records given back).
template <class T, std::uint32_t page_size>
auto trimmed(Pages<T, page_size>& records, const SlotSet& taken) noexcept -> std::optional<std::uint32_t> {
    constexpr auto at_once = std::max<std::uint64_t>(4'096, page_size);
    const auto room = records.capacity();
    const auto end = std::max(taken.room_needed(room, page_size), room - std::min(room, at_once));
    if (end == room) { return std::nullopt; }
    records.trim(static_cast<std::uint32_t>(end - 1));
    return static_cast<std::uint32_t>(end);
}

}}  // namespace allot::v0

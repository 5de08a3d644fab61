#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 {

/// Records by handle, in pages of `page_size`, at addresses that never change.
///
/// Pages instead of one vector, because a vector doubles (up to twice the memory) and moves its
/// records while it grows, which is a pause and forbids pointers into it. There is no notion of a live
/// record here: who gives out the handles (a `SlotSet`) knows.
/// A value: a copy copies every record; a move leaves the source empty and keeps the addresses.
/// `T` needs a default constructor, and to be copyable if the pages are copied. (No constraint says so on the class:
/// it would be judged too early for a record nested in the class that owns the pages.)
template <class T, std::uint32_t page_size = 512>
class Pages {
    static_assert(std::has_single_bit(page_size),
                  "allot::Pages: page_size must be a power of two, for example Pages<T, 512>.");

public:
    /// No pages.
    Pages() noexcept = default;

    /// A deep copy. Strong guarantee.
    /// @complexity O(capacity).
    Pages(const Pages& other)
        requires std::copyable<T>
    {
        pages_.reserve(other.pages_.size());
        for (const auto& page : other.pages_) {
            pages_.push_back(std::make_unique<T[]>(page_size));
            std::copy_n(page.get(), page_size, pages_.back().get());
        }
    }

    /// Takes the pages over; the records stay where they are.
    Pages(Pages&& other) noexcept : pages_{std::exchange(other.pages_, {})} {}

    /// A deep copy. Strong guarantee.
    /// @complexity O(capacity).
    auto operator=(const Pages& other) -> Pages&
        requires std::copyable<T>
    {
        if (this != &other) { *this = Pages{other}; }
        return *this;
    }

    /// Takes the pages over; the records stay where they are.
    auto operator=(Pages&& other) noexcept -> Pages& {
        pages_ = std::exchange(other.pages_, {});
        return *this;
    }

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

    /// Adds default-constructed pages until `handle` has a record. Records that are there stay as they
    /// are. Throws what an allocation or `T{}` throws; the pages added until then stay.
    /// @complexity O(1) if it is there; else O(new records).
    auto ensure(std::uint32_t handle) -> void {
        while (capacity() <= handle) { pages_.push_back(std::make_unique<T[]>(page_size)); }
    }

    /// How many handles have a record: all below this number.
    [[nodiscard]] auto capacity() const noexcept -> std::uint64_t {
        return std::uint64_t{pages_.size()} * page_size;
    }

private:
    std::vector<std::unique_ptr<T[]>> pages_;
};

}}  // namespace allot::v0

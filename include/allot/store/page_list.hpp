#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <allot/core/grow.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// Owns arrays of `page_size` values each, by number. An array may be missing.
///
/// A vector of unique pointers does the same, in 120 functions for each `T`: that was a sixth of all functions of the
/// default dispatcher, for a compiler to make. Here the addresses have one type for all `T`.
///
/// A move leaves the source empty. It is not copied: its owner knows which values to copy.
template <class T, std::size_t page_size>
class PageList {
public:
    PageList() noexcept = default;
    PageList(PageList&& other) noexcept : pages_{std::exchange(other.pages_, {})} {}
    auto operator=(PageList other) noexcept -> PageList& {
        pages_.swap(other.pages_);
        return *this;
    }
    ~PageList() { drop_from(0); }

    /// One past the highest number that an array was made for since the last `trim`.
    [[nodiscard]] auto size() const noexcept -> std::size_t { return pages_.size(); }

    /// The array of this number, or null.
    /// @pre `i < size()`.
    [[nodiscard]] auto operator[](std::size_t i) const noexcept -> T* { return static_cast<T*>(pages_[i]); }

    /// Makes the array of this number, of values `T{}`. If an allocation throws, nothing changes.
    /// @pre it is missing.
    /// @complexity O(page_size); amortised O(1) for each lower number.
    auto make(std::size_t i) -> void {
        // The list is small next to the pages, so it doubles.
        if (i >= pages_.capacity()) { pages_.reserve(std::max(i + 1, 2 * pages_.capacity())); }
        auto* const page = new T[page_size]();  // NOLINT: owned; from here on nothing throws
        if (i >= pages_.size()) { pages_.resize(i + 1); }
        pages_[i] = page;
    }

    /// Gives the array of this number back.
    /// @pre `i < size()`.
    auto drop(std::size_t i) noexcept -> void {
        delete[](*this)[i];  // NOLINT: owned
        pages_[i] = nullptr;
    }

    /// Gives the arrays from `count` on back. The list of them gives half of its room back at a time: at the border of
    /// a page it would allocate again and again.
    auto trim(std::size_t count) noexcept -> void {
        if (count >= pages_.size()) { return; }
        drop_from(count);
        pages_.resize(count);
        if (pages_.capacity() > 2 * count + 8) { shrink_to(pages_, count); }
    }

private:
    auto drop_from(std::size_t first) noexcept -> void {
        for (; first < pages_.size(); ++first) { drop(first); }
    }

    std::vector<void*> pages_;
};

}}}  // namespace allot::v0::detail

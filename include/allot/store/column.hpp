#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <allot/assert.hpp>
#include <allot/store/page_list.hpp>

namespace allot { inline namespace v0 {

/// A value by handle, in pages that are made when they are first written. A handle that was never written has `T{}`.
///
/// One vector would move all values while it grows, and a first write at a high handle would fill all below it: at a
/// hundred thousand nodes that is a command of many times the ordinary. Here both cost a page.
///
/// It is a value: a copy copies every page; a move leaves the source empty.
template <class T, std::uint32_t page_size = 1024>
class Column {
    static_assert(std::has_single_bit(page_size),
                  "allot::Column: page_size must be a power of two, for example Column<T, 1024>.");

public:
    /// A column in which each value is `T{}`.
    Column() noexcept = default;

    /// A deep copy. Strong guarantee.
    /// @complexity O(highest handle written).
    Column(const Column& other) requires std::is_copy_assignable_v<T> {
        for (std::size_t i = 0; i < other.pages_.size(); ++i) {
            if (other.pages_[i] == nullptr) { continue; }
            pages_.make(i);
            std::copy_n(other.pages_[i], page_size, pages_[i]);
        }
    }

    /// Moves the pages.
    Column(Column&& other) noexcept = default;

    /// A deep copy, or a move. Strong guarantee.
    auto operator=(Column other) noexcept -> Column& {
        pages_ = std::move(other.pages_);
        return *this;
    }

    ~Column() = default;

    /// The value of `handle`, to be changed, in a page that is made if it is missing. If an allocation throws, no value
    /// changes.
    /// @complexity O(page_size) where a page is made, else O(1); amortised O(1/page_size) for each lower handle.
    auto made(std::uint32_t handle) -> T& {
        if (!has_page(handle)) { make_page(handle / page_size); }
        return at(handle);
    }

    /// Makes the pages of `count` handles, of which `last` is the last. Changes no value.
    /// @pre `0 < count`, and `count <= last + 1`.
    /// @complexity O(count) where pages are made, else O(count / page_size).
    auto reserve(std::uint32_t last, std::uint32_t count) -> void {
        for (auto page = (last + 1 - count) / page_size; page <= last / page_size; ++page) {
            if (!has_page(page * page_size)) { make_page(page); }
        }
    }

    /// The value of `handle`, to be changed.
    /// @pre `made` or `reserve` was called for it, and no `trim` since.
    /// @complexity O(1).
    [[nodiscard]] auto at(std::uint32_t handle) noexcept -> T& {
        ALLOT_ASSERT(has_page(handle), "Column::at: call made() or reserve() first");
        return pages_[handle / page_size][handle % page_size];
    }

    /// The value of `handle`.
    /// @complexity O(1).
    [[nodiscard]] auto operator[](std::uint32_t handle) const noexcept -> T {
        return has_page(handle) ? pages_[handle / page_size][handle % page_size] : T{};
    }

    /// The value of `handle` where it lies; null if no page has it, so that it is `T{}`.
    /// @complexity O(1).
    [[nodiscard]] auto find(std::uint32_t handle) const noexcept -> const T* {
        return has_page(handle) ? &pages_[handle / page_size][handle % page_size] : nullptr;
    }

    /// Gives back the page of `handle` if `blank(value)` is true for each value of it.
    /// @pre a blank value is as good as `T{}`.
    /// @complexity O(page_size).
    template <class Blank>
    auto give_back(std::uint32_t handle, Blank&& blank) noexcept -> void {
        if (!has_page(handle)) { return; }
        const auto* const page = pages_[handle / page_size];
        if (std::all_of(page, page + page_size, blank)) { pages_.drop(handle / page_size); }
    }

    /// Calls `f(handle, value)` for each value that is not `T{}`, in ascending order of the handles.
    /// @pre `f` does not change the column.
    /// @complexity O(highest handle written).
    template <class F>
    auto for_each(F&& f) const -> void {
        for (std::size_t page = 0; page < pages_.size(); ++page) {
            for (std::uint32_t i = 0; pages_[page] != nullptr && i < page_size; ++i) {
                const T& value = pages_[page][i];
                if (value != T{}) { f(static_cast<std::uint32_t>(page * page_size + i), value); }
            }
        }
    }

    /// Gives back the pages of which every handle is `reach` or above.
    /// @pre their values are `T{}`.
    /// @complexity O(pages given back).
    auto trim(std::uint32_t reach) noexcept -> void { pages_.trim((std::size_t{reach} + page_size - 1) / page_size); }

private:
    [[nodiscard]] auto has_page(std::uint32_t handle) const noexcept -> bool {
        return handle / page_size < pages_.size() && pages_[handle / page_size] != nullptr;
    }

    auto make_page(std::size_t page) -> void { pages_.make(page); }

    detail::PageList<T, page_size> pages_;
};

}}  // namespace allot::v0

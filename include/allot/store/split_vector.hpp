#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/store/pages.hpp>

namespace allot { inline namespace v0 {

/// The `front` of a `SplitVector` that stays a vector.
inline constexpr auto whole_vector = ~std::uint32_t{0};

/// Elements by index: the first `front` in one vector, the others in pages that never move.
///
/// A vector alone is read with one load, and moves all its elements when it grows. Pages never do, and take a whole
/// page for one element. Here a small array is read and stored as a vector, and a large one grows by a page. With
/// `whole_vector` as `front` all elements stay in the vector.
///
/// It is a value; after a move from it, only assignment and destruction are allowed.
template <class T, std::uint32_t front, std::uint32_t page_size>
class SplitVector {
public:
    /// The element of an index.
    /// @pre `ensure(index)` was called, and no `trim` to fewer since.
    /// @complexity O(1).
    [[nodiscard]] auto operator[](std::uint32_t index) noexcept -> T& {
        return front == whole_vector || index < front ? first_[index] : more_[index - front];
    }
    [[nodiscard]] auto operator[](std::uint32_t index) const noexcept -> const T& {
        return front == whole_vector || index < front ? first_[index] : more_[index - front];
    }

    /// The element of an index, or null if none was made.
    /// @complexity O(1).
    [[nodiscard]] auto find(std::uint32_t index) const noexcept -> const T* {
        if (index < first_.size()) { return &first_[index]; }
        return index >= front && index - front < more_.capacity() ? &more_[index - front] : nullptr;
    }

    /// Adds elements `T{}` until there is one of this index. If an allocation throws, elements made until then stay.
    /// @complexity O(1), amortised; O(front + page_size) at most for one element more.
    auto ensure(std::uint32_t index) -> void {
        if (index < first_.size()) { return; }
        detail::grow_to(first_, std::min<std::size_t>(std::size_t{index} + 1, front));
        if (index >= front) { more_.ensure(index - front); }
    }

    /// Gives back the room of the elements from `count` on, but for a page. Those of this page keep their values.
    /// @complexity amortised O(1) for each of them.
    auto trim(std::uint32_t count) noexcept -> void {
        if (count <= front / 2) { more_ = {}; }
        more_.trim(std::max(count, front) - front);
        if (count < front) { detail::shrink_to(first_, count); }
    }

private:
    std::vector<T> first_;
    Pages<T, page_size> more_;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace allot { inline namespace v0 { namespace detail {

/// Reserves room for `count` elements, in steps of a sixteenth of the present capacity.
///
/// By default a vector doubles its capacity and so may hold twice the memory it needs. The dense arrays are most of the
/// library's memory per node, grow seldom and are copied as raw memory. The smaller step therefore pays off: at most
/// 6.25 % is spare.
///
/// Does nothing when the capacity suffices. If the allocation throws, nothing changes.
/// @complexity amortised O(1) for each element added one at a time.
template <class T, class Allocator>
auto make_room(std::vector<T, Allocator>& vector, std::size_t count) -> void {
    if (count > vector.capacity()) { vector.reserve(std::max(count, vector.capacity() + vector.capacity() / 16)); }
}

/// Resizes `vector` to at least `count` elements; new ones are copies of `value`. It never shrinks the vector.
/// @complexity amortised O(1) for each element added.
template <class T, class Allocator>
auto grow_to(std::vector<T, Allocator>& vector, std::size_t count, const T& value = T{}) -> void {
    if (count > vector.size()) {
        make_room(vector, count);
        vector.resize(count, value);
    }
}

/// Resizes `vector` to at most `count` elements, and gives back its room if more than an eighth would be spare. If that
/// needs memory and there is none, the room stays.
/// @complexity amortised O(1) for each element removed.
template <class T, class Allocator>
auto shrink_to(std::vector<T, Allocator>& vector, std::size_t count) noexcept -> void {
    if (count < vector.size()) { vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(count), vector.end()); }
    if (vector.capacity() - vector.size() > vector.size() / 8) { vector.shrink_to_fit(); }
}

/// A vector whose copy has as much room as itself. Other copies of a vector have no room to spare, and their first new
/// element would move all others.
template <class T>
struct Roomy : std::vector<T> {
    Roomy() = default;
    Roomy(const Roomy& other) : std::vector<T>{} {
        this->reserve(other.capacity());
        this->insert(this->end(), other.begin(), other.end());
    }
    Roomy(Roomy&& other) noexcept = default;
    explicit Roomy(std::vector<T>&& items) noexcept : std::vector<T>{std::move(items)} {}
    auto operator=(Roomy other) noexcept -> Roomy& {
        this->swap(other);
        return *this;
    }
    ~Roomy() = default;
};

}}}  // namespace allot::v0::detail

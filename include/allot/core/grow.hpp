#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace allot { inline namespace v0 { namespace detail {

/// Makes room for `count` elements, in steps of a sixteenth of what is there.
///
/// A vector left to itself doubles, and so holds up to twice the memory it needs. The dense arrays of
/// this library are most of what it keeps for a node, they grow seldom and copy like raw memory, so the
/// smaller step is the better bargain: at most 6.25 % spare.
/// Does nothing when the room is there already. Throws what the allocation throws, and then changes nothing.
/// @complexity amortised O(1) for each element added one at a time.
template <class T, class Allocator>
auto make_room(std::vector<T, Allocator>& vector, std::size_t count) -> void {
    if (count > vector.capacity()) {
        vector.reserve(std::max(count, vector.capacity() + vector.capacity() / 16));
    }
}

/// Resizes `vector` to at least `count` elements, new ones being copies of `value`; never shrinks it.
/// @complexity amortised O(1) for each element added.
template <class T, class Allocator>
auto grow_to(std::vector<T, Allocator>& vector, std::size_t count, const T& value = T{}) -> void {
    if (count > vector.size()) {
        make_room(vector, count);
        vector.resize(count, value);
    }
}

}}}  // namespace allot::v0::detail

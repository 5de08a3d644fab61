#pragma once

#include <cstddef>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Reads a byte of each cache line of an object, so that it is in the cache when it is needed. Changes nothing.
///
/// It is a prefetch without a compiler extension: a read through `volatile` is executed although its value is unused,
/// and independent reads overlap in every processor of today. A more exact length of the line than 64 bytes would only
/// save reads.
/// @complexity linear in the size of the object.
template <class T>
void prefetch(const T& object) noexcept {
    constexpr auto line = std::size_t{64};
    const auto* bytes = reinterpret_cast<const volatile unsigned char*>(&object);
    for (auto i = std::size_t{0}; i < sizeof(T); i += line) { (void)bytes[i]; }
    (void)bytes[sizeof(T) - 1];
}

}}  // namespace allot::v0

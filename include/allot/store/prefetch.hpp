#pragma once

#include <cstddef>
#include <utility>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Asks for each cache line of an object, so that it is in the cache when it is needed. Changes nothing.
///
/// Where the compiler can ask for a line and go on, it does. g++ takes a function that only does so for one without an
/// effect, and drops calls to it; the empty instruction forbids that. Elsewhere it reads through `volatile`, which is
/// executed although the value is unused; independent reads overlap in every processor of today. A more exact length of
/// the line than 64 bytes would only save reads.
/// @complexity linear in the size of the object.
template <class T>
void prefetch(const T& object) noexcept {
    constexpr auto line = std::size_t{64};
    const auto* bytes = reinterpret_cast<const volatile unsigned char*>(&object);
    const auto ask = [](const volatile unsigned char* byte) {
#if defined(__GNUC__)
        __builtin_prefetch(const_cast<const unsigned char*>(byte));
        asm volatile("" : : "r"(byte));  // NOLINT: no instruction
#else
        (void)*byte;
#endif
    };
    constexpr auto lines = (sizeof(T) + line - 1) / line;
    const auto ask_each = [&]<std::size_t... i>(std::index_sequence<i...>) { (ask(bytes + i * line), ...); };
    ask_each(std::make_index_sequence<lines>{});
    // An object that is not aligned to lines may end in one more.
    if constexpr ((sizeof(T) - 1) % line >= alignof(T)) { ask(bytes + sizeof(T) - 1); }
}

}}  // namespace allot::v0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#    include <malloc.h>
#endif

// Counts the calls of operator new and, on Linux, the bytes in use, and can make one of them fail. It replaces the
// operators of the whole program, so only one file of a program may include it.

namespace support { namespace {

std::uint64_t calls = 0;
std::uint64_t fails_at = 0;  // number of the call that fails; 0: none
std::uint64_t live = 0;      // bytes that were taken and not given back

// Behind pointers, because g++ inlines a new here and a delete there and then warns that they do not match.
void* (*volatile take)(std::size_t, std::size_t) = std::aligned_alloc;
void (*volatile give)(void*) = std::free;

auto size_of([[maybe_unused]] void* memory) noexcept -> std::size_t {
#if defined(__linux__)
    return memory != nullptr ? malloc_usable_size(memory) : 0;
#else
    return 0;  // nothing tells
#endif
}
auto taken(std::size_t size, std::size_t alignment) noexcept -> void* {
    const auto pieces = size / alignment + 1;
    auto* const memory = ++calls == fails_at ? nullptr : take(alignment, pieces * alignment);
    live += size_of(memory);
    return memory;
}
void given(void* memory) noexcept {
    live -= size_of(memory);
    give(memory);
}
auto taken_or_thrown(std::size_t size, std::size_t alignment) -> void* {
    auto* const memory = taken(size, alignment);
    if (memory == nullptr) { throw std::bad_alloc{}; }
    return memory;
}
constexpr auto usual = std::size_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

}}  // namespace support

auto operator new(std::size_t size) -> void* { return support::taken_or_thrown(size, support::usual); }
auto operator new[](std::size_t size) -> void* { return support::taken_or_thrown(size, support::usual); }
auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
    return support::taken(size, support::usual);
}
auto operator new[](std::size_t size, const std::nothrow_t&) noexcept -> void* {
    return support::taken(size, support::usual);
}
auto operator new(std::size_t size, std::align_val_t a) -> void* {
    return support::taken_or_thrown(size, static_cast<std::size_t>(a));
}
auto operator new[](std::size_t size, std::align_val_t a) -> void* {
    return support::taken_or_thrown(size, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept { support::given(memory); }
void operator delete[](void* memory) noexcept { support::given(memory); }
void operator delete(void* memory, std::size_t) noexcept { support::given(memory); }
void operator delete[](void* memory, std::size_t) noexcept { support::given(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { support::given(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { support::given(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { support::given(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { support::given(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { support::given(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { support::given(memory); }

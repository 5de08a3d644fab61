#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

#if defined(__GLIBC__)
#    include <malloc.h>
#endif

namespace {

bool counting = false;
std::int64_t bytes_live = 0;
std::uint64_t calls_made = 0;

auto spent(void* block, std::size_t size) -> std::int64_t {
#if defined(__GLIBC__)
    static_cast<void>(size);
    return static_cast<std::int64_t>(malloc_usable_size(block) + sizeof(std::size_t));
#else
    static_cast<void>(block);
    return static_cast<std::int64_t>(size);
#endif
}

auto given(void* block, std::size_t size) -> void* {
    if (block == nullptr) { throw std::bad_alloc{}; }
    if (counting) {
        bytes_live += spent(block, size);
        ++calls_made;
    }
    return block;
}

void taken(void* block, std::size_t size) {
    if (block != nullptr && counting) {
        bytes_live -= spent(block, size);
        ++calls_made;
    }
    std::free(block);
}

auto aligned(std::size_t size, std::size_t alignment) -> void* {
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

}  // namespace

namespace bench {

Allocations::Allocations() {
    bytes_live = 0;
    calls_made = 0;
    counting = true;
}
Allocations::~Allocations() { counting = false; }
auto Allocations::live_bytes() const -> std::int64_t { return bytes_live; }
auto Allocations::calls() const -> std::uint64_t { return calls_made; }

}  // namespace bench

auto operator new(std::size_t size) -> void* { return given(std::malloc(size == 0 ? 1 : size), size); }
auto operator new[](std::size_t size) -> void* { return operator new(size); }
auto operator new(std::size_t size, std::align_val_t alignment) -> void* {
    return given(aligned(size, static_cast<std::size_t>(alignment)), size);
}
auto operator new[](std::size_t size, std::align_val_t alignment) -> void* { return operator new(size, alignment); }
void operator delete(void* block) noexcept { taken(block, 0); }
void operator delete[](void* block) noexcept { taken(block, 0); }
void operator delete(void* block, std::size_t size) noexcept { taken(block, size); }
void operator delete[](void* block, std::size_t size) noexcept { taken(block, size); }
void operator delete(void* block, std::align_val_t) noexcept { taken(block, 0); }
void operator delete[](void* block, std::align_val_t) noexcept { taken(block, 0); }
void operator delete(void* block, std::size_t size, std::align_val_t) noexcept { taken(block, size); }
void operator delete[](void* block, std::size_t size, std::align_val_t) noexcept { taken(block, size); }

// A compiler that is asked for -fsanitize=thread calls a function of its runtime library before each read and write.
// Here these functions lead into a model of caches instead; the runtime library itself is not linked.
//
// Only what `operator new` gave out goes through the model. Stacks and globals are warm at all times, and their
// addresses differ from run to run. All blocks lie in one arena, and the model knows addresses by their distance from
// its beginning, so that two runs of a program agree to the line.

#include "support/memory_watch.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace {

constexpr auto line_bytes = std::uintptr_t{64};

// ---- the arena ------------------------------------------------------------------------------------------------------

constexpr auto arena_bytes = std::uintptr_t{1} << 37U;  // of addresses; memory is used for what is written of it
constexpr auto huge_page = std::uintptr_t{1} << 21U;
constexpr auto large_block = std::size_t{1} << 17U;  // as in glibc, the memory of such a block is given back
constexpr auto head_bytes = std::size_t{16};         // before each block, as in glibc: its size

std::uintptr_t arena = 0;  // its beginning
std::uintptr_t arena_end = 0;
std::uintptr_t arena_used = 0;  // the end of what was given out

struct Free {
    Free* next;
};
std::array<Free*, large_block / head_bytes> freed{};  // by size

auto up_to(std::uintptr_t address, std::uintptr_t multiple) -> std::uintptr_t {
    return (address + multiple - 1) / multiple * multiple;
}

auto size_of(const void* block) -> std::size_t {
    auto size = std::size_t{0};
    std::memcpy(&size, static_cast<const char*>(block) - head_bytes, sizeof(size));
    return size;
}

void open_arena() {
    void* const all =
        mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) { throw std::bad_alloc{}; }
    arena_end = reinterpret_cast<std::uintptr_t>(all) + arena_bytes;
    arena = arena_used = up_to(reinterpret_cast<std::uintptr_t>(all), huge_page);
}

auto take(std::size_t bytes, std::size_t alignment) -> void* {
    if (arena == 0) { open_arena(); }
    const auto size = up_to(std::max(bytes, sizeof(Free)), head_bytes);
    if (alignment <= head_bytes && size < large_block && freed[size / head_bytes] != nullptr) {
        return std::exchange(freed[size / head_bytes], freed[size / head_bytes]->next);
    }
    const auto block = up_to(arena_used + head_bytes, alignment);
    if (size > arena_end - block) { throw std::bad_alloc{}; }
    arena_used = block + size;
    auto* const begin = reinterpret_cast<char*>(block);
    std::memcpy(begin - head_bytes, &size, sizeof(size));
    return begin;
}

void give(void* block) noexcept {
    if (block == nullptr) { return; }
    const auto size = size_of(block);
    if (size < large_block) {
        freed[size / head_bytes] = ::new (block) Free{freed[size / head_bytes]};
        return;
    }
    constexpr auto page = std::uintptr_t{4'096};
    const auto begin = up_to(reinterpret_cast<std::uintptr_t>(block), page);
    const auto end = (reinterpret_cast<std::uintptr_t>(block) + size) / page * page;
    (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// ---- the caches -----------------------------------------------------------------------------------------------------

/// Sets of so many ways each, of which the one not used for longest is replaced.
class Cache {
public:
    explicit Cache(bench::CacheSize size)
        : ways_{size.ways}, sets_{size.bytes / line_bytes / size.ways}, lines_(sets_ * ways_, nothing) {}

    /// True if the line was there. Now it is.
    auto touch(std::uintptr_t line) -> bool {
        auto* const set = &lines_[line % sets_ * ways_];
        auto before = line;  // each way takes the line of the one before it
        for (auto way = std::size_t{0}; way < ways_; ++way) {
            std::swap(set[way], before);
            if (before == line) { return true; }
        }
        return false;
    }

private:
    static constexpr auto nothing = ~std::uintptr_t{0};

    std::size_t ways_;
    std::size_t sets_;
    std::vector<std::uintptr_t> lines_;  // of each set, the one used last first
};

auto watched = bench::Watch::off;
std::vector<Cache> caches;
std::vector<std::uintptr_t> cold;

void touch(const void* memory, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    if (watched == bench::Watch::off || bytes == 0 || address < arena || address >= arena_used) { return; }
    const auto what = std::exchange(watched, bench::Watch::off);  // the model moves memory, too
    for (auto line = (address - arena) / line_bytes; line <= (address + bytes - 1 - arena) / line_bytes; ++line) {
        const auto warm = caches[0].touch(line) || caches[1].touch(line);
        if (!warm && what == bench::Watch::counted) { cold.push_back(arena + line * line_bytes); }
    }
    watched = what;
}

}  // namespace

namespace bench {

void set_caches(const std::array<CacheSize, 2>& sizes) {
    caches.clear();
    for (const auto& size : sizes) { caches.emplace_back(size); }
}

void watch(Watch what) { watched = what; }

auto take_cold_lines() -> std::vector<std::uintptr_t> { return std::exchange(cold, {}); }

auto block_size(const void* block) -> std::size_t { return size_of(block); }

}  // namespace bench

auto operator new(std::size_t bytes) -> void* { return take(bytes, head_bytes); }
auto operator new(std::size_t bytes, std::align_val_t alignment) -> void* {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { give(block); }
void operator delete(void* block, std::size_t) noexcept { give(block); }
void operator delete(void* block, std::align_val_t) noexcept { give(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give(block); }

// ---- what the compiler calls ----------------------------------------------------------------------------------------

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** memory) { touch(memory, sizeof(*memory)); }
void __tsan_vptr_update(void** memory, void*) { touch(memory, sizeof(*memory)); }
void __tsan_read_range(void* memory, std::size_t bytes) { touch(memory, bytes); }
void __tsan_write_range(void* memory, std::size_t bytes) { touch(memory, bytes); }

#define BENCH_TOUCHES(bytes)                                                                                           \
    void __tsan_read##bytes(void* memory) { touch(memory, bytes); }                                                    \
    void __tsan_write##bytes(void* memory) { touch(memory, bytes); }                                                   \
    void __tsan_unaligned_read##bytes(void* memory) { touch(memory, bytes); }                                          \
    void __tsan_unaligned_write##bytes(void* memory) { touch(memory, bytes); }
BENCH_TOUCHES(1)
BENCH_TOUCHES(2)
BENCH_TOUCHES(4)
BENCH_TOUCHES(8)
BENCH_TOUCHES(16)
#undef BENCH_TOUCHES

// Calls of these are not announced. The linker lets them come here (--wrap).
auto __real_memcpy(void* to, const void* from, std::size_t bytes) -> void*;
auto __real_memmove(void* to, const void* from, std::size_t bytes) -> void*;
auto __real_memset(void* to, int value, std::size_t bytes) -> void*;
auto __real_memcmp(const void* a, const void* b, std::size_t bytes) -> int;

auto __wrap_memcpy(void* to, const void* from, std::size_t bytes) -> void* {
    touch(from, bytes);
    touch(to, bytes);
    return __real_memcpy(to, from, bytes);
}
auto __wrap_memmove(void* to, const void* from, std::size_t bytes) -> void* {
    touch(from, bytes);
    touch(to, bytes);
    return __real_memmove(to, from, bytes);
}
auto __wrap_memset(void* to, int value, std::size_t bytes) -> void* {
    touch(to, bytes);
    return __real_memset(to, value, bytes);
}
auto __wrap_memcmp(const void* a, const void* b, std::size_t bytes) -> int {
    touch(a, bytes);
    touch(b, bytes);
    return __real_memcmp(a, b, bytes);
}
}

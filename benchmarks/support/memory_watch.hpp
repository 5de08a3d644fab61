#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// What happens to a read or write of a source file that is compiled with -fsanitize=thread.
enum class Watch {
    off,      ///< Nothing.
    on,       ///< It goes through the caches of the model.
    counted,  ///< The same, and a line that is in none of them is kept.
};

/// Bytes and ways of one cache.
struct CacheSize {
    std::size_t bytes;
    std::size_t ways;
};

/// Empties the caches of the model, and gives them these sizes, the smallest first.
void set_caches(const std::array<CacheSize, 2>& sizes);

void watch(Watch what);

/// The cold lines since the last call: the address of each line that was read or written and in no cache.
[[nodiscard]] auto take_cold_lines() -> std::vector<std::uintptr_t>;

/// The size of a block of `operator new`.
[[nodiscard]] auto block_size(const void* block) -> std::size_t;

}  // namespace bench

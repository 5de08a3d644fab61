#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// Counts what `operator new` gives out while an object of this class lives; one at a time.
///
/// A byte count is what the allocator really spends: on glibc the usable size of each block and the word before it. The
/// replaced operators stand in allocations.cpp and cost one branch while nobody counts, so that timings stay what they
/// are.
class Allocations {
public:
    Allocations();
    ~Allocations();
    Allocations(const Allocations&) = delete;
    auto operator=(const Allocations&) -> Allocations& = delete;

    /// Bytes given out and not given back since then.
    [[nodiscard]] auto live_bytes() const -> std::int64_t;
    /// Calls of new and of delete since then.
    [[nodiscard]] auto calls() const -> std::uint64_t;
};

}  // namespace bench

#pragma once

#include <algorithm>
#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// Bound of a value queue: S = max(capacity_min, ⌊α·N⌋) (seed 001, "Max Size of the Task Queue"; rule 14).
struct ValueQueueParameters {
    Ratio tasks_per_node = 1;         ///< The factor α.
    std::uint32_t capacity_min = 50;  ///< At least 1, so that an empty network can queue tasks.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {tasks_per_node.den >= 1, "allot: ValueQueue: tasks_per_node needs a denominator of at least 1"},
            {capacity_min >= 1, "allot: ValueQueue: capacity_min must be at least 1"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }

    /// The greatest number of waiting tasks when `nodes` have not left.
    [[nodiscard]] constexpr auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t {
        const auto wanted = std::max<std::uint64_t>(capacity_min, tasks_per_node.of(nodes));
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, 0xFFFF'FFFFU));
    }
    friend constexpr auto operator==(const ValueQueueParameters&, const ValueQueueParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(ValueQueueParameters, tasks_per_node, capacity_min)

}}  // namespace allot::v0

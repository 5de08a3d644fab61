#pragma once

#include <compare>
#include <cstdint>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Version of the software that a node runs or a task needs.
struct SoftwareVersion {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    std::uint32_t patch = 0;

    /// True if a node of this version can run a task that needs `needed`: the same major version, and no older one
    /// within it (spec: crynux.md 1.5).
    [[nodiscard]] constexpr auto serves(const SoftwareVersion& needed) const noexcept -> bool {
        return major == needed.major && *this >= needed;
    }

    friend constexpr auto operator<=>(const SoftwareVersion&, const SoftwareVersion&) noexcept
        -> std::strong_ordering = default;
};

}}  // namespace allot::v0

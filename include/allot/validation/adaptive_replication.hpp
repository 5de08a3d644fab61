#pragma once

#include <cstdint>
#include <limits>

#include <allot/core/parameters.hpp>
#include <allot/validation/sampling.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `AdaptiveReplication`.
struct AdaptiveReplicationParameters {
    /// Number of valid results in a row before any task of the node is left unsampled.
    std::uint32_t trusted_after = 10;
    /// Lowest sampling rate: one task in this many; at least 1. Without a floor a node that was right ten thousand
    /// times could begin to lie, and some ten thousand lies would pass before the first is compared.
    std::uint32_t one_in_max = 100;

    /// Returns the first fault of the parameters as one sentence; null if they are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({{one_in_max >= 1, "allot: AdaptiveReplication: one_in_max must be at least 1"}});
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const AdaptiveReplicationParameters&,
                                     const AdaptiveReplicationParameters&) noexcept -> bool = default;
};

/// Adaptive replication: how often other nodes repeat a node's work. Every task is repeated until enough of its results
/// in a row were validated; then one in as many as were, and at least one in a hundred. One bad result starts again.
/// The cost falls with trust, and checking never ends.
///
/// Embedders keep one value for each node. Only results that a group compared count: a result accepted without
/// comparison says nothing. Every function is O(1).
class AdaptiveReplication {
public:
    /// Uses the default parameters.
    constexpr AdaptiveReplication() noexcept = default;
    /// Throws `std::invalid_argument` if `parameters.fault()` is not null.
    constexpr explicit AdaptiveReplication(const AdaptiveReplicationParameters& parameters)
        : parameters_{detail::sound(parameters)} {}

    /// Call when a group found the node's result right.
    constexpr void valid() noexcept {
        if (consecutive_valid_ < std::numeric_limits<std::uint32_t>::max()) { ++consecutive_valid_; }
    }
    /// Call when a group found the node's result wrong, or it did not arrive.
    constexpr void invalid() noexcept { consecutive_valid_ = 0; }

    /// Number of valid results since the last bad one.
    [[nodiscard]] constexpr auto consecutive_valid() const noexcept -> std::uint32_t { return consecutive_valid_; }

    /// Sampling rate for the node's next task.
    [[nodiscard]] constexpr auto rate() const noexcept -> SamplingRate {
        if (consecutive_valid_ < parameters_.trusted_after || consecutive_valid_ == 0) { return {1, 1}; }
        return {1, consecutive_valid_ < parameters_.one_in_max ? consecutive_valid_ : parameters_.one_in_max};
    }

    friend constexpr auto operator==(const AdaptiveReplication&, const AdaptiveReplication&) noexcept -> bool = default;

private:
    AdaptiveReplicationParameters parameters_{};
    std::uint32_t consecutive_valid_ = 0;
};

}}  // namespace allot::v0

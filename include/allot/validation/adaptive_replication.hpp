#pragma once

#include <cstdint>
#include <limits>

#include <allot/core/parameters.hpp>
#include <allot/validation/sampling.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `AdaptiveReplication`.
struct AdaptiveReplicationParameters {
    std::uint32_t trusted_after = 10;                                      ///< All is replicated until so many valid results.
    std::uint32_t one_in_max = std::numeric_limits<std::uint32_t>::max();  ///< It never gets rarer than this; at least 1.

    /// What is wrong with the parameters, as one sentence; null when nothing is.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({{one_in_max >= 1, "allot: AdaptiveReplication: one_in_max must be at least 1"}});
    }
    /// True when nothing is.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const AdaptiveReplicationParameters&, const AdaptiveReplicationParameters&) noexcept
        -> bool = default;
};

/// How often a node's work is repeated elsewhere: always until enough of its results in a row were validated, then one in as
/// many as were; one bad result starts over. The cost falls with trust, and the check never ends.
///
/// A value for the embedder's own array beside the nodes. Only results that a group compared count: what was accepted unseen
/// says nothing.
class AdaptiveReplication {
public:
    constexpr AdaptiveReplication() noexcept = default;
    /// Throws std::invalid_argument where `parameters.fault()`.
    constexpr explicit AdaptiveReplication(const AdaptiveReplicationParameters& parameters)
        : parameters_{detail::sound(parameters)} {}

    /// A group found the node's result right.
    constexpr void valid() noexcept {
        if (consecutive_valid_ < std::numeric_limits<std::uint32_t>::max()) { ++consecutive_valid_; }
    }
    /// A group found it wrong, or it did not come.
    constexpr void invalid() noexcept { consecutive_valid_ = 0; }

    [[nodiscard]] constexpr auto consecutive_valid() const noexcept -> std::uint32_t { return consecutive_valid_; }

    /// The rate to sample the node's next task with.
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

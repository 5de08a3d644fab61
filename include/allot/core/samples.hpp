#pragma once

#include <cstdint>
#include <optional>

#include <allot/core/score.hpp>

namespace allot { inline namespace v0 {

/// Sum and number of the points given in some window: a mean before the division. No samples is a state of its own, not
/// a mean of zero.
struct Samples {
    std::uint32_t sum = 0;
    std::uint32_t count = 0;

    /// The mean as a fraction of the best points; empty without samples.
    /// @pre `points_max > 0`.
    [[nodiscard]] constexpr auto mean(std::uint32_t points_max) const noexcept -> std::optional<Score> {
        if (count == 0) { return std::nullopt; }
        return Score::from_ratio(sum, std::uint64_t{points_max} * count);
    }
    friend constexpr auto operator==(const Samples&, const Samples&) noexcept -> bool = default;
};

}}  // namespace allot::v0

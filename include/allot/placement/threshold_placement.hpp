#pragma once

#include <cstdint>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `ThresholdPlacement`.
struct ThresholdPlacementParameters {
    std::uint32_t holders_min = 3;                    ///< Requests are made when fewer holders are available (seed
                                                      ///< 001).
    std::uint32_t holders_target = 10;                ///< Number of holders that the requests aim at.
    Duration asked_for = std::chrono::seconds{1800};  ///< A request expires after this time; then the node may be asked
                                                      ///< again.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {holders_target >= holders_min && holders_target <= 1'000,
             "allot: ThresholdPlacement: holders_target must be holders_min to 1,000"},
            {asked_for > Duration{0} && asked_for <= duration_max,
             "allot: ThresholdPlacement: asked_for must be 1 to 2^40 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const ThresholdPlacementParameters&, const ThresholdPlacementParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(ThresholdPlacementParameters, holders_min, holders_target, asked_for)

/// The default placement: if a task starts and fewer than three candidates hold one of its models, it requests up to
/// ten holders (seed 001, rule 24).
class ThresholdPlacement {
public:
    using role = role::placement;
    using Parameters = ThresholdPlacementParameters;

    constexpr ThresholdPlacement() noexcept = default;
    constexpr explicit ThresholdPlacement(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    [[nodiscard]] constexpr auto wanted(const ModelDemand& demand) const noexcept -> Wanted {
        if (demand.holders_available >= parameters_.holders_min) { return {}; }
        return {parameters_.holders_target - demand.holders_available};
    }
    [[nodiscard]] constexpr auto asked_for() const noexcept -> Duration { return parameters_.asked_for; }

    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

}}  // namespace allot::v0

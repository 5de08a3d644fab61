#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/placement/threshold_placement.hpp>
#include <allot/policy/model_placement.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `RequestBound`.
struct RequestBoundParameters {
    std::uint32_t copies_max = 32;  ///< Copies that one start asks for, of all models of the task together.
    Duration held_for = std::chrono::hours{24};  ///< How long a node counts as a holder of a model that it neither runs
                                                 ///< nor reports again. 0: for good.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {copies_max <= 65'536, "allot: RequestBound: copies_max must be at most 65,536"},
            {Duration{0} <= held_for && held_for <= duration_max, "allot: RequestBound: held_for must be 0 to 2^40 ms"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const RequestBoundParameters&, const RequestBoundParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(RequestBoundParameters, copies_max, held_for)

/// The greatest number of copies that one start asks for. `BoundedRequests` applies it.
class RequestBound {
public:
    using role = role::placement;
    using Parameters = RequestBoundParameters;

    constexpr RequestBound() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit RequestBound(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Number of copies that the start may still ask for.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto left(const ModelDemand& demand) const noexcept -> std::uint32_t {
        return parameters_.copies_max - std::min(parameters_.copies_max, demand.asked);
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

/// A placement, and bounds on its requests and on the copies that they leave. One start asks for so many copies at
/// most, regardless of the number of models that its task names; the models that come first by name are served first.
/// A node that neither runs nor reports a model for `held_for` is no holder of it any more (rule 51).
///
/// Nodes that keep a model report it again once half of that time has passed. Those that fetched a made-up model for a
/// task have no reason to.
///
/// **Law.** The copies that a task makes others fetch do not grow with the number of models that it names. Of models
/// that no task names and no node reports, nothing is left.
template <model_placement Placement = ThresholdPlacement>
class BoundedRequests {
public:
    using role = role::placement;
    static constexpr std::string_view name = "BoundedRequests";

    constexpr BoundedRequests() = default;
    constexpr explicit BoundedRequests(Placement placement, RequestBound bound = {})
        : parts_{std::move(placement), std::move(bound)} {}

    [[nodiscard]] constexpr auto wanted(const ModelDemand& demand) const -> Wanted {
        return {std::min(placement().wanted(demand).copies, std::get<RequestBound>(parts_).left(demand))};
    }
    [[nodiscard]] constexpr auto asked_for() const -> Duration { return placement().asked_for(); }
    /// The bound's time, or that of the placement if the bound has none.
    [[nodiscard]] constexpr auto held_for() const -> Duration {
        const auto bound = std::get<RequestBound>(parts_).parameters().held_for;
        if constexpr (has_held_for<Placement>) {
            return bound == Duration{0} ? placement().held_for() : bound;
        } else {
            return bound;
        }
    }

    /// The placement whose requests are bounded.
    [[nodiscard]] constexpr auto placement() const noexcept -> const Placement& { return std::get<Placement>(parts_); }

    /// The placement and the bound. A dispatcher configures, compares and records each by itself.
    [[nodiscard]] constexpr auto parts() const noexcept -> const std::tuple<Placement, RequestBound>& { return parts_; }
    [[nodiscard]] constexpr auto parts() noexcept -> std::tuple<Placement, RequestBound>& { return parts_; }

private:
    std::tuple<Placement, RequestBound> parts_{};
};

}}  // namespace allot::v0

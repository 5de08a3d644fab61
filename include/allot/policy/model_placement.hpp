#pragma once

#include <concepts>
#include <cstdint>

#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Demand for one model, as the dispatcher counts it when a task starts.
struct ModelDemand {
    std::uint32_t holders_available = 0;  ///< Candidates that hold the model, after the start.
    std::uint32_t asked = 0;              ///< Copies that this start asked for so far, but for those of its own nodes.
};

/// The request of a placement policy.
struct Wanted {
    std::uint32_t copies = 0;  ///< Number of further nodes that should fetch the model.
};

/// `p.wanted(demand) -> Wanted`: the request for a model of this demand.
template <class P>
concept has_wanted = requires(const P& p, const ModelDemand& demand) {
    { p.wanted(demand) } -> std::same_as<Wanted>;
};

/// `p.asked_for() -> Duration`: how long a request keeps a node from being asked again for the same model.
template <class P>
concept has_asked_for = requires(const P& p) {
    { p.asked_for() } -> std::same_as<Duration>;
};

/// `p.held_for() -> Duration`: how long a model on a node's disk counts without being used or reported again; 0 for
/// good. Optional; without it for good.
template <class P>
concept has_held_for = requires(const P& p) {
    { p.held_for() } -> std::same_as<Duration>;
};

/// Decides how many nodes should fetch a model. Pure; the dispatcher counts before it and draws after it. `laws::pure`
/// checks it.
template <class P>
concept model_placement = has_wanted<P> && has_asked_for<P>;

/// One sentence per requirement.
template <class P>
struct ModelPlacementCheck {
    static_assert(has_wanted<P>, "allot: a model placement needs `auto wanted(const ModelDemand&) const -> Wanted`");
    static_assert(!has_wanted<P> || has_asked_for<P>,
                  "allot: a model placement needs `auto asked_for() const -> Duration`");
    // A function of another type would be passed over in silence.
    static_assert(
        has_held_for<P> || !requires(const P& p) { p.held_for(); },
        "allot: a model placement with `held_for` needs `auto held_for() const -> Duration`");
    static constexpr bool passed = model_placement<P>;
};

}}  // namespace allot::v0

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <allot/core/handle.hpp>
#include <allot/core/node.hpp>
#include <allot/core/random.hpp>
#include <allot/core/weight.hpp>

namespace allot { inline namespace v0 {

/// Where a node stands among the candidates, and the upper bounds of its weight. Bounds of zero: it is no candidate now.
struct NodePlace {
    NodeHandle node = no_handle<NodeHandle>;
    ClassId node_class = no_handle<ClassId>;
    std::uint32_t slot = 0;               ///< Place in its class.
    std::uint32_t bound = 0;              ///< Bound of its weight in a frame without models, in units of 2^-28.
    std::uint32_t bound_local = 0;        ///< Bound of its weight in a frame narrowed to models.
    std::span<const HeldModel> models{};  ///< Those on disk have a place among the holders of (model, class).
};

/// Tries before the exact scan where bounds are as tight as usual. Part of the rules version.
inline constexpr std::uint32_t draw_rejections_max = 32;

/// The candidates an index can sum, in the order that gives a draw its meaning.
///
/// Without models: the slots of all classes, by (class, slot), as long as `bound`. With models: each model's holders, models in
/// the order given, holders by (class, place), as long as `bound_local`; a node then stands once under each model it holds,
/// and counts under the first alone. That is their union. Who holds all of several models is drawn in the frame of the rarest
/// with zero weight for the others: just as exact, but tries miss as often as a holder of that one lacks another. Whatever
/// `rejections_max`, the shares are the same, so for a short frame a few tries are enough.
struct SamplingFrame {
    std::span<const ClassId> classes;              ///< Fitting classes, ascending.
    std::span<const ModelId> models{};             ///< Narrowed to holders of these, in canonical order.
    std::uint32_t rejections_max = draw_rejections_max;    ///< Tries before the exact scan. 0: weights have no bounds, so scan at once.
};

/// Outcome of a draw.
struct Draw {
    NodeHandle node{};
    Weight weight{};             ///< Weight of the node drawn, rescaled to the ceiling of the largest stake.
    std::uint32_t rejections = 0;    ///< Tries that hit no one.
    bool scanned = false;        ///< Whether the exact scan decided.
    std::uint32_t above_bound = 0;  ///< Weights met on the way that lay above their bounds, which `laws::monotone` forbids.
};

namespace detail {

/// Shape of the callable a draw asks for exact weights: (node, index in `SamplingFrame::models`) -> Weight, zero if not admitted.
/// An object, and no function pointer, because what the hub passes remembers the task.
struct WeighShape {
    auto operator()(NodeHandle, std::uint32_t) const -> Weight;
};

}  // namespace detail

/// `p.changed(before, after)`: the one door; called backwards it undoes, also a change that never came because something threw.
template <class P>
concept has_changed = requires(P& p, const NodePlace& place) { p.changed(place, place); };

/// `p.draw(frame, weigh, random) -> std::optional<Draw>`: the canonical draw of policy/canonical_draw.hpp.
template <class P>
concept has_draw = requires(const P& p, const SamplingFrame& frame, const detail::WeighShape& weigh, Random& random) {
    { p.draw(frame, weigh, random) } -> std::same_as<std::optional<Draw>>;
};

/// `p.count(frame) -> std::uint32_t`: places with a positive bound; with several models a node counts once for each.
template <class P>
concept has_count = requires(const P& p, const SamplingFrame& frame) {
    { p.count(frame) } -> std::same_as<std::uint32_t>;
};

/// Index of the candidates. Needs nothing of the dispatcher and can be used alone. `laws::reversible` checks it.
template <class P>
concept candidate_pool = has_changed<P> && has_draw<P> && has_count<P>;

/// `static constexpr bool stores_bounds`: draws by stored bounds, and so needs a monotone weight.
template <class P>
concept stores_bounds = requires { typename std::enable_if_t<bool(P::stores_bounds)>; };

/// One sentence a requirement.
template <class P>
struct CandidatePoolCheck {
    static_assert(has_changed<P>, "allot: a candidate pool needs "
                  "`void changed(const NodePlace& before, const NodePlace& after)`");
    static_assert(!has_changed<P> || has_draw<P>, "allot: a candidate pool needs "
                  "`auto draw(const SamplingFrame&, weigh, Random&) const -> std::optional<Draw>`");
    static_assert(!has_changed<P> || !has_draw<P> || has_count<P>, "allot: a candidate pool needs "
                  "`auto count(const SamplingFrame&) const -> std::uint32_t`");
    static constexpr bool passed = candidate_pool<P>;
};

}}  // namespace allot::v0

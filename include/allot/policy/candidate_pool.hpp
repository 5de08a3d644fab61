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

/// A node's position among the candidates, and the upper bounds of its weight. With bounds of zero it is no candidate
/// now.
struct NodePlace {
    NodeHandle node = no_handle<NodeHandle>;
    ClassId node_class = no_handle<ClassId>;
    std::uint32_t slot = 0;               ///< Index in its class.
    std::uint32_t bound = 0;              ///< Bound of its weight in a frame without models, in units of 2^-28.
    std::uint32_t bound_local = 0;        ///< Bound of its weight in a frame narrowed to models.
    std::span<const HeldModel> models{};  ///< Those on disk have a place among the holders of (model, class).
};

/// Number of rejections from which on a draw shortens the places that it rejects. Part of the rules version.
inline constexpr std::uint32_t draw_rejections_max = 32;
/// Number of tries after which a draw is undecided, where bounds are as tight as usual. Part of the rules version.
inline constexpr std::uint32_t draw_tries_max = 160;

/// The candidates that an index can sum, in the order that defines the result of a draw.
///
/// Without models it has the slots of all classes, by (class, slot), each as long as `bound`. With models it has each
/// model's holders, as long as `bound_local`: models in the order given, holders by (class, place). A node then occurs
/// once under each model it holds, and counts under the first alone. That is the union of the holders.
///
/// A draw among the holders of all of several models uses the frame of the rarest model, with zero weight for nodes
/// that lack another. The shares are as exact, but a try is rejected as often as a holder of the rarest model lacks
/// another.
struct SamplingFrame {
    std::span<const ClassId> classes;                    ///< Fitting classes, ascending.
    std::span<const ModelId> models{};                   ///< Narrowed to holders of these, in canonical order.
    std::uint32_t rejections_max = draw_rejections_max;  ///< Rejections from which on places are shortened. 0: weights
                                                         ///< have no bounds, so scan at once.
    std::uint32_t tries_max = draw_tries_max;            ///< Tries after which the draw is undecided. 0: after
                                                         ///< `rejections_max` an exact scan decides (rules version 1).
    std::span<const NodePlace> without{};  ///< Nodes that are refused in any case: the line begins without
                                           ///< their places. Rules version 1 makes no use of it.
};

/// Result of a draw.
struct Draw {
    NodeHandle node{};
    Weight weight{};                ///< Weight of the node drawn, rescaled to the ceiling of the largest stake.
    std::uint32_t rejections = 0;   ///< Number of rejected tries.
    bool scanned = false;           ///< True if an exact scan decided: weights have no bounds, or rules version 1.
    std::uint32_t above_bound = 0;  ///< Number of weights met that exceeded their bounds, which `laws::monotone`
                                    ///< forbids.

    /// True if the tries ended before a node was found, or before it was sure that there is none. It has no node.
    [[nodiscard]] auto undecided() const noexcept -> bool { return node == no_handle<NodeHandle>; }
};

namespace detail {

/// Shape of the callable that a draw asks for exact weights: (node, index in `SamplingFrame::models`) -> Weight, zero
/// if not admitted.
///
/// It is an object, not a function pointer, because the dispatcher's callable captures the task.
struct WeighShape {
    auto operator()(NodeHandle, std::uint32_t) const -> Weight;
};

}  // namespace detail

/// `p.changed(before, after)`: the only mutator. Called with swapped arguments it undoes a change, even one that was
/// interrupted by an exception.
template <class P>
concept has_changed = requires(P& p, const NodePlace& place) {
    p.changed(place, place);
};

/// `p.draw(frame, weigh, random) -> std::optional<Draw>`: the canonical draw of policy/canonical_draw.hpp.
template <class P>
concept has_draw = requires(const P& p, const SamplingFrame& frame, const detail::WeighShape& weigh, Random& random) {
    { p.draw(frame, weigh, random) } -> std::same_as<std::optional<Draw>>;
};

/// `p.count(frame) -> std::uint32_t`: number of places with a positive bound; with several models a node counts once
/// for each.
template <class P>
concept has_count = requires(const P& p, const SamplingFrame& frame) {
    { p.count(frame) } -> std::same_as<std::uint32_t>;
};

/// `p.each_filled(classes, f)`: calls `f(class, count)` for each of the classes that has candidates, in their order,
/// while it returns true. Optional: else `count` is asked for each class.
template <class P>
concept has_each_filled = requires(const P& p, std::span<const ClassId> classes, bool (*f)(ClassId, std::uint32_t)) {
    p.each_filled(classes, f);
};

/// `p.total(frame) -> std::uint64_t`: sum of the bounds of the frame's places. A weight with `holder_weight_min` needs
/// it.
template <class P>
concept has_total = requires(const P& p, const SamplingFrame& frame) {
    { p.total(frame) } -> std::same_as<std::uint64_t>;
};

/// `p.gone(model, class)`: no node of the class has the model on its disk any more, so a pool may give back the
/// memory that it keeps for the two. Optional.
template <class P>
concept has_gone = requires(P& p, ModelId model, ClassId node_class) {
    p.gone(model, node_class);
};

/// `p.gone(class)`: no node is of the class any more, so a pool may give back the memory that it keeps for it.
/// Optional.
template <class P>
concept has_class_gone = requires(P& p, ClassId node_class) {
    p.gone(node_class);
};

/// `p.trim(model, class, reach)`: no holder of the model in the class has a place from `reach` on, so a pool may give
/// back the memory that it keeps for them. It changes no result, and throws nothing. Optional.
template <class P>
concept has_holder_trim = requires(P& p, ModelId model, ClassId node_class, std::uint32_t reach) {
    p.trim(model, node_class, reach);
};

/// `p.trim(class, reach)`: no node of the class has a slot from `reach` on, so a pool may give back the memory that it
/// keeps for them. It changes no result, and throws nothing. Optional.
template <class P>
concept has_class_trim = requires(P& p, ClassId node_class, std::uint32_t reach) {
    p.trim(node_class, reach);
};

/// `p.look_ahead(class, slot)`: a node will soon become a candidate in this slot, so a pool may prefetch its memory
/// there. It is const, changes no result, and throws nothing. Optional.
template <class P>
concept has_look_ahead = requires(const P& p, ClassId node_class, std::uint32_t slot) {
    p.look_ahead(node_class, slot);
};

/// `p.trim(nodes)`: no node has a handle from `nodes` on; the rest as above. Optional.
template <class P>
concept has_node_trim = requires(P& p, std::uint32_t nodes) {
    p.trim(nodes);
};

/// Index of the candidates. It needs nothing of the dispatcher and can be used alone. `laws::reversible` checks it.
template <class P>
concept candidate_pool = has_changed<P> && has_draw<P> && has_count<P>;

/// `static constexpr bool stores_bounds`: true if it draws by stored bounds, and so needs a monotone weight.
template <class P>
concept stores_bounds = requires {
    typename std::enable_if_t<bool(P::stores_bounds)>;
};

/// One sentence per requirement.
template <class P>
struct CandidatePoolCheck {
    static_assert(has_changed<P>, "allot: a candidate pool needs "
                                  "`void changed(const NodePlace& before, const NodePlace& after)`");
    static_assert(!has_changed<P> || has_draw<P>,
                  "allot: a candidate pool needs "
                  "`auto draw(const SamplingFrame&, weigh, Random&) const -> std::optional<Draw>`");
    static_assert(!has_changed<P> || !has_draw<P> || has_count<P>,
                  "allot: a candidate pool needs "
                  "`auto count(const SamplingFrame&) const -> std::uint32_t`");
    static constexpr bool passed = candidate_pool<P>;
};

}}  // namespace allot::v0

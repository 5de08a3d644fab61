#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <allot/core/fields.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/score.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// `typename P::node_data`: the tracker's data of one node, a column of the node's record.
template <class P>
concept has_node_data = requires {
    typename P::node_data;
}
&&std::regular<typename P::node_data>;

/// `p.joined(data, time)`: records that a node joins, for the first time or again.
template <class P>
concept has_joined = has_node_data<P> && requires(const P& p, typename P::node_data& data, TimePoint time) {
    p.joined(data, time);
};

/// `p.record(data, outcome, time) -> Standing`: records an outcome and returns the node's standing.
template <class P>
concept has_record = has_node_data<P> && requires(const P& p, typename P::node_data& data, TimePoint time) {
    { p.record(data, Outcome{}, time) } -> std::same_as<Standing>;
};

/// `p.score(data, time) -> Score`: the QoS score now.
template <class P>
concept has_score = has_node_data<P> && requires(const P& p, const typename P::node_data& data, TimePoint time) {
    { p.score(data, time) } -> std::same_as<Score>;
};

/// `p.score_max(data) -> Score`: never below `score` until the next `record`.
template <class P>
concept has_score_max = has_node_data<P> && requires(const P& p, const typename P::node_data& data) {
    { p.score_max(data) } -> std::same_as<Score>;
};

/// `p.back_at(data) -> std::optional<TimePoint>`: the time when an excluded node may return; empty: never excluded.
template <class P>
concept has_back_at = has_node_data<P> && requires(const P& p, const typename P::node_data& data) {
    { p.back_at(data) } -> std::same_as<std::optional<TimePoint>>;
};

/// `p.points_max() -> std::uint32_t`: the most points one verdict may give.
template <class P>
concept has_points_max = requires(const P& p) {
    { p.points_max() } -> std::same_as<std::uint32_t>;
};

/// `p.proven(data) -> bool`: true if enough good outcomes of a node are known. A tracker without it regards every node
/// as proven.
template <class P>
concept has_proven = has_node_data<P> && requires(const P& p, const typename P::node_data& data) {
    { p.proven(data) } -> std::same_as<bool>;
};

/// `p.rest(data, declined, time) -> bool`: lets a node rest that declined a lease of that length, or without a length
/// comes back to the candidates; true if it rests now, until `back_at`. Optional.
template <class P>
concept has_rest = has_node_data<P> && requires(const P& p, typename P::node_data& data, TimePoint time) {
    { p.rest(data, std::optional<Duration>{}, time) } -> std::same_as<bool>;
};

/// `p.restaked(data, before, after, time)`: records that a node's stake changed, by `update` or because it comes back
/// with another one. Optional.
template <class P>
concept has_restaked = has_node_data<P> && requires(const P& p, typename P::node_data& data, TimePoint time) {
    p.restaked(data, Amount{}, Amount{}, time);
};

/// `p.runs_as(data, node_class)`: records the class with which a node joins, or to which it changes. Optional.
template <class P>
concept has_runs_as = has_node_data<P> && requires(const P& p, typename P::node_data& data) {
    p.runs_as(data, NodeClass{});
};

/// `p.unproven(data)`: begins a node's probation anew. Optional.
template <class P>
concept has_unproven = has_node_data<P> && requires(const P& p, typename P::node_data& data) {
    p.unproven(data);
};

/// Stake that was taken away from a node, and the time until which it can still be forfeited.
struct Unbonding {
    Amount stake{};
    TimePoint until{};

    friend auto operator==(const Unbonding&, const Unbonding&) noexcept -> bool = default;
};
ALLOT_FIELDS(Unbonding, stake, until)

/// `p.unbond(data, amount, time) -> bool`: records that a positive stake is taken away from a node; false if it is
/// returned at once. `p.unbonding(data) -> Unbonding`: all such stake, also that of a time in the past.
/// `p.forfeited(data)`: records that all of it is forfeited. Optional, all three together.
template <class P>
concept has_unbonding = has_node_data<P> && requires(const P& p, typename P::node_data& data, TimePoint time) {
    { p.unbond(data, Amount{}, time) } -> std::same_as<bool>;
    { p.unbonding(data) } -> std::same_as<Unbonding>;
    p.forfeited(data);
};

/// `p.service()` and `p.service_of(data)`: of a tracker around another one, that other tracker and its data. Optional.
template <class P>
concept has_service = has_node_data<P> && requires(const P& p, const typename P::node_data& data) {
    p.service();
    p.service_of(data);
};

/// Measures the quality of service. The tracker itself holds parameters only; its measurements are stored in the node's
/// record. `laws::bounded`, `laws::drawable` and `laws::faithful` check it.
template <class P>
concept qos_tracker = has_node_data<P> && has_joined<P> && has_record<P> && has_score<P> && has_score_max<P> &&
    has_back_at<P> && has_points_max<P>;

/// Replaces the data of a tracker that has none, so that a wrong tracker yields one sentence and no more.
template <class P>
struct NodeDataOf {
    struct type {
        friend auto operator==(const type&, const type&) -> bool = default;
    };
};
template <has_node_data P>
struct NodeDataOf<P> {
    using type = typename P::node_data;
};

/// One sentence per requirement.
template <class P>
struct QoSTrackerCheck {
    static_assert(has_node_data<P>,
                  "allot: a QoS tracker needs `struct node_data`, default-constructible, copyable and "
                  "with `operator==`");
    static_assert(!has_node_data<P> || has_joined<P>, "allot: a QoS tracker needs "
                                                      "`void joined(node_data&, TimePoint) const`");
    static_assert(!has_joined<P> || has_record<P>, "allot: a QoS tracker needs "
                                                   "`auto record(node_data&, Outcome, TimePoint) const -> Standing`");
    static_assert(!has_joined<P> || !has_record<P> || has_score<P>,
                  "allot: a QoS tracker needs "
                  "`auto score(const node_data&, TimePoint) const -> Score`");
    static_assert(!has_joined<P> || !has_record<P> || !has_score<P> || has_score_max<P>,
                  "allot: a QoS tracker needs `auto score_max(const node_data&) const -> Score`");
    static_assert(!has_joined<P> || !has_record<P> || !has_score<P> || !has_score_max<P> || has_back_at<P>,
                  "allot: a QoS tracker needs `auto back_at(const node_data&) const -> std::optional<TimePoint>`");
    static_assert(!has_joined<P> || !has_record<P> || !has_score<P> || !has_score_max<P> || !has_back_at<P> ||
                      has_points_max<P>,
                  "allot: a QoS tracker needs `auto points_max() const -> std::uint32_t`");
    // A function of another type would be passed over in silence.
    static_assert(
        has_rest<P> ||
            !requires(const P& p, typename NodeDataOf<P>::type& data) {
                p.rest(data, std::optional<Duration>{}, TimePoint{});
            },
        "allot: a QoS tracker with `rest` needs `auto rest(node_data&, std::optional<Duration>, TimePoint) const -> "
        "bool`");
    static_assert(
        has_unbonding<P> ||
            !requires(const P& p, typename NodeDataOf<P>::type& data) { p.unbond(data, Amount{}, TimePoint{}); },
        "allot: a QoS tracker with `unbond` needs `auto unbond(node_data&, Amount, TimePoint) const -> bool`, "
        "`auto unbonding(const node_data&) const -> Unbonding` and `void forfeited(node_data&) const`");
    static constexpr bool passed = qos_tracker<P>;
};

}}  // namespace allot::v0

#pragma once

#include <concepts>
#include <type_traits>

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/core/weight.hpp>
#include <allot/policy/situation.hpp>

namespace allot { inline namespace v0 {

/// `p.weight(node, task, factors) -> Weight`: the weight of a pair of node and task.
template <class P>
concept has_weight = requires(const P& p, const Node& node, const Task& task, Factors factors) {
    { p.weight(node, task, factors) } -> std::same_as<Weight>;
};

/// `p.weight(node, task, factors, situation) -> Weight`: the same, for a weight that depends on the node's class or on
/// the task's requirement, as best fit does.
template <class P>
concept has_weight_in_situation = requires(const P& p, const Node& node, const Task& task, Factors factors,
                                           const Situation& s) {
    { p.weight(node, task, factors, s) } -> std::same_as<Weight>;
};

/// `p.weight_max(node, factors) -> Weight`: the greatest weight of a node in any situation, for any task.
template <class P>
concept has_weight_max = requires(const P& p, const Node& node, Factors factors) {
    { p.weight_max(node, factors) } -> std::same_as<Weight>;
};

/// True if the policy has a member named `monotone`.
template <class P>
concept names_monotone = requires {
    &P::monotone;
};

/// `static constexpr bool monotone`: true if the weight fulfils the law below.
template <class P>
concept says_monotone = requires {
    typename std::bool_constant<bool(P::monotone)>;
};

/// As above, and its value is `true`.
template <class P>
concept claims_monotone = says_monotone<P> && bool(P::monotone);

/// Selection weight of a candidate. Pure: equal arguments give equal weights. `laws::pure` checks it.
template <class P>
concept weight_policy = has_weight<P> || has_weight_in_situation<P>;

/// `p.by_operator() -> bool`: true if the weight depends on `Factors::operator_stake`.
///
/// The weight may only fall with that stake, because a bound is made for an operator of this node alone. A policy with
/// this function costs an index of operators, even if it returns false.
template <class P>
concept has_by_operator = requires(const P& p) {
    { p.by_operator() } -> std::same_as<bool>;
};

/// `p.is_zero(node, score) -> bool`: true if a node of this QoS score has weight zero for any task and any models.
/// It is optional: explanations call it for every node, and save a division where it exists.
template <class P>
concept has_is_zero = requires(const P& p, const Node& node, Score score) {
    { p.is_zero(node, score) } -> std::same_as<bool>;
};

/// `p.holder_weight_min() -> Weight`: how much the holders of a model must weigh for each of the `narrow_from` of them,
/// so that a draw is narrowed to them (rule 8). It is optional: without it their number suffices.
template <class P>
concept has_holder_weight_min = requires(const P& p) {
    { p.holder_weight_min() } -> std::same_as<Weight>;
};

/// A weight that never falls when stake, QoS score or boost rises, grows at most in proportion to the staking score,
/// and never rises with the largest stake. It depends on the task through the factors alone.
///
/// Then one bound per node can be stored, and draws cost O(log n). `laws::monotone` checks it; a draw that meets a
/// weight above its bound reports it in `Draw::above_bound`.
///
/// For a weight in a situation the law applies to its `weight_max`, and no weight may exceed that. Without `weight_max`
/// it is not monotone, every draw is a scan, and the dispatcher uses `LinearPool`.
template <class P>
concept monotone_weight = weight_policy<P> && claims_monotone<P> &&(!has_weight_in_situation<P> || has_weight_max<P>);

/// The weight of a pair, by the form of `weight` that the policy has.
template <weight_policy P>
[[nodiscard]] auto weight_of(const P& policy, const Node& node, const Task& task, const Factors& factors,
                             const Situation& situation) -> Weight {
    if constexpr (has_weight_in_situation<P>) {
        return policy.weight(node, task, factors, situation);
    } else {
        return policy.weight(node, task, factors);
    }
}

/// One sentence per requirement.
template <class P>
struct WeightPolicyCheck {
    static_assert(weight_policy<P>, "allot: a weight policy needs "
                                    "`auto weight(const Node&, const Task&, Factors) const -> Weight`; it may take a "
                                    "`const Situation&` after them");
    static_assert(!(has_weight<P> && has_weight_in_situation<P>),
                  "allot: a weight policy has one `weight`; keep the one that "
                  "takes a Situation, or the other");
    static_assert(!claims_monotone<P> || !has_weight_in_situation<P> || has_weight_max<P>,
                  "allot: a monotone weight that takes a "
                  "Situation needs `auto weight_max(const Node&, Factors) const -> Weight`, its greatest value over "
                  "all situations");
    static_assert(!weight_policy<P> || !names_monotone<P> || says_monotone<P>,
                  "allot: a weight policy says that it is monotone "
                  "with `static constexpr bool monotone = true;`");
    static constexpr bool passed = weight_policy<P> && (!names_monotone<P> || says_monotone<P>);
};

}}  // namespace allot::v0

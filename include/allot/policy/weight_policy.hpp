#pragma once

#include <concepts>
#include <type_traits>

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/core/weight.hpp>

namespace allot { inline namespace v0 {

/// `p.weight(node, task, factors) -> Weight`.
template <class P>
concept has_weight = requires(const P& p, const Node& node, const Task& task, Factors factors) {
    { p.weight(node, task, factors) } -> std::same_as<Weight>;
};

/// Something named `monotone`.
template <class P>
concept names_monotone = requires { &P::monotone; };

/// `static constexpr bool monotone`: whether the weight keeps the law below.
template <class P>
concept says_monotone = requires { typename std::bool_constant<bool(P::monotone)>; };

/// Selection weight of a candidate. Pure: equal arguments, equal weights. `laws::pure` checks it.
template <class P>
concept weight_policy = has_weight<P>;

/// `p.by_operator() -> bool`: whether the weight looks at `Factors::operator_stake`. It may only fall with that, for a bound is
/// made for an operator of this node alone. A policy that has it costs an index of operators, whatever it answers.
template <class P>
concept has_by_operator = requires(const P& p) {
    { p.by_operator() } -> std::same_as<bool>;
};

/// A weight that never falls when stake, QoS score or boost rises, grows at most in proportion to the staking score, never rises
/// with the largest stake, and knows the task through the factors alone. Then a bound per node can be stored, and draws cost
/// O(log n). `laws::monotone` checks it; a draw that meets a weight above its bound tells it in `Draw::above_bound`.
template <class P>
concept monotone_weight = weight_policy<P> && says_monotone<P> && bool(P::monotone);

/// One sentence a requirement.
template <class P>
struct WeightPolicyCheck {
    static_assert(has_weight<P>, "allot: a weight policy needs "
                  "`auto weight(const Node&, const Task&, Factors) const -> Weight`");
    static_assert(!has_weight<P> || !names_monotone<P> || says_monotone<P>, "allot: a weight policy says that it is monotone "
                  "with `static constexpr bool monotone = true;`");
    static constexpr bool passed = weight_policy<P> && (!names_monotone<P> || says_monotone<P>);
};

}}  // namespace allot::v0

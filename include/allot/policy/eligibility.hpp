#pragma once

#include <concepts>
#include <type_traits>

#include <allot/core/node.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/task.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/situation.hpp>

namespace allot { inline namespace v0 {

/// `p.fits(node_class, requirement) -> Reason`: a fact about classes. The dispatcher computes it once per pair and
/// stores it as a bit.
template <class P>
concept has_fits = requires(const P& p, const NodeClass& node_class, const Requirement& requirement) {
    { p.fits(node_class, requirement) } -> std::same_as<Reason>;
};

/// `p.admits(node, task, situation) -> Reason`: all other conditions, checked for each candidate that is drawn.
template <class P>
concept has_admits = requires(const P& p, const Node& node, const Task& task, const Situation& situation) {
    { p.admits(node, task, situation) } -> std::same_as<Reason>;
};

/// `static constexpr bool listed_cards_only`: true if no class fits a requirement that lists cards, and not its own.
/// Optional; with it a new class is compared with the hashes of names, and not with thousands of names. A policy that
/// derives from `HardwareFit` and admits other cards has to set it to false.
template <class P>
concept listed_cards_only = requires {
    typename std::enable_if_t<bool(P::listed_cards_only)>;
};

/// `static constexpr bool admits_by_stake = true`: `admits` may depend on the node's stake, so that a node which adds
/// stake looks for a task. Optional.
template <class P>
concept admits_by_stake = requires {
    typename std::enable_if_t<bool(P::admits_by_stake)>;
};

/// `p.fee_max() -> Amount`: the greatest fee of a task that is not pinned. Optional; without it there is none.
template <class P>
concept has_fee_max = requires(const P& p) {
    { p.fee_max() } -> std::same_as<Amount>;
};

/// `p.stake_min(fee) -> Amount`: `admits` refuses each node of less stake for a task of this fee that is not pinned.
/// Optional; with it a match does not draw for a task that no free node has the stake for.
template <class P>
concept has_stake_min = requires(const P& p, Amount fee) {
    { p.stake_min(fee) } -> std::same_as<Amount>;
};

/// Decides which node may run which task. Both functions are pure: equal arguments give equal reasons. `none` means
/// yes. `laws::pure` checks it.
template <class P>
concept eligibility = has_fits<P> && has_admits<P>;

/// One sentence per requirement.
template <class P>
struct EligibilityCheck {
    static_assert(has_fits<P>, "allot: an eligibility policy needs "
                               "`auto fits(const NodeClass&, const Requirement&) const -> Reason`");
    static_assert(!has_fits<P> || has_admits<P>,
                  "allot: an eligibility policy needs "
                  "`auto admits(const Node&, const Task&, const Situation&) const -> Reason`");
    // A function of another type would be passed over in silence.
    static_assert(
        has_fee_max<P> || !requires(const P& p) { p.fee_max(); },
        "allot: an eligibility policy with `fee_max` needs `auto fee_max() const -> Amount`");
    static_assert(
        has_stake_min<P> || !requires(const P& p, Amount fee) { p.stake_min(fee); },
        "allot: an eligibility policy with `stake_min` needs `auto stake_min(Amount fee) const -> Amount`");
    static constexpr bool passed = eligibility<P>;
};

}}  // namespace allot::v0

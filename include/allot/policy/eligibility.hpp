#pragma once

#include <concepts>

#include <allot/core/node.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/task.hpp>
#include <allot/policy/situation.hpp>

namespace allot { inline namespace v0 {

/// `p.fits(node_class, requirement) -> Reason`: a fact about classes, computed once per pair and kept as a bit by the hub.
template <class P>
concept has_fits = requires(const P& p, const NodeClass& node_class, const Requirement& requirement) {
    { p.fits(node_class, requirement) } -> std::same_as<Reason>;
};

/// `p.admits(node, task, situation) -> Reason`: everything else, asked for each candidate that is drawn.
template <class P>
concept has_admits = requires(const P& p, const Node& node, const Task& task, const Situation& situation) {
    { p.admits(node, task, situation) } -> std::same_as<Reason>;
};

/// Decides which node may run which task. Both halves are pure: equal arguments, equal reasons. `none` means yes.
/// `laws::pure` checks it.
template <class P>
concept eligibility = has_fits<P> && has_admits<P>;

/// One sentence a requirement.
template <class P>
struct EligibilityCheck {
    static_assert(has_fits<P>, "allot: an eligibility policy needs "
                  "`auto fits(const NodeClass&, const Requirement&) const -> Reason`");
    static_assert(!has_fits<P> || has_admits<P>, "allot: an eligibility policy needs "
                  "`auto admits(const Node&, const Task&, const Situation&) const -> Reason`");
    static constexpr bool passed = eligibility<P>;
};

}}  // namespace allot::v0

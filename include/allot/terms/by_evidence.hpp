#pragma once

#include <string_view>
#include <utility>

#include <allot/core/outcome.hpp>
#include <allot/core/task.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/terms/terms_around.hpp>

namespace allot { inline namespace v0 {

/// Lease terms that blame by evidence: a node that failed a task is blamed once a node of another operator has finished
/// the task, and not before.
///
/// Leases are as long as `Terms` says, and a task starts over when they say so, but never on the node that failed it.
/// Until there is evidence the node's tracker records `cancelled`. If the tracker knows rests, a failure before the
/// lease has lasted its first length is a rest: with `Resting`, for half of the time that was left. A wrong
/// result is blamed at once, as it is proven; so are the members of a gang, whose task goes on with the others.
///
/// **Law.** No owner can have a node blamed by a task that no node finishes, and no node escapes blame by the name that
/// it gives its failure. An owner whose own node finishes a task has others blamed with it; each verdict costs it one
/// fee, and needs a draw of its own node.
///
/// The verdict is that of a lease that ran out. A failure that is never decided is none: the task failed everywhere, or
/// was cancelled, or no other node can run it.
template <lease_terms Terms = FixedTerms>
class ByEvidence : public TermsAround<Terms> {
public:
    static constexpr std::string_view name = "ByEvidence";

    constexpr ByEvidence() = default;
    constexpr explicit ByEvidence(Terms terms) : TermsAround<Terms>{std::move(terms)} {}

    [[nodiscard]] constexpr auto after(const Task& task, OutcomeKind outcome) const -> Next {
        const auto next = this->terms().after(task, outcome);
        return next == Next::retry ? Next::retry_elsewhere : next;
    }
    /// True for each failure but a wrong result. @complexity O(1).
    [[nodiscard]] constexpr auto waits_for_evidence(OutcomeKind outcome) const noexcept -> bool {
        return outcome != OutcomeKind::incorrect_result;
    }
};

}}  // namespace allot::v0

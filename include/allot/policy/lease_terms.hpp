#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <allot/core/fields.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// Continuation of a task whose lease ended without success.
enum class Next : std::uint8_t {
    end,              ///< The task ends and its owner is notified.
    retry,            ///< The task starts over, on any node.
    retry_elsewhere,  ///< The task starts over and avoids the node.
};
ALLOT_ENUMERATORS(Next, end, retry, retry_elsewhere)

/// `p.length(node, task) -> Duration`: the length of a lease, positive.
template <class P>
concept has_length = requires(const P& p, const Node& node, const Task& task) {
    { p.length(node, task) } -> std::same_as<Duration>;
};

/// `p.length_max(node, task) -> Duration`: the greatest length of a lease with all its renewals.
template <class P>
concept has_length_max = requires(const P& p, const Node& node, const Task& task) {
    { p.length_max(node, task) } -> std::same_as<Duration>;
};

/// `p.patience(task) -> Duration`: the longest time that a task may wait in the queue, positive.
template <class P>
concept has_patience = requires(const P& p, const Task& task) {
    { p.patience(task) } -> std::same_as<Duration>;
};

/// `p.after(task, outcome) -> Next`: the continuation after a lease that ended without success.
template <class P>
concept has_after = requires(const P& p, const Task& task) {
    { p.after(task, OutcomeKind::timeout) } -> std::same_as<Next>;
};

/// `p.blames(task, outcome) -> bool`: true if the node is responsible for a failure. Otherwise its tracker records
/// `cancelled`, as for a withdrawn task. Terms without it blame the node each time.
template <class P>
concept has_blames = requires(const P& p, const Task& task) {
    { p.blames(task, OutcomeKind::timeout) } -> std::same_as<bool>;
};

/// `p.fee_min(reserved) -> Amount`: the least fee of a task that reserves this time: the length of its lease, once for
/// each of its nodes. A cheaper submission is refused, unless it is pinned. Terms without it have no least fee.
template <class P>
concept has_fee_min = requires(const P& p) {
    { p.fee_min(Duration{}) } -> std::same_as<Amount>;
};

/// `p.forfeit(task, ending, held, crowding) -> Amount`: the part of the fee that its owner does not get back. `ending`
/// is `cancelled` by the owner, or `failed` or `timed_out` for a reason that is not the node's; `held` is the time
/// since its lease began, 0 if it waits. `crowding` is the part of the room for waiting tasks that is taken then: 1 in
/// a full queue. It is 0 for a task that its first failure ends. Terms without it give each fee back.
template <class P>
concept has_forfeit = requires(const P& p, const Task& task) {
    { p.forfeit(task, Ending::cancelled, Duration{}, Ratio{}) } -> std::same_as<Amount>;
};

/// `p.paid(task) -> Amount`: the payment to the nodes of a task that is done; the rest of its fee is refunded. Terms
/// without it pay the whole fee.
template <class P>
concept has_paid = requires(const P& p, const Task& task) {
    { p.paid(task) } -> std::same_as<Amount>;
};

/// `p.waits_for_evidence(outcome) -> bool`: true if a node that failed a task so is blamed once a node of another
/// operator has finished the task, and not before. Such a task has to start over elsewhere. Terms without it blame at
/// once.
template <class P>
concept has_evidence = requires(const P& p) {
    { p.waits_for_evidence(OutcomeKind::timeout) } -> std::same_as<bool>;
};

/// `p.draws_in_rounds() -> bool`: true if `match` alone draws, so that other commands start no task but a pinned one;
/// and `p.drawn_until(moment) -> std::optional<TimePoint>`: the latest time at which a task may have begun to wait that
/// a match at this moment draws, none to refuse the match. Terms without both draw each task with the entropy of any
/// command.
template <class P>
concept has_rounds = requires(const P& p, const Moment& moment) {
    { p.draws_in_rounds() } -> std::same_as<bool>;
    { p.drawn_until(moment) } -> std::same_as<std::optional<TimePoint>>;
};

/// Deadlines, and the continuation after a failure. Pure. `laws::positive` checks it.
template <class P>
concept lease_terms = has_length<P> && has_length_max<P> && has_patience<P> && has_after<P>;

/// One sentence per requirement.
template <class P>
struct LeaseTermsCheck {
    static_assert(has_length<P>, "allot: lease terms need `auto length(const Node&, const Task&) const -> Duration`");
    static_assert(!has_length<P> || has_length_max<P>, "allot: lease terms need "
                                                       "`auto length_max(const Node&, const Task&) const -> Duration`");
    static_assert(!has_length<P> || !has_length_max<P> || has_patience<P>,
                  "allot: lease terms need "
                  "`auto patience(const Task&) const -> Duration`");
    static_assert(!has_length<P> || !has_length_max<P> || !has_patience<P> || has_after<P>,
                  "allot: lease terms need "
                  "`auto after(const Task&, OutcomeKind) const -> Next`");
    // A hook of another type would be passed over in silence.
    static_assert(
        has_blames<P> || !requires(const P& p, const Task& task) { p.blames(task, OutcomeKind::timeout); },
        "allot: lease terms with `blames` need `auto blames(const Task&, OutcomeKind) const -> bool`");
    static_assert(
        has_fee_min<P> || !requires(const P& p) { p.fee_min(Duration{}); },
        "allot: lease terms with `fee_min` need `auto fee_min(Duration) const -> Amount`");
    static_assert(has_forfeit<P> ||
                      !(
                          requires(const P& p, const Task& task) {
                              p.forfeit(task, Ending::cancelled, Duration{}, Ratio{});
                          } ||
                          requires(const P& p, const Task& task) { p.forfeit(task, Ending::cancelled, Duration{}); }),
                  "allot: lease terms with `forfeit` need "
                  "`auto forfeit(const Task&, Ending, Duration, Ratio) const -> Amount`");
    static_assert(
        has_paid<P> || !requires(const P& p, const Task& task) { p.paid(task); },
        "allot: lease terms with `paid` need `auto paid(const Task&) const -> Amount`");
    static_assert(
        has_evidence<P> || !requires(const P& p) { p.waits_for_evidence(OutcomeKind::timeout); },
        "allot: lease terms with `waits_for_evidence` need "
        "`auto waits_for_evidence(OutcomeKind) const -> bool`");
    static_assert(has_rounds<P> || !(
                                       requires(const P& p) { p.draws_in_rounds(); } ||
                                       requires(const P& p, const Moment& moment) { p.drawn_until(moment); }),
                  "allot: lease terms that draw in rounds need `auto draws_in_rounds() const -> bool` and "
                  "`auto drawn_until(const Moment&) const -> std::optional<TimePoint>`");
    static constexpr bool passed = lease_terms<P>;
};

}}  // namespace allot::v0

#pragma once

#include <allot/core/event.hpp>
#include <allot/core/value_fields.hpp>

namespace allot { inline namespace v0 { namespace event {

/// The fields of the events.

ALLOT_FIELDS(NodeJoined, node, again)
ALLOT_FIELDS(NodeUpdated, node)
ALLOT_FIELDS(NodePaused, node)
ALLOT_FIELDS(NodePausePending, node)
ALLOT_FIELDS(NodeResumed, node)
ALLOT_FIELDS(NodeLeavePending, node)
ALLOT_FIELDS(NodeLeft, node, stake_returned)
ALLOT_FIELDS(NodeKickedOut, node, stake_returned)
ALLOT_FIELDS(NodeSlashed, node, stake_forfeited)
ALLOT_FIELDS(NodeDisplaced, node, stake_returned)
ALLOT_FIELDS(NodeExcluded, node, until)
ALLOT_FIELDS(NodeReadmitted, node)
ALLOT_FIELDS(NodeScored, node, outcome)
ALLOT_FIELDS(ModelWanted, node, task, model)
ALLOT_FIELDS(ModelsReported, node)

ALLOT_FIELDS(TaskQueued, task, owner, deadline)
ALLOT_FIELDS(TaskStarted, lease, owner)
ALLOT_FIELDS(TaskCommitted, lease, owner)
ALLOT_FIELDS(TaskDisclosed, lease, owner)
ALLOT_FIELDS(LeaseRenewed, lease)
ALLOT_FIELDS(LeaseCompleted, lease, owner)
ALLOT_FIELDS(LeaseEnded, lease, owner, how, outcome)
ALLOT_FIELDS(TaskRetried, task, owner, outcome)
ALLOT_FIELDS(TaskDone, task, node, owner, paid, refunded, forfeited)
ALLOT_FIELDS(TaskFailed, task, owner, paid, refunded, forfeited, cause)
ALLOT_FIELDS(TaskCancelled, task, owner, paid, refunded, forfeited)
ALLOT_FIELDS(TaskEvicted, task, owner, paid, refunded, forfeited, reason)
ALLOT_FIELDS(TaskTimedOut, task, owner, paid, refunded, forfeited, expiry)

ALLOT_FIELDS(Advanced, now)
ALLOT_FIELDS(Matched, started)
ALLOT_FIELDS(Configured, rules_version)
ALLOT_FIELDS(Refused, error)
ALLOT_FIELDS(Postponed, by)
ALLOT_FIELDS(UnbondingBegan, node, stake_unbonding, until)

ALLOT_ENUMERATORS(LeaseEnd, done, failed, timed_out, declined, cancelled, withdrawn, slashed)
ALLOT_ENUMERATORS(Eviction, queue_full, queue_shrunk, table_full)
ALLOT_ENUMERATORS(Expiry, queue, execution)

}}}  // namespace allot::v0::event

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
ALLOT_FIELDS(NodeExcluded, node, until)
ALLOT_FIELDS(NodeReadmitted, node)
ALLOT_FIELDS(ModelWanted, node, model, task)
ALLOT_FIELDS(ModelsReported, node)
ALLOT_FIELDS(NodeScored, node, outcome)

ALLOT_FIELDS(TaskQueued, task, owner, deadline)
ALLOT_FIELDS(TaskStarted, lease, owner)
ALLOT_FIELDS(TaskCommitted, lease)
ALLOT_FIELDS(TaskDisclosed, lease)
ALLOT_FIELDS(LeaseRenewed, lease)
ALLOT_FIELDS(LeaseDeclined, lease)
ALLOT_FIELDS(LeaseCompleted, lease)
ALLOT_FIELDS(LeaseLost, lease, outcome)
ALLOT_FIELDS(LeaseWithdrawn, lease)
ALLOT_FIELDS(TaskRetried, task, owner, outcome)
ALLOT_FIELDS(TaskDone, task, owner, node, fee, refund)
ALLOT_FIELDS(TaskFailed, task, owner, refund, cause)
ALLOT_FIELDS(TaskCancelled, task, owner, refund)
ALLOT_FIELDS(TaskEvicted, task, owner, refund, reason)
ALLOT_FIELDS(TaskTimedOut, task, owner, refund, expiry)

ALLOT_FIELDS(Advanced, now)
ALLOT_FIELDS(Matched, started)
ALLOT_FIELDS(Configured, rules_version)
ALLOT_FIELDS(Refused, error)
ALLOT_FIELDS(NodeDisplaced, node, stake_returned)

ALLOT_ENUMERATORS(Eviction, queue_full, queue_shrunk, table_full)
ALLOT_ENUMERATORS(Expiry, queue, execution)

}}}  // namespace allot::v0::event

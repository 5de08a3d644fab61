#pragma once

#include <allot/core/value_fields.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// The fields of a dispatcher's records. An order never changes: it is the order of the bytes.

ALLOT_FIELDS(Requirement, vram_min, gpus, platforms, platforms_refused, software, gang_size, same_card)
ALLOT_FIELDS(Node, id, operator_id, stake, stake_root, due_at, node_class, slot, lease, state, excluded, kicked_out,
             labels, held)
ALLOT_FIELDS_OF_TEMPLATE(NodeRecord, node, qos)
ALLOT_FIELDS(Task, id, owner, fee, value, sequence, duration_estimate, submitted_at, due_at, requirement, lease, group,
             attempt, models, avoided, labels, strikes, state, pinned_to)
ALLOT_FIELDS(EndedTask, id, due_at, node, ending, cause)
ALLOT_FIELDS(LeaseRecord, token, task, node, started_at, deadline, next, phase, member, of, postponed)
ALLOT_FIELDS(GroupRecord::Member, node, operator_id)
ALLOT_FIELDS(GroupRecord, id, tasks, tasks_left, due_at, members)
ALLOT_FIELDS(Ceilings, unit, from, to, renewed)
ALLOT_FIELDS(Counters, now, token_next, sequence_next, ceilings, rules_version)

}}  // namespace allot::v0

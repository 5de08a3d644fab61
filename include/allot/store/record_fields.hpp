#pragma once

#include <string_view>
#include <type_traits>

#include <allot/core/value_fields.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// The fields of a dispatcher's records. An order never changes: it is the order of the bytes.

ALLOT_FIELDS(Requirement, vram_min, gpus, platforms, platforms_refused, software, gang_size, same_card)
ALLOT_FIELDS(Node, id, operator_id, stake, stake_root, due_at, node_class, slot, lease, state, excluded, kicked_out,
             labels, held)
ALLOT_FIELDS_OF_TEMPLATE(NodeRecord, node, qos)
ALLOT_FIELDS(TaskRest, owner, models, avoided, labels)

namespace detail {

/// The rest of a task: to be read, or to be changed. `blank` is read in place of one that was not made.
[[nodiscard]] inline auto rest_of(const Task& task, const TaskRest& blank) noexcept -> const TaskRest& {
    return task.rest.find() == nullptr ? blank : *task.rest.find();
}
[[nodiscard]] inline auto rest_of(Task& task, const TaskRest&) -> TaskRest& { return task.rest.made(); }

}  // namespace detail

[[nodiscard]] constexpr auto allot_type_name(std::type_identity<Task>) noexcept -> std::string_view { return "Task"; }
/// The fields of a task, as `ALLOT_FIELDS` would list them, with those of its `rest` among them. An estimate that its
/// four bytes cannot hold is read as zero, which no task may have.
template <class V, class Visit>
void allot_fields(std::type_identity<Task>, V& task, Visit&& visit) {
    const auto blank = TaskRest{};
    auto& rest = detail::rest_of(task, blank);
    auto estimate = Duration{task.duration_estimate};
    visit("id", task.id);
    visit("owner", rest.owner);
    visit("fee", task.fee);
    visit("value", task.value);
    visit("sequence", task.sequence);
    visit("duration_estimate", estimate);
    visit("submitted_at", task.submitted_at);
    visit("due_at", task.due_at);
    visit("requirement", task.requirement);
    visit("lease", task.lease);
    visit("group", task.group);
    visit("attempt", task.attempt);
    visit("models", rest.models);
    visit("avoided", rest.avoided);
    visit("labels", rest.labels);
    visit("strikes", task.strikes);
    visit("state", task.state);
    visit("pinned_to", task.pinned_to);
    if constexpr (!std::is_const_v<V>) {
        task.duration_estimate = estimate;
        if (rest == blank) { task.rest = {}; }
    }
}

ALLOT_FIELDS(EndedTask, id, due_at, node, ending, cause)
ALLOT_FIELDS(LeaseRecord, token, task, node, started_at, deadline, next, phase, member, of, postponed)
ALLOT_FIELDS(GroupRecord::Member, node, operator_id)
ALLOT_FIELDS(GroupRecord, id, tasks, tasks_left, due_at, members)
ALLOT_FIELDS(Ceilings, unit, from, to, renewed)
ALLOT_FIELDS(Counters, now, token_next, sequence_next, ceilings, rules_version)

}}  // namespace allot::v0

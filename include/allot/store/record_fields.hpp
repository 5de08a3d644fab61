#pragma once

#include <string_view>
#include <type_traits>

#include <allot/core/value_fields.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// The fields of a dispatcher's records. An order never changes: it is the order of the bytes.

ALLOT_FIELDS(Requirement, vram_min, gpus, platforms, platforms_refused, software, gang_size, same_card)

namespace detail {

/// The rest of a node or of a task: to be read, or to be changed. `blank` is read in place of one that was not made.
template <class Record, class Rest>
[[nodiscard]] auto rest_of(Record& record, const Rest& blank) -> auto& {
    if constexpr (std::is_const_v<Record>) {
        return record.rest.find() == nullptr ? blank : *record.rest.find();
    } else {
        return record.rest.made();
    }
}

}  // namespace detail

[[nodiscard]] constexpr auto allot_type_name(std::type_identity<Node>) noexcept -> std::string_view { return "Node"; }
/// The fields of a node, as `ALLOT_FIELDS` would list them, with those of its `rest` among them. A null operator, or a
/// root that is not that of the stake, is read as a null id, which no node may have.
template <class V, class Visit>
void allot_fields(std::type_identity<Node>, V& node, Visit&& visit) {
    const auto blank = NodeRest{};
    auto& rest = detail::rest_of(node, blank);
    auto operator_id = node.operator_id();
    auto stake_root = node.stake_root();
    visit("id", node.id);
    visit("operator_id", operator_id);
    visit("stake", node.stake);
    visit("stake_root", stake_root);
    visit("due_at", node.due_at);
    visit("node_class", node.node_class);
    visit("slot", node.slot);
    visit("lease", node.lease);
    visit("state", node.state);
    visit("excluded", node.excluded);
    visit("kicked_out", node.kicked_out);
    visit("labels", rest.labels);
    visit("held", node.held);
    if constexpr (!std::is_const_v<V>) {
        node.belongs_to(operator_id, span_of(rest.labels));
        node.staked(node.stake);
        if (operator_id.is_null() || node.stake_root() != stake_root) { node.id = NodeId::null(); }
    }
}

ALLOT_FIELDS_OF_TEMPLATE(NodeRecord, node, qos)
ALLOT_FIELDS(TaskRest, owner, models, avoided, labels)

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

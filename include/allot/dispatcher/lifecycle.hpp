#pragma once

#include <algorithm>
#include <utility>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

// ---- tasks ------------------------------------------------------------------------------------------------------------

/// A new task is tried at once whatever is queued (seed 001); without a candidate or without entropy it waits.
template <class... Ps>
void Dispatcher<Ps...>::dispatch(TaskHandle t, Task&& task, Step& step) {
    if (task.pinned()) {
        dispatch_pinned(t, std::move(task), step);
        return;
    }
    if (step.moment.entropy) {
        follow_stakes();
        if (const auto drawn = draw(task, *step.moment.entropy); !drawn.empty()) {
            traced_gang(task, drawn, 0, step);
            start(t, std::move(task), drawn, step);
            return;
        }
    }
    enqueue(t, std::move(task), step);
}

/// A pinned task needs no draw: it starts on its node if that is free, be it excluded or without weight, for this is how such a
/// node can prove itself; else it waits there, beside the queue (rule 22).
template <class... Ps>
void Dispatcher<Ps...>::dispatch_pinned(TaskHandle t, Task&& task, Step& step) {
    const auto n = task.pinned_to;
    if (state_.nodes()[n].node.state == NodeState::available) {
        start(t, std::move(task), Gang{Draw{n}}, step);
        return;
    }
    auto followers = Followers{*this};
    task.state = TaskState::held;
    task.due_at = state_.counters().now + std::max(Duration{1}, terms_.patience(task));
    step.tell(event::TaskQueued{task.id, task.notify_to(), task.due_at});
    state_.put(t, std::move(task), followers);
    state_.edit(n, [&](Record& record) { record.node.held = t; }, followers);
}

/// The pinned task that waits for a node starts when the node is free, before anything is pulled. Without a class that fits it
/// any more it ends.
template <class... Ps>
void Dispatcher<Ps...>::start_held(NodeHandle n, Step& step) {
    const auto* record = state_.nodes().find_record(n);
    if (record == nullptr || record->node.state != NodeState::available || record->node.held == no_handle<TaskHandle>) {
        return;
    }
    const auto t = record->node.held;
    const auto& task = state_.tasks()[t];
    if (fitness(record->node.node_class, state_.fits().value(task.requirement)) != Reason::none) {
        withdraw(t, step);
        return;
    }
    start(t, Task{task}, Gang{Draw{n}}, step);
}

/// A task ends before it could run, and its fee goes back.
template <class... Ps>
void Dispatcher<Ps...>::withdraw(TaskHandle t, Step& step) {
    const auto& task = state_.tasks()[t];
    step.tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
    end(t, {.ending = Ending::cancelled});
}

/// What becomes of a task whose lease ended so: no other node can run a pinned one.
template <class... Ps>
auto Dispatcher<Ps...>::after(const Task& task, OutcomeKind outcome) const -> Next {
    return task.pinned() ? Next::end : terms_.after(task, outcome);
}

/// The lowest among queue and newcomer goes when there is no room; that may be the newcomer (rule 15), and is when it does not
/// outbid the lowest by as much as the rules ask.
template <class... Ps>
void Dispatcher<Ps...>::enqueue(TaskHandle t, Task&& task, Step& step) {
    auto followers = Followers{*this};
    task.state = TaskState::queued;
    task.lease = no_handle<LeaseHandle>;
    task.due_at = state_.counters().now + std::max(Duration{1}, terms_.patience(task));
    const auto queued = event::TaskQueued{task.id, task.notify_to(), task.due_at};
    const auto full = queue_.size() >= queue_.capacity(state_.present());
    state_.put(t, std::move(task), followers);
    auto victim = full ? queue_.worst() : std::nullopt;
    if (victim && !outbids(state_.tasks()[t], state_.tasks()[*victim])) {
        victim = t;
    }
    if (victim != t) {
        step.tell(queued);
    }
    if (victim) {
        evict(*victim, event::Eviction::queue_full, step);
    }
}

template <class... Ps>
void Dispatcher<Ps...>::evict(TaskHandle t, event::Eviction reason, Step& step) {
    const auto& task = state_.tasks()[t];
    traced({DecisionKind::eviction, task}, step);
    step.tell(event::TaskEvicted{.task = task.id, .owner = task.notify_to(), .refunded = task.fee, .reason = reason});
    end(t, {.ending = Ending::evicted, .cause = event::cause_of(reason)});
}

/// When the network lost nodes, the surplus goes, lowest value first, a few a command (rule 14).
template <class... Ps>
void Dispatcher<Ps...>::shrink_queue(Step& step) {
    const auto capacity = queue_.capacity(state_.present());
    for (auto left = rules_->evictions_max; left > 0 && queue_.size() > capacity; --left) {
        evict(*queue_.worst(), event::Eviction::queue_shrunk, step);
    }
}

/// A new task whose requirement is one too many: the poorest requirement makes way, cheapest task first. One of more tasks than a
/// command may evict loses so many, and then there is no room for the newcomer yet: it goes as well.
template <class... Ps>
void Dispatcher<Ps...>::displace(TaskHandle t, Task&& task, RequirementId poorest, Step& step) {
    const auto& fits = state_.fits();
    if (fits.count(poorest) > rules_->evictions_max) {
        auto followers = Followers{*this};
        task.state = TaskState::queued;
        state_.put(t, std::move(task), followers);
        evict(t, event::Eviction::table_full, step);
    } else {
        dispatch(t, std::move(task), step);
        if (fits.requirements().size() <= rules_->requirements_max) {
            return;  // the queue was full, and who went for that left room here
        }
    }
    for (auto left = rules_->evictions_max; left > 0 && fits.contains(poorest); --left) {
        evict(*queue_.worst_of(poorest), event::Eviction::table_full, step);
    }
}

/// The nodes of a class leave, so that there is room for another.
template <class... Ps>
void Dispatcher<Ps...>::displace(ClassId poorest, Step& step) {
    auto nodes = std::vector<NodeHandle>{};
    state_.fits().each_node(poorest, [&](NodeHandle n) { nodes.push_back(n); });
    for (const auto n : nodes) {
        displace(n, step);
    }
}

template <class... Ps>
void Dispatcher<Ps...>::displace(NodeHandle n, Step& step) {
    const auto& node = state_.nodes()[n].node;
    step.tell(event::NodeDisplaced{node.id, node.stake});
    depart(n, state_.nodes()[n], step);
}

/// Ends a task: its id stays taken until it is forgotten, and of the rest only how it ended stays.
template <class... Ps>
void Dispatcher<Ps...>::end(TaskHandle t, const TaskEnd& how) {
    auto followers = Followers{*this};
    const auto& task = state_.tasks()[t];
    if (task.state == TaskState::held) {
        state_.edit(task.pinned_to, [](Record& record) { record.node.held = no_handle<TaskHandle>; }, followers);
    }
    const auto id = task.id;
    const auto group = task.group;
    const auto forgotten_at = state_.counters().now + rules_->forget_tasks_after;
    state_.remove(t, followers);
    if (rules_->forget_tasks_after > Duration{0}) {
        const auto node = how.node ? state_.intern(*how.node, followers) : no_handle<NodeNameId>;
        state_.put(state_.ended_tasks().next(), EndedTask{id, forgotten_at, node, how.ending, how.cause}, followers);
    }
    if (group != no_handle<GroupHandle>) {
        leave_group(group, forgotten_at);
    }
}

/// A task of a group ended. Who ran it counts until the last of its tasks is forgotten.
template <class... Ps>
void Dispatcher<Ps...>::leave_group(GroupHandle g, TimePoint forgotten_at) {
    auto followers = Followers{*this};
    const auto& group = state_.groups()[g];
    if (group.tasks_left == 1 && std::max(group.due_at, forgotten_at) <= state_.counters().now) {
        state_.remove(g, followers);
        return;
    }
    state_.edit(g, [&](GroupRecord& record) {
        --record.tasks_left;
        record.due_at = std::max(record.due_at, forgotten_at);
    }, followers);
}

/// A lease ends without success: the task ends with `ending`, or starts over when the terms say so. A gang goes on without the
/// member; what was a task for several nodes ends so only with the last of them.
template <class... Ps>
void Dispatcher<Ps...>::end_unsuccessfully(LeaseHandle l, OutcomeKind outcome, TaskEnd how, const Event& ending, Step& step) {
    const auto t = state_.leases()[l].task;
    const auto node = state_.nodes()[state_.leases()[l].node].node.id;
    const auto next = after(state_.tasks()[t], outcome);
    const auto verdict = attributed(state_.tasks()[t], outcome);
    const auto avoided = next == Next::retry_elsewhere ? std::optional{node} : std::nullopt;
    const auto late = outcome == OutcomeKind::timeout || outcome == OutcomeKind::timeout_in_group;
    tell_end(l, late ? event::LeaseEnd::timed_out : event::LeaseEnd::failed, verdict, step);
    if (has_others(l)) {
        unchain(l, avoided);
        release(l, {verdict}, step);
        conclude(t, step);
        return;
    }
    if (next == Next::end) {
        step.events.push(ending);
        release(l, {verdict}, step);
        end(t, how);
        return;
    }
    step.tell(event::TaskRetried{state_.tasks()[t].id, state_.tasks()[t].notify_to(), outcome});
    release(l, {verdict}, step);
    auto followers = Followers{*this};
    state_.edit(t, [](Task& task) { ++task.strikes; }, followers);
    start_over(t, avoided, step);
}

template <class... Ps>
void Dispatcher<Ps...>::start_over(TaskHandle t, std::optional<NodeId> avoided, Step& step) {
    auto task = state_.tasks()[t];
    task.lease = no_handle<LeaseHandle>;
    avoid(task, avoided);
    dispatch(t, std::move(task), step);
}

template <class... Ps>
void Dispatcher<Ps...>::avoid(Task& task, const std::optional<NodeId>& node) const {
    if (node && rules_->avoided_max > 0) {
        if (task.avoided.size() >= rules_->avoided_max) {
            task.avoided.erase(task.avoided.begin());
        }
        task.avoided.push_back(*node);
    }
}

// ---- gangs ------------------------------------------------------------------------------------------------------------

/// Calls `f(lease)` for each node of a running task, by member.
template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_member(TaskHandle t, F&& f) const {
    for (auto l = state_.tasks()[t].lease; l != no_handle<LeaseHandle>; l = state_.leases()[l].next) {
        f(l);
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::has_others(LeaseHandle l) const -> bool {
    const auto& lease = state_.leases()[l];
    return state_.tasks()[lease.task].lease != l || lease.next != no_handle<LeaseHandle>;
}

/// Takes a lease out of its task's chain, and has the task avoid a node from now on.
template <class... Ps>
void Dispatcher<Ps...>::unchain(LeaseHandle l, const std::optional<NodeId>& avoided) {
    auto followers = Followers{*this};
    const auto lease = state_.leases()[l];
    auto task = state_.tasks()[lease.task];
    auto before = no_handle<LeaseHandle>;
    each_member(lease.task, [&](LeaseHandle other) { before = state_.leases()[other].next == l ? other : before; });
    if (task.lease == l) {
        task.lease = lease.next;
    } else {
        state_.edit(before, [&](LeaseRecord& record) { record.next = lease.next; }, followers);
    }
    avoid(task, avoided);
    state_.put(lease.task, std::move(task), followers);
}

/// Ends every lease of a task alike; all its nodes are free before the first of them pulls (rule 17).
template <class... Ps>
void Dispatcher<Ps...>::release_all(TaskHandle t, Outcome outcome, Step& step) {
    for (auto l = state_.tasks()[t].lease; l != no_handle<LeaseHandle>;) {
        const auto next = state_.leases()[l].next;
        release(l, outcome, step);
        l = next;
    }
}

/// The task is done once no member is at work any more. @pre some member is there.
template <class... Ps>
void Dispatcher<Ps...>::conclude(TaskHandle t, Step& step) {
    auto at_work = false;
    each_member(t, [&](LeaseHandle l) { at_work = at_work || state_.leases()[l].phase != LeasePhase::completed; });
    if (!at_work) {
        finish(t, step);
    }
}

template <class... Ps>
void Dispatcher<Ps...>::finish(TaskHandle t, Step& step) {
    const auto& task = state_.tasks()[t];
    each_member(t, [&](LeaseHandle l) { tell_end(l, event::LeaseEnd::done, OutcomeKind::success, step); });
    const auto node = state_.nodes()[state_.leases()[task.lease].node].node.id;
    step.tell(event::TaskDone{.task = task.id, .node = node, .owner = task.notify_to(), .paid = task.fee});
    each_member(t, [&](LeaseHandle l) { models_used(state_.leases()[l].node, task, true); });
    release_all(t, {OutcomeKind::success}, step);
    end(t, {.ending = Ending::done, .node = node});
}

// ---- nodes ------------------------------------------------------------------------------------------------------------

/// Tells the tracker what happened and writes into the record what it concludes. A kick-out is final: later verdicts, good or bad,
/// leave it standing until the node departs.
template <class... Ps>
void Dispatcher<Ps...>::judge(Record& record, Outcome outcome, Step& step) {
    auto& node = record.node;
    const auto standing = qos_.record(record.qos, outcome, state_.counters().now);
    node.kicked_out = node.kicked_out || (standing == Standing::kicked_out && node.present());
    if (standing == Standing::excluded && !node.excluded) {
        node.excluded = true;
        if (node.present()) {
            step.tell(event::NodeExcluded{node.id, qos_.back_at(record.qos).value_or(time_point_max)});
        }
    }
    if (node.excluded && node.present()) {
        node.due_at = qos_.back_at(record.qos).value_or(never);
    }
}

template <class... Ps>
void Dispatcher<Ps...>::tell_end(LeaseHandle l, event::LeaseEnd how, OutcomeKind outcome, Step& step) const {
    step.tell(event::LeaseEnded{lease_value(l), state_.tasks()[state_.leases()[l].task].notify_to(), how, outcome});
}

/// Ends a lease: the node is judged, and then leaves, pauses or becomes free, as was decided meanwhile.
template <class... Ps>
void Dispatcher<Ps...>::release(LeaseHandle l, Outcome outcome, Step& step) {
    auto followers = Followers{*this};
    const auto n = state_.leases()[l].node;
    state_.remove(l, followers);
    state_.edit(n, [&](Record& record) {
        record.node.lease = no_handle<LeaseHandle>;
        judge(record, outcome, step);
        if (!record.node.kicked_out && record.node.state != NodeState::pending_leave) {
            record.node.state = record.node.state == NodeState::pending_pause ? NodeState::paused : NodeState::available;
        }
    }, followers);
    const auto& node = state_.nodes()[n].node;
    if (node.kicked_out) {
        step.tell(event::NodeKickedOut{node.id, node.stake});
        depart(n, state_.nodes()[n], step);
    } else if (node.state == NodeState::pending_leave) {
        step.tell(event::NodeLeft{node.id, node.stake});
        depart(n, state_.nodes()[n], step);
    } else if (node.state == NodeState::paused) {
        step.tell(event::NodePaused{node.id});
    } else {
        step.freed.push_back(n);
    }
}

/// A node leaves the network, and what waits for it ends. Its history stays, so that coming back cures nothing (rule 20).
template <class... Ps>
void Dispatcher<Ps...>::depart(NodeHandle n, Record record, Step& step) {
    auto& node = record.node;
    if (node.held != no_handle<TaskHandle>) {
        withdraw(std::exchange(node.held, no_handle<TaskHandle>), step);
    }
    hold(n, {});
    node.state = NodeState::left;
    node.node_class = no_handle<ClassId>;
    node.slot = 0;
    node.lease = no_handle<LeaseHandle>;
    node.kicked_out = false;
    node.labels = {};
    node.due_at = state_.counters().now + rules_->forget_nodes_after;
    auto followers = Followers{*this};
    state_.put(n, std::move(record), followers);
}

/// Writes a node's models: gives those newly on disk a place among the holders, and writes nothing when nothing changed.
template <class... Ps>
void Dispatcher<Ps...>::hold(NodeHandle n, HeldModels held) {
    const auto node_class = state_.nodes()[n].node.node_class;
    for (auto& model : held) {
        const auto* was = holds(n, model.model);
        if (!model.on_disk()) {
            model.place = 0;
        } else if (was != nullptr && was->on_disk()) {
            model.place = was->place;
        } else {
            model.place = state_.models().free_place(model.model, node_class) & HeldModel::place_max;
            model.wanted_until = {};
        }
    }
    if (held != state_.holdings(n)) {
        auto followers = Followers{*this};
        state_.hold(n, std::move(held), followers);
    }
}

/// A start makes the task's models the node's models in use, as far as they are on disk; a success has fetched them all (rule 11).
template <class... Ps>
void Dispatcher<Ps...>::models_used(NodeHandle n, const Task& task, bool fetched) {
    const auto& holds_now = state_.holdings(n);
    const auto in_use = [](const HeldModel& model) { return model.holding == Holding::in_use; };
    if (task.models.empty() && std::none_of(holds_now.begin(), holds_now.end(), in_use)) {
        return;
    }
    auto held = holds_now;
    for (auto& model : held) {
        model.holding = model.on_disk() ? Holding::on_disk : Holding::wanted;
    }
    auto room = fetched ? rules_->models_per_node_max - std::min(rules_->models_per_node_max, on_disk(holds_now)) : 0U;
    auto room_for_new = rules_->models_max - std::min(rules_->models_max, state_.models().held());
    for (const auto model : task.models) {
        auto at = std::lower_bound(held.begin(), held.end(), model, [](const HeldModel& a, ModelId b) { return a.model < b; });
        const auto known = at != held.end() && at->model == model;
        if (known && at->on_disk()) {
            at->holding = Holding::in_use;
        } else if (const auto held_elsewhere = state_.models().held(model); room > 0 && (held_elsewhere || room_for_new > 0)) {
            room_for_new -= held_elsewhere ? 0U : 1U;
            at = known ? at : held.insert(at, HeldModel{model, Holding::wanted, 0, {}});
            at->holding = Holding::in_use;
            --room;
        }
    }
    hold(n, std::move(held));
}

// ---- due work ---------------------------------------------------------------------------------------------------------

/// Settles what is due at the step's time, in deadline order, at most `due_max`; false when more remains (rule 5).
template <class... Ps>
auto Dispatcher<Ps...>::settle_due(Step& step) -> bool {
    for (std::uint32_t settled = 0;; ++settled) {
        const auto* due = state_.due_first();
        if (due == nullptr || TimePoint{Duration{due->time}} > state_.counters().now) {
            return true;
        }
        if (settled == rules_->due_max) {
            return false;
        }
        settle_one(Due{*due}, step);
    }
}

template <class... Ps>
void Dispatcher<Ps...>::settle_one(const Due& due, Step& step) {
    auto followers = Followers{*this};
    if (due.kind == static_cast<std::uint8_t>(DueKind::lease)) {
        const auto l = LeaseHandle{due.handle};
        const auto& task = state_.tasks()[state_.leases()[l].task];
        const auto in_group = task.group != no_handle<GroupHandle>;
        const auto ending = event::TaskTimedOut{
            .task = task.id, .owner = task.notify_to(), .refunded = task.fee, .expiry = event::Expiry::execution};
        const auto how = TaskEnd{Ending::timed_out, EndCause::lease_deadline, state_.nodes()[state_.leases()[l].node].node.id};
        end_unsuccessfully(l, in_group ? OutcomeKind::timeout_in_group : OutcomeKind::timeout, how, ending, step);
        return;
    }
    if (due.kind == static_cast<std::uint8_t>(DueKind::task)) {
        const auto t = TaskHandle{due.handle};
        const auto& task = state_.tasks()[t];
        step.tell(event::TaskTimedOut{.task = task.id, .owner = task.notify_to(), .refunded = task.fee, .expiry = event::Expiry::queue});
        end(t, {.ending = Ending::timed_out, .cause = EndCause::queue_deadline});
        return;
    }
    if (due.kind == static_cast<std::uint8_t>(DueKind::ended_task)) {
        state_.remove(EndedHandle{due.handle}, followers);
        return;
    }
    if (due.kind == static_cast<std::uint8_t>(DueKind::group)) {
        state_.remove(GroupHandle{due.handle}, followers);
        return;
    }
    const auto n = NodeHandle{due.handle};
    if (due.kind == static_cast<std::uint8_t>(DueKind::wish)) {
        auto held = state_.holdings(n);
        const auto over = [&](const HeldModel& m) { return !m.on_disk() && m.wanted_until <= state_.counters().now; };
        held.erase(std::remove_if(held.begin(), held.end(), over), held.end());
        hold(n, std::move(held));
        return;
    }
    auto record = state_.nodes()[n];
    if (!record.node.present()) {
        state_.remove(n, followers);
        return;
    }
    record.node.excluded = false;
    record.node.due_at = never;
    step.tell(event::NodeReadmitted{record.node.id});
    if (record.node.state == NodeState::available) {
        step.freed.push_back(n);
    }
    state_.put(n, std::move(record), followers);
}

}}  // namespace allot::v0

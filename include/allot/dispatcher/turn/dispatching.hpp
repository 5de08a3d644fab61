#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/finishing.hpp>

namespace allot { inline namespace v0 {

/// How a task finds its nodes, a free node its task, and what becomes of a task whose lease ends.
template <class... Ps>
class Dispatching : public Finishing<Ps...> {
    using Below = Finishing<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::moment, Below::events, Below::freed, Below::tell, Below::traced, Below::put, Below::edit,
        Below::set_aside, Below::follow_stakes, Below::models_used, Below::start, Below::traced_gang, Below::end,
        Below::displace, Below::evict, Below::release, Below::tell_end, Below::withdraw;
    using typename Below::Record;

    /// A node that became free takes the best task it can run, over its own GPU groups and every "any" group that fits,
    /// alone or with other free nodes; at most one (seed 001, "Dequeue a Task for a Newly Available Node"; seed 000,
    /// "Select the Best Task from the Task Queue for the Newly Available Node"; rules 16, 17, 26). Without entropy it
    /// waits for `match`.
    void pull(NodeHandle n) {
        if (!moment.entropy || view.queue.size() == 0 || !view.records.nodes().contains(n) ||
            !view.is_candidate(view.records.nodes()[n])) {
            return;
        }
        follow_stakes();
        if (const auto best = view.next_for(n)) {
            const auto& task = view.records.tasks()[*best];
            traced({DecisionKind::pull, task, {n}});
            const auto team = view.gang_of(n, task, *moment.entropy);
            traced_gang(task, team, 1);
            start(*best, Task{task}, team);
        }
    }

    void pull_freed() {
        if (freed.empty()) { return; }
        if (freed.size() > 1) {
            std::sort(freed.begin(), freed.end());
            freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
        }
        for (const auto n : freed) { start_held(n); }
        for (const auto n : freed) { pull(n); }
        freed.clear();
    }

    /// Waiting tasks in (value, submission) order, each drawing among the nodes that the ones before it left over; a
    /// task without a candidate holds up no other (rule 28). Groups without a candidate are passed over as a whole.
    ///
    /// A start takes candidates away and adds none: no other node gets weight, a model on its disk, or room in a group
    /// by it. So what could not start before it cannot start after it, and is not asked again.
    auto match_all() -> std::uint32_t {
        follow_stakes();
        auto groups = std::vector<RequirementId>{};
        view.records.fits().requirements().for_each(
            [&](std::uint32_t r, const Requirement&) { groups.push_back(RequirementId{r}); });
        auto blocked = set_aside();
        for (auto started = std::uint32_t{0};; ++started) {
            std::erase_if(groups, [&](RequirementId r) { return !view.startable(r); });
            const auto best = view.queue.best(groups, [&](TaskHandle t) {
                const auto& task = view.records.tasks()[t];
                const auto starts = !view.draw(task, *moment.entropy).empty();
                if (!starts) { blocked.add(view.entry_of(t, task)); }
                return starts;
            });
            if (!best) {
                blocked.back();
                return started;
            }
            blocked.leave();
            const auto& task = view.records.tasks()[*best];
            const auto drawn =
                view.draw(task, *moment.entropy);  // a queue may ask about tasks behind the best one, so once more
            traced_gang(task, drawn, 0);
            start(*best, Task{task}, drawn);
        }
    }

    /// A new task is tried at once whatever is queued (seed 001); without a candidate or without entropy it waits.
    void dispatch(TaskHandle t, Task&& task) {
        if (task.pinned()) {
            dispatch_pinned(t, std::move(task));
            return;
        }
        if (moment.entropy) {
            follow_stakes();
            if (const auto drawn = view.draw(task, *moment.entropy); !drawn.empty()) {
                traced_gang(task, drawn, 0);
                start(t, std::move(task), drawn);
                return;
            }
        }
        enqueue(t, std::move(task));
    }

    /// A pinned task needs no draw: it starts on its node if that is free, be it excluded or without weight, for this
    /// is how such a node can prove itself; else it waits there, beside the queue (rule 22).
    void dispatch_pinned(TaskHandle t, Task&& task) {
        const auto n = task.pinned_to;
        if (view.records.nodes()[n].node.state == NodeState::available) {
            start(t, std::move(task), Gang{Draw{n}});
            return;
        }
        task.state = TaskState::held;
        task.due_at = view.records.counters().now + std::max(Duration{1}, view.terms.patience(task));
        tell(event::TaskQueued{task.id, task.notify_to(), task.due_at});
        put(t, std::move(task));
        edit(n, [&](Record& record) { record.node.held = t; });
    }

    /// The pinned task that waits for a node starts when the node is free, before anything is pulled. Without a class
    /// that fits it any more it ends.
    void start_held(NodeHandle n) {
        const auto* record = view.records.nodes().find_record(n);
        if (record == nullptr || record->node.state != NodeState::available ||
            record->node.held == no_handle<TaskHandle>) {
            return;
        }
        const auto t = record->node.held;
        const auto& task = view.records.tasks()[t];
        if (view.fitness(record->node.node_class, view.records.fits().value(task.requirement)) != Reason::none) {
            withdraw(t);
            return;
        }
        start(t, Task{task}, Gang{Draw{n}});
    }

    /// The lowest among queue and newcomer goes when there is no room; that may be the newcomer (rule 15), and is when
    /// it does not outbid the lowest by as much as the rules ask.
    void enqueue(TaskHandle t, Task&& task) {
        task.state = TaskState::queued;
        task.lease = no_handle<LeaseHandle>;
        task.due_at = view.records.counters().now + std::max(Duration{1}, view.terms.patience(task));
        const auto queued = event::TaskQueued{task.id, task.notify_to(), task.due_at};
        const auto full = view.queue.size() >= view.queue.capacity(view.records.present());
        put(t, std::move(task));
        auto victim = full ? view.queue.worst() : std::nullopt;
        if (victim && !view.outbids(view.records.tasks()[t], view.records.tasks()[*victim])) { victim = t; }
        if (victim != t) { tell(queued); }
        if (victim) { evict(*victim, event::Eviction::queue_full); }
    }

    /// A lease ends without success: the task ends with `ending`, or starts over when the terms say so. A gang goes on
    /// without the member; what was a task for several nodes ends so only with the last of them.
    void end_unsuccessfully(LeaseHandle l, OutcomeKind outcome, TaskEnd how, const Event& ending) {
        const auto t = view.records.leases()[l].task;
        const auto node = view.records.nodes()[view.records.leases()[l].node].node.id;
        const auto next = view.after(view.records.tasks()[t], outcome);
        const auto verdict = view.attributed(view.records.tasks()[t], outcome);
        const auto avoided = next == Next::retry_elsewhere ? std::optional{node} : std::nullopt;
        const auto late = outcome == OutcomeKind::timeout || outcome == OutcomeKind::timeout_in_group;
        tell_end(l, late ? event::LeaseEnd::timed_out : event::LeaseEnd::failed, verdict);
        if (view.has_others(l)) {
            unchain(l, avoided);
            release(l, {verdict});
            conclude(t);
            return;
        }
        if (next == Next::end) {
            events.push(ending);
            release(l, {verdict});
            end(t, how);
            return;
        }
        tell(event::TaskRetried{view.records.tasks()[t].id, view.records.tasks()[t].notify_to(), outcome});
        release(l, {verdict});
        edit(t, [](Task& task) { ++task.strikes; });
        start_over(t, avoided);
    }

    void start_over(TaskHandle t, std::optional<NodeId> avoided) {
        auto task = view.records.tasks()[t];
        task.lease = no_handle<LeaseHandle>;
        avoid(task, avoided);
        dispatch(t, std::move(task));
    }

    void avoid(Task& task, const std::optional<NodeId>& node) const {
        if (node && view.rules->avoided_max > 0) {
            if (task.avoided.size() >= view.rules->avoided_max) { task.avoided.erase(task.avoided.begin()); }
            task.avoided.push_back(*node);
        }
    }

    /// Takes a lease out of its task's chain, and has the task avoid a node from now on.
    void unchain(LeaseHandle l, const std::optional<NodeId>& avoided) {
        const auto lease = view.records.leases()[l];
        auto task = view.records.tasks()[lease.task];
        auto before = no_handle<LeaseHandle>;
        view.each_member(lease.task,
                         [&](LeaseHandle other) { before = view.records.leases()[other].next == l ? other : before; });
        ALLOT_ASSERT(task.lease == l || before != no_handle<LeaseHandle>, "a lease stands in its task's chain");
        if (task.lease == l) {
            task.lease = lease.next;
        } else {
            edit(before, [&](LeaseRecord& record) { record.next = lease.next; });
        }
        avoid(task, avoided);
        put(lease.task, std::move(task));
    }

    /// Ends every lease of a task alike; all its nodes are free before the first of them pulls (rule 17).
    void release_all(TaskHandle t, Outcome outcome) {
        for (auto l = view.records.tasks()[t].lease; l != no_handle<LeaseHandle>;) {
            const auto next = view.records.leases()[l].next;
            release(l, outcome);
            l = next;
        }
    }

    /// The task is done once no member is at work any more. @pre some member is there.
    void conclude(TaskHandle t) {
        auto at_work = false;
        view.each_member(
            t, [&](LeaseHandle l) { at_work = at_work || view.records.leases()[l].phase != LeasePhase::completed; });
        if (!at_work) { finish(t); }
    }

    void finish(TaskHandle t) {
        const auto& task = view.records.tasks()[t];
        view.each_member(t, [&](LeaseHandle l) { tell_end(l, event::LeaseEnd::done, OutcomeKind::success); });
        const auto node = view.records.nodes()[view.records.leases()[task.lease].node].node.id;
        tell(event::TaskDone{.task = task.id, .node = node, .owner = task.notify_to(), .paid = task.fee});
        view.each_member(t, [&](LeaseHandle l) { models_used(view.records.leases()[l].node, task, true); });
        release_all(t, {OutcomeKind::success});
        end(t, {.ending = Ending::done, .node = node});
    }

    /// A new task whose requirement is one too many: the poorest requirement makes way, cheapest task first. One of
    /// more tasks than a command may evict loses so many, and then there is no room for the newcomer yet: it goes as
    /// well.
    void displace(TaskHandle t, Task&& task, RequirementId poorest) {
        const auto& fits = view.records.fits();
        if (fits.count(poorest) > view.rules->evictions_max) {
            task.state = TaskState::queued;
            put(t, std::move(task));
            evict(t, event::Eviction::table_full);
        } else {
            dispatch(t, std::move(task));
            if (fits.requirements().size() <= view.rules->requirements_max) {
                return;  // the queue was full, and who went for that left room here
            }
        }
        for (auto left = view.rules->evictions_max; left > 0 && fits.contains(poorest); --left) {
            evict(*view.queue.worst_of(poorest), event::Eviction::table_full);
        }
    }
};

}}  // namespace allot::v0

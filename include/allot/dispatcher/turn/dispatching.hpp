#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/finishing.hpp>

namespace allot { inline namespace v0 {

/// Maximum of tasks that a match tries in vain by value, and again from a random place on (rule 28).
inline constexpr std::uint32_t match_tries_max = 256;
/// Maximum of places in the table of tasks that a match looks at from that random place on.
inline constexpr std::uint32_t match_places_max = 16 * match_tries_max;

/// Maximum of tasks that a match by value passes over because they wait for a later round (rule 47).
inline constexpr std::uint32_t match_newer_max = 4 * match_tries_max;

/// Maximum of waiting tasks of a group that are tried when a node stops being its member.
inline constexpr std::uint32_t group_tries_max = 16;

/// Finds nodes for a task and a task for a free node, and decides the next step of a task whose lease ends.
///
/// @complexity of a start or a pull: O(log n + classes + groups), and O(log n) for each model concerned. A pull also
/// asks once about each task that goes before the best one and does not suit the node, `pull_tries_max` at most.
template <class... Ps>
class Dispatching : public Finishing<Ps...> {
    using Below = Finishing<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::moment, Below::events, Below::trace, Below::freed, Below::tell, Below::traced,
        Below::traced_cut, Below::put, Below::edit, Below::set_aside, Below::follow_stakes, Below::draws_at_once,
        Below::models_used, Below::start, Below::traced_gang, Below::end, Below::displace, Below::evict, Below::release,
        Below::tell_end, Below::withdraw, Below::unspent, Below::verdict, Below::list;
    using typename Below::Record;
    using Stakes = boost::container::flat_map<RequirementId, std::optional<Amount>>;

    /// Lets a free node take the best task that it can run, alone or with other free nodes; at most one. It chooses
    /// over its own GPU groups and every "any" group that fits (rules 16, 17, 26). See seed 001, "Dequeue a Task for a
    /// Newly Available Node", and seed 000, "Select the Best Task from the Task Queue for the Newly Available Node".
    /// Without entropy the node waits for `match`. Appends the events of `start`. Returns the number of tries
    /// that it took.
    auto pull(NodeHandle n, std::uint32_t tries_left) -> std::uint32_t {
        if (!draws_at_once() || view.queue.size() == 0 || !view.is_candidate(view.records.nodes()[n])) { return 0; }
        follow_stakes();
        list(view.records.nodes()[n].node.node_class);
        const auto next = view.next_for(n, tries_left);
        if (next.cut) { traced_cut(Walk::pull); }
        const auto tries = next.tries + next.counted;
        if (!next.task) { return tries; }
        const auto& task = view.records.tasks()[*next.task];
        const auto gang = view.gang_of(n, task, *moment.entropy);
        if (!complete(gang)) { return tries; }  // undecided with these draws, though others found a gang
        traced({DecisionKind::pull, task, {n}});
        traced_gang(task, gang, 1);
        start(*next.task, gang);
        return tries;
    }

    /// Lets each freed node start its pinned task, and then lets the others pull. Appends the events of the starts.
    /// @complexity O(log n) for each freed node and each start, and `pull_tries_max` tries in vain in all, with
    /// `pull_share` more for each freed node.
    void pull_freed() {
        if (freed.empty()) { return; }
        if (freed.size() > 1) { canonical(freed); }
        for (const auto n : freed) { start_held(n); }
        auto tries_left = pull_tries_max;  // below rules version 2 they bound nothing
        for (const auto n : freed) {
            tries_left += pull_share;
            tries_left -= std::min(tries_left, pull(n, tries_left));
        }
        freed.clear();
    }

    /// Tries waiting tasks in (value, submission) order. Each draws among the nodes left over by earlier ones; a task
    /// without a candidate does not delay others (rule 28). Groups without a candidate are skipped as a whole. Appends
    /// the events of `start`, and returns the number of starts.
    ///
    /// A start takes candidates away and adds none: no other node gains weight, a model on its disk, or room in a group
    /// by it. So a task that could not start before it cannot start after it, and is not tried again.
    ///
    /// From rules version 2 on, after `match_tries_max` tasks in vain, it goes on in `match_elsewhere`. So it does
    /// after `match_newer_max` tasks that began to wait too late for this round.
    /// @pre the moment is one that the terms draw at.
    /// @complexity O(groups), and for each task tried one draw, O(log groups), and the cost of the queue.
    auto match_all() -> std::uint32_t {
        follow_stakes();
        auto started = std::uint32_t{0};
        auto tries = view.eliminates() ? match_tries_max : 0xFFFF'FFFFU;
        auto newer = match_newer_max;
        const auto until = *view.drawn_until(moment);
        auto blocked = set_aside();
        auto stakes = Stakes{};
        auto heads = std::vector<QueueEntry>{};  // a heap of the groups' best tasks
        const auto later = [](const QueueEntry& a, const QueueEntry& b) { return goes_before(b, a); };
        const auto add_head = [&](RequirementId group) {
            const auto best = view.waiting().best({&group, 1}, [](TaskHandle) { return true; });
            if (!best) { return; }
            heads.push_back(view.entry_of(*best, view.records.tasks()[*best]));
            heads.back().group = group;
            std::push_heap(heads.begin(), heads.end(), later);
        };
        view.each_group(add_head);
        while (!heads.empty() && tries > 0 && newer > 0) {
            std::pop_heap(heads.begin(), heads.end(), later);
            const auto head = heads.back();
            heads.pop_back();
            list(view.asked_by(head.group));
            if (!view.startable(head.group)) { continue; }
            if (is_newer(view.records.tasks()[head.task], until)) {
                --newer;
                blocked.take(head);
            } else if (start_matched(head.task, stakes)) {
                ++started;
            } else {
                --tries;
                blocked.take(head);
            }
            add_head(head.group);
        }
        blocked.back();
        if (tries > 0 && newer > 0) { return started; }
        traced_cut(Walk::match);
        return started + match_elsewhere(until, stakes);
    }

    /// Tries further tasks by handle, from a random place on, that began to wait until then. So a task that waits
    /// behind many that no node can run is tried in one of the next matches. In rounds they are tried by value, because
    /// tasks that are too new would else undo the order of all others. Appends the events of `start`, and returns the
    /// number of starts.
    /// @complexity one draw for each task tried; it passes over `match_places_max` places of the table at most.
    auto match_elsewhere(TimePoint until, Stakes& stakes) -> std::uint32_t {
        const auto& tasks = view.records.tasks();
        const auto reach = tasks.reach();
        auto random = Random{*moment.entropy, Purpose::match, {}};
        auto t = TaskHandle{static_cast<std::uint32_t>(random.below(reach))};
        auto waiting = std::vector<QueueEntry>{};
        for (auto left = std::min(reach, match_places_max); left > 0; --left) {
            const auto* task = tasks.find_record(t);
            if (task != nullptr && task->state == TaskState::queued && !is_newer(*task, until)) {
                waiting.push_back(view.entry_of(t, *task));
            }
            t.value = t.value + 1 == reach ? 0 : t.value + 1;
        }
        if (view.draws_in_rounds()) { std::sort(waiting.begin(), waiting.end(), goes_before); }
        auto started = std::uint32_t{0};
        auto tries = match_tries_max;
        for (std::size_t i = 0; i < waiting.size() && tries > 0; ++i) {
            const auto& task = tasks[waiting[i].task];
            if (is_newer(task, until) || !view.startable(task)) { continue; }  // its group may have a new member
            const auto starts = start_matched(waiting[i].task, stakes);
            started += starts ? 1U : 0U;
            tries -= starts ? 0U : 1U;
        }
        return started;
    }

    /// True if a match that draws until then is too early for a waiting task: it began to wait later, or a member of
    /// its group started later (rule 47).
    /// @complexity O(1), and O(members) in a group.
    [[nodiscard]] auto is_newer(const Task& task, TimePoint until) const -> bool {
        return view.draws_in_rounds() && (view.waits_since(task) > until || (task.group != no_handle<GroupHandle> &&
                                                                             view.started_after(task.group, until)));
    }

    /// As `start_drawn`, in a match. Where no candidate has the stake for a task, it draws once for the requirement and
    /// not for each further task that needs more: a start adds no candidate. The draws would find none.
    /// @param stakes The largest stake among the candidates for each requirement that was looked at; none where they
    /// were too many.
    auto start_matched(TaskHandle t, [[maybe_unused]] Stakes& stakes) -> bool {
        if constexpr (!has_stake_min<typename View<Ps...>::Types::Eligibility>) {
            return start_drawn(t);
        } else {
            const auto requirement = view.records.tasks()[t].requirement;
            const auto least = view.stake_min(view.records.tasks()[t]);
            if (least == Amount{} || trace.sees != nullptr) { return start_drawn(t); }
            const auto known = stakes.find(requirement);
            if (known != stakes.end() && known->second && *known->second < least) { return false; }
            if (start_drawn(t)) { return true; }
            if (known == stakes.end()) { stakes.emplace(requirement, view.stake_max(requirement)); }
            return false;
        }
    }

    /// Tries the waiting tasks of a group that lost a member, best first, `group_tries_max` at most. Other nodes of
    /// that member's operator may run them now, and none of these nodes became free. Without entropy they wait for
    /// `match`. Appends the events of `start`.
    /// @complexity one draw for each task tried.
    void match_group(GroupHandle group) {
        if (!draws_at_once()) { return; }
        follow_stakes();
        auto tasks = std::vector<TaskHandle>{};
        view.grouped.each(group, [&](TaskHandle t) {
            tasks.push_back(t);
            return tasks.size() < group_tries_max;
        });
        for (const auto t : tasks) {
            if (view.startable(view.records.tasks()[t])) { start_drawn(t); }
        }
    }

    /// Starts a waiting task on the nodes drawn for it; false if there are none. Appends the events of `start`.
    auto start_drawn(TaskHandle t) -> bool {
        const auto& task = view.records.tasks()[t];
        list(task.requirement);
        const auto drawn = view.draw(task, *moment.entropy);
        if (!complete(drawn)) {
            if (!drawn.empty()) { traced({DecisionKind::draw, task, drawn.back(), &*moment.entropy}); }
            return false;
        }
        traced_gang(task, drawn, 0);
        start(t, drawn);
        return true;
    }

    /// Tries a new task at once, regardless of the queue (seed 001). Without a candidate or without entropy it waits.
    /// Appends the events of `start` or `enqueue`.
    void dispatch(TaskHandle t, Task&& task) {
        if (task.pinned()) {
            dispatch_pinned(t, std::move(task));
            return;
        }
        list(task.requirement);
        if (draws_at_once()) {
            follow_stakes();
            if (const auto drawn = view.draw(task, *moment.entropy); complete(drawn)) {
                traced_gang(task, drawn, 0);
                start(t, std::move(task), drawn);
                return;
            } else if (!drawn.empty()) {  // NOLINT: drawn; undecided, so it waits, and the trace is told
                traced({DecisionKind::draw, task, drawn.back(), &*moment.entropy});
            }
        }
        enqueue(t, std::move(task));
    }

    /// Starts a pinned task on its node if that is available, even if excluded or without weight, because this is how
    /// such a node can prove itself. Else the task waits at the node, outside the queue (rule 22). Appends the events
    /// of `start`, or `TaskQueued`.
    void dispatch_pinned(TaskHandle t, Task&& task) {
        const auto n = task.pinned_to;
        if (view.records.nodes()[n].node.state == NodeState::available) {
            start(t, std::move(task), Gang{Draw{n}});
            return;
        }
        task.state = TaskState::held;
        task.due_at = view.records.counters().now + view.patience(task);
        tell(event::TaskQueued{task.id, task.notify_to(), task.due_at});
        put(t, std::move(task));
        edit(n, [&](Node& node) { node.held = t; });
    }

    /// Starts the pinned task that waits for a node once the node is available, before anything is pulled. If the
    /// node's class fits no longer, the task ends with `TaskCancelled`.
    void start_held(NodeHandle n) {
        const auto& node = view.records.nodes()[n].node;  // of a node that was removed since, `left`
        if (node.state != NodeState::available || node.held == no_handle<TaskHandle>) { return; }
        const auto t = node.held;
        const auto& task = view.records.tasks()[t];
        if (view.fitness(node.node_class, view.records.fits().value(task.requirement)) != Reason::none) {
            withdraw(t);
            return;
        }
        start(t, Gang{Draw{n}});
    }

    /// Queues a task. If there is no room, the worst among queue and newcomer is evicted (rule 15): the worst of its
    /// requirement if that has its share of the queue. It is the newcomer if it does not outbid the worst by as much as
    /// the rules ask. For a task that starts over the share is larger: an eviction would refund the fee of one that
    /// fails everywhere. Appends `TaskQueued` unless the newcomer goes, and `TaskEvicted` if a task goes.
    void enqueue(TaskHandle t, Task&& task) {
        task.state = TaskState::queued;
        task.lease = no_handle<LeaseHandle>;
        task.due_at = view.records.counters().now + view.patience(task);
        const auto queued = event::TaskQueued{task.id, task.notify_to(), task.due_at};
        const auto full = view.queue.size() >= view.queue.capacity(view.records.present());
        put(t, std::move(task));
        auto victim = full ? view.queue.worst() : std::nullopt;
        if constexpr (has_share<typename View<Ps...>::Types::TaskQueue>) {
            const auto group = view.records.tasks()[t].requirement;
            const auto starts_over = view.records.tasks()[t].attempt > 0;
            if (!view.share_exceeds(group, view.waiting_of(group) - 1, starts_over)) {
                victim = view.queue.worst_of(group);
            }
        }
        if (victim && !view.outbids(view.records.tasks()[t], view.records.tasks()[*victim])) { victim = t; }
        if (victim != t) { tell(queued); }
        if (victim) { evict(*victim, event::Eviction::queue_full); }
    }

    /// Ends a lease without success. The task ends, which `tell_ending()` tells, or starts over if the terms say so. A
    /// gang goes on without the member; its task ends or starts over only with the last member. Appends `LeaseEnded`,
    /// then the events of `tell_ending`, `TaskRetried`, or those of `finish` if all other members have completed.
    template <class TellEnding>
    void end_unsuccessfully(LeaseHandle l, OutcomeKind outcome, TaskEnd how, const TellEnding& tell_ending) {
        const auto t = view.records.leases()[l].task;
        const auto node = view.records.nodes()[view.records.leases()[l].node].node.id;
        const auto next = view.after(view.records.tasks()[t], outcome);
        const auto attributed = view.attributed(view.records.tasks()[t], outcome);
        const auto avoided = next == Next::retry_elsewhere ? std::optional{node} : std::nullopt;
        const auto late = outcome == OutcomeKind::timeout || outcome == OutcomeKind::timeout_in_group;
        tell_end(l, late ? event::LeaseEnd::timed_out : event::LeaseEnd::failed, attributed);
        if (view.has_others(l)) {
            unchain(l, avoided);
            release(l, {attributed});
            conclude(t);
            return;
        }
        if (next == Next::end) {
            tell_ending();
            release(l, {attributed}, unspent(l, outcome));
            end(t, how);
            return;
        }
        tell(event::TaskRetried{view.records.tasks()[t].id, view.records.tasks()[t].notify_to(), outcome});
        release(l, {attributed}, unspent(l, outcome));
        edit(t, [](Task& task) { ++task.strikes; });
        start_over(t, avoided);
    }

    /// Dispatches a task anew, which from now on avoids the given node; `suspects` others wait for evidence. Appends
    /// the events of `dispatch`.
    void start_over(TaskHandle t, std::optional<NodeId> avoided, std::size_t suspects = 0) {
        auto task = view.records.tasks()[t];
        task.lease = no_handle<LeaseHandle>;
        avoid(task, avoided, suspects);
        dispatch(t, std::move(task));
    }

    /// Adds a node to those that a task avoids; the first is dropped if there are too many. A node that declined
    /// stands before those that wait for evidence (`View::suspects`). Changes no record.
    void avoid(Task& task, const std::optional<NodeId>& node, std::size_t suspects = 0) const {
        if (node && view.rules->avoided_max > suspects) {
            auto& all = task.rest.made().avoided;
            if (all.size() >= view.rules->avoided_max) { all.erase(all.begin()); }
            all.insert(all.end() - static_cast<std::ptrdiff_t>(suspects), *node);
        }
    }

    /// Takes a lease out of its task's chain, and lets the task avoid a node from now on. Appends no event.
    /// @pre the lease stands in the chain.
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

    /// Ends every lease of a task with the same outcome. All nodes are free before the first of them pulls (rule 17).
    /// Appends the events of `release`.
    /// @complexity O(members · log n).
    void release_all(TaskHandle t, Outcome outcome) {
        for (auto l = view.records.tasks()[t].lease; l != no_handle<LeaseHandle>;) {
            const auto next = view.records.leases()[l].next;
            release(l, outcome);
            l = next;
        }
    }

    /// Finishes a task once no member is at work any more. Appends the events of `finish`.
    /// @pre the task has a lease.
    void conclude(TaskHandle t) {
        auto at_work = false;
        view.each_member(
            t, [&](LeaseHandle l) { at_work = at_work || view.records.leases()[l].phase != LeasePhase::completed; });
        if (!at_work) { finish(t); }
    }

    /// Ends a task with success, and pays its fee, or the part that the terms say. Nodes that failed it before are
    /// blamed now, if the terms waited for that evidence. Appends `LeaseEnded` for each lease, `TaskDone`, and the
    /// events of `release` and `verdict`.
    void finish(TaskHandle t) {
        const auto& task = view.records.tasks()[t];
        view.each_member(t, [&](LeaseHandle l) { tell_end(l, event::LeaseEnd::done, OutcomeKind::success); });
        const auto node = view.records.nodes()[view.records.leases()[task.lease].node].node.id;
        const auto paid = view.paid(task);
        tell(event::TaskDone{.task = task.id,
                             .node = node,
                             .owner = task.notify_to(),
                             .paid = paid,
                             .refunded = task.fee.units - paid.units});
        view.each_member(t, [&](LeaseHandle l) { models_used(view.records.leases()[l].node, task, true); });
        const auto convicted = view.convicted(task, view.records.leases()[task.lease].node);
        const auto in_group = task.group != no_handle<GroupHandle>;
        release_all(t, {OutcomeKind::success});
        for (const auto n : convicted) {
            verdict(n, {in_group ? OutcomeKind::timeout_in_group : OutcomeKind::timeout});
        }
        end(t, {.ending = Ending::done, .node = node});
    }

    /// Takes in a new task whose requirement exceeds the limit: the poorest requirement makes way, its cheapest task
    /// first. If it has more tasks than one command may evict, that many go. Then there is no room for the newcomer
    /// yet, and it is evicted as well. Appends the events of `dispatch`, and `TaskEvicted` for each evicted task.
    /// @complexity O(evictions_max · log n), and that of `dispatch`.
    void displace(TaskHandle t, Task&& task, RequirementId poorest) {
        const auto& fits = view.records.fits();
        if (fits.count(poorest) > view.rules->evictions_max) {
            task.state = TaskState::queued;
            put(t, std::move(task));
            evict(t, event::Eviction::table_full);
        } else {
            dispatch(t, std::move(task));
            if (fits.requirements().size() <= view.rules->requirements_max) {
                return;  // the queue was full, and the task evicted for that made room here
            }
        }
        for (auto left = view.rules->evictions_max; left > 0 && fits.contains(poorest); --left) {
            evict(*view.queue.worst_of(poorest), event::Eviction::table_full);
        }
    }
};

}}  // namespace allot::v0

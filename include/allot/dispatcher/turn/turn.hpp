#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/dispatcher/turn/node_verbs.hpp>

namespace allot { inline namespace v0 {

/// Carries out one command: it settles due entries, checks the command, changes the records, and lets free nodes take
/// tasks.
///
/// It consists of layers, one per header: `Door`, `Starting`, `Finishing`, `Dispatching`, `Settling`, `NodeVerbs`, and
/// here the commands about tasks and the network.
///
/// @complexity of a command: that in `Dispatcher`.
template <class... Ps>
class Turn : public NodeVerbs<Ps...> {
    using Below = NodeVerbs<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::moment, Below::freed, Below::events, Below::tell, Below::put, Below::edit,
        Below::configure, Below::now, Below::intern, Below::spare_rest, Below::displace, Below::end, Below::release,
        Below::tell_end, Below::conclude, Below::dispatch, Below::end_unsuccessfully, Below::finish, Below::match_all,
        Below::release_all, Below::start_over, Below::unchain, Below::interned, Below::found_, Below::settle_due,
        Below::pull_freed, Below::begin_departures, Below::match_group, Below::shrink_queue, Below::renew_bounds;
    using typename Below::Configuration;
    using Command = typename View<Ps...>::Command;
    using typename Below::WeightPolicy;
    using Below::operator();

    /// Settles due entries, then checks the command and carries it out, or appends `Refused` with the error. Then free
    /// nodes take tasks.
    void run(const Command& command) {
        if (moment.time != now()) {
            edit([&](Counters& counters) { counters.now = moment.time; });
        }
        // Nothing is settled before a postponement, because an outage must not end a lease.
        const auto postpones = std::holds_alternative<command::Postpone>(command);
        const auto settled = postpones || settle_due();
        pull_freed();
        begin_departures();
        events.begin_answer();
        if (!settled && !std::holds_alternative<command::Advance>(command)) {
            tell(event::Refused{Error::advance_first});
        } else if (const auto late = undrawable(command)) {
            tell(event::Refused{*late});
        } else if (const auto error = std::visit(Check<Ps...>{view, found_}, command)) {
            tell(event::Refused{*error});
        } else {
            carry_out(command);
        }
    }

    /// Adds a task, which starts, waits or is evicted. Appends the events of `dispatch` or `displace`.
    void operator()(const command::Submit& c) {
        const auto& spec = c.task;
        const auto t = view.records.tasks().next();
        if (view.queue.size() > 0) { view.records.prefetch_due(t); }  // it may have to wait, too
        auto task = Task{};
        if (spec.owner || !spec.labels.empty() || !spec.models.empty()) { task.rest = spare_rest(); }
        view.describe(task, spec);
        edit([](Counters& counters) { ++counters.sequence_next; });
        task.requirement = found_.requirement ? *found_.requirement : intern(view.requirement_of(spec));
        if (!spec.models.empty()) { task.rest.made().models = interned(spec.models); }
        task.value = view.value_of(task, view.records.fits().value(task.requirement));
        if (spec.group) { task.group = entered(*spec.group); }
        if (found_.poorest) {
            displace(t, std::move(task), *found_.poorest);
        } else {
            dispatch(t, std::move(task));
        }
    }

    /// Cancels a task, and refunds its fee as far as the terms forfeit none of it. Appends `LeaseEnded` for each lease,
    /// and `TaskCancelled`.
    void operator()(const command::Cancel&) {
        const auto t = *found_.task;
        const auto& task = view.records.tasks()[t];
        if (task.state == TaskState::running) {
            view.each_member(t,
                             [&](LeaseHandle l) { tell_end(l, event::LeaseEnd::cancelled, OutcomeKind::cancelled); });
        }
        const auto forfeited = view.forfeit(task, Ending::cancelled);
        tell(event::TaskCancelled{.task = task.id,
                                  .owner = task.notify_to(),
                                  .refunded = task.fee.units - forfeited.units,
                                  .forfeited = forfeited});
        if (task.state == TaskState::running) { release_all(t, {OutcomeKind::cancelled}); }
        end(t, {.ending = Ending::cancelled});
    }

    /// Moves a lease to the phase `committed`. Appends `TaskCommitted`.
    void operator()(const command::Commit&) {
        enter(LeasePhase::committed);
        tell(event::TaskCommitted{view.lease_value(*found_.lease), owner()});
    }

    /// Moves a lease to the phase `disclosed`. Appends `TaskDisclosed`.
    void operator()(const command::Disclose&) {
        enter(LeasePhase::disclosed);
        tell(event::TaskDisclosed{view.lease_value(*found_.lease), owner()});
    }

    /// Ends a node's work with success. Appends `LeaseCompleted` for a member of a gang, and the events of `finish`
    /// after the last member.
    void operator()(const command::Complete&) {
        const auto l = *found_.lease;
        const auto t = view.records.leases()[l].task;
        if (view.records.leases()[l].of == 1) {
            finish(t);
            return;
        }
        tell(event::LeaseCompleted{view.lease_value(l), owner()});
        edit(l, [](LeaseRecord& lease) {
            lease.phase = LeasePhase::completed;
            lease.deadline = never;
        });
        conclude(t);
    }

    /// Ends a node's work with a failure. Appends the events of `end_unsuccessfully`, with `TaskFailed` if it ends the
    /// task.
    void operator()(const command::Fail& c) {
        const auto l = *found_.lease;
        const auto& task = view.records.tasks()[view.records.leases()[l].task];
        const auto how = TaskEnd{Ending::failed, event::cause_of(c.cause), c.lease.node};
        end_unsuccessfully(l, outcome_of(c.cause), how, [&] {
            const auto proven = c.cause == FailCause::incorrect_result;  // so it is the node's fault
            const auto forfeited = proven ? Amount{} : view.forfeit(task, Ending::failed);
            tell(event::TaskFailed{.task = task.id,
                                   .owner = task.notify_to(),
                                   .refunded = task.fee.units - forfeited.units,
                                   .forfeited = forfeited,
                                   .cause = c.cause});
        });
    }

    /// Gives a lease back. Without one of its nodes a gang starts over, unless a member has completed: then the others
    /// go on. Appends `LeaseEnded` for each ended lease, and the events of `start_over` or `finish`. A pinned task ends
    /// with `TaskCancelled`.
    void operator()(const command::Decline& c) {
        const auto l = *found_.lease;
        const auto t = view.records.leases()[l].task;
        tell_end(l, event::LeaseEnd::declined, OutcomeKind::declined);
        auto late = false;
        auto ran_nothing = std::vector<NodeId>{};
        view.each_member(t, [&](LeaseHandle m) {
            const auto& lease = view.records.leases()[m];
            late = late || lease.phase == LeasePhase::completed;
            ran_nothing.push_back(view.records.nodes()[lease.node].node.id);
        });
        if (late) { ran_nothing = {c.lease.node}; }
        if (view.eliminates() && view.records.tasks()[t].group != no_handle<GroupHandle>) {  // these are no members
            edit(view.records.tasks()[t].group, [&](GroupRecord& group) {
                std::erase_if(group.members, [&](const auto& member) {
                    return std::find(ran_nothing.begin(), ran_nothing.end(), member.node) != ran_nothing.end();
                });
            });
            reopened_ = view.records.tasks()[t].group;
        }
        if (late) {
            unchain(l, c.lease.node);
            release(l, {OutcomeKind::declined});
            conclude(t);
            return;
        }
        if (view.has_others(l)) {
            unchain(l, {});
            view.each_member(t,
                             [&](LeaseHandle m) { tell_end(m, event::LeaseEnd::withdrawn, OutcomeKind::cancelled); });
            release_all(t, {OutcomeKind::cancelled});
        }
        if (view.records.tasks()[t].pinned()) {  // no other node can run it
            const auto& task = view.records.tasks()[t];
            tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
            release(l, {OutcomeKind::declined});
            end(t, {.ending = Ending::cancelled});
            return;
        }
        const auto suspects = view.suspects(view.records.tasks()[t]).size();
        release(l, {OutcomeKind::declined});
        start_over(t, c.lease.node, suspects);
    }

    /// Extends a lease. Appends `LeaseRenewed`.
    void operator()(const command::Renew&) {
        const auto l = *found_.lease;
        const auto deadline = view.renewed_until(l);
        edit(l, [&](LeaseRecord& lease) { lease.deadline = deadline; });
        tell(event::LeaseRenewed{view.lease_value(l)});
    }

    /// Changes nothing: due entries are settled before any command. Appends `Advanced`.
    void operator()(const command::Advance&) { tell(event::Advanced{now()}); }

    /// Starts waiting tasks, best first. Appends `Matched`, followed by the events of the starts.
    void operator()(const command::Match&) {
        const auto place = events.size();
        const auto started = match_all();
        events.insert(place, event::Matched{started});
    }

    /// Gives each running lease and each waiting task more time. Appends `Postponed`.
    /// @complexity O(log n) for each of them.
    void operator()(const command::Postpone& c) {
        auto leases = std::vector<LeaseHandle>{};
        view.records.leases().for_each([&](LeaseHandle l, const LeaseRecord& lease) {
            if (lease.deadline != never && lease.postponed < postponed_max) { leases.push_back(l); }
        });
        for (const auto l : leases) {
            edit(l, [&](LeaseRecord& lease) {
                const auto by = std::min(c.by, postponed_max - lease.postponed);
                lease.deadline += by;
                lease.postponed += by;
            });
        }
        auto tasks = std::vector<TaskHandle>{};
        view.records.tasks().for_each([&](TaskHandle t, const Task& task) {
            if (task.state != TaskState::running) { tasks.push_back(t); }
        });
        for (const auto t : tasks) {
            edit(t, [&](Task& task) {
                task.due_at = std::max(task.due_at, std::min(task.due_at + c.by, time_point_max));
            });
        }
        tell(event::Postponed{c.by});
    }

    /// Puts other parameters and a rules version in force. Appends `Configured`.
    void operator()(const command::Configure<Configuration>& c) {
        configure(c.parameters);
        edit([&](Counters& counters) { counters.rules_version = c.rules_version; });
        tell(event::Configured{c.rules_version});
    }

private:
    /// The error of a match whose moment cannot draw.
    [[nodiscard]] auto undrawable(const Command& command) const -> std::optional<Error> {
        if (!std::holds_alternative<command::Match>(command)) { return std::nullopt; }
        return !moment.entropy             ? std::optional{Error::entropy_missing}
               : !view.drawn_until(moment) ? std::optional{Error::round_unpublished}
                                           : std::nullopt;
    }

    void carry_out(const Command& command) {
        const auto staked = !view.records.stake_root_max().is_zero();
        std::visit(*this, command);
        if (!monotone_weight<WeightPolicy> && !staked && !view.records.stake_root_max().is_zero()) {
            // Without bounds, all weights may be zero until a node has stake. Then all candidates count as freed.
            for (const auto c : view.records.fits().all_classes()) {
                view.each_free(c, [&](NodeHandle h) { freed.push_back(h); });
            }
        }
        pull_freed();
        if (reopened_ != no_handle<GroupHandle>) { match_group(reopened_); }
        shrink_queue();
        renew_bounds();
    }

    void enter(LeasePhase phase) {
        edit(*found_.lease, [&](LeaseRecord& record) { record.phase = phase; });
    }

    /// The owner of the lease's task, if it has one.
    [[nodiscard]] auto owner() const -> std::optional<OwnerId> {
        return view.records.tasks()[view.records.leases()[*found_.lease].task].notify_to();
    }

    [[nodiscard]] auto entered(GroupId id) -> GroupHandle {
        const auto known = view.records.groups().find(id);
        const auto g = known ? *known : view.records.groups().next();
        auto group = known ? view.records.groups()[g] : GroupRecord{.id = id};
        ++group.tasks;
        ++group.tasks_left;
        put(g, std::move(group));
        return g;
    }

    GroupHandle reopened_ = no_handle<GroupHandle>;  // a group that lost a member by this command
};

}}  // namespace allot::v0

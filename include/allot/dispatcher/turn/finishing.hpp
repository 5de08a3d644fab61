#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/starting.hpp>

namespace allot { inline namespace v0 {

/// Ends a lease, a task, or a node's time in the network.
///
/// @complexity of each function: O(log n), and the cost of the policies; more only where stated.
template <class... Ps>
class Finishing : public Starting<Ps...> {
    using Below = Starting<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::freed, Below::tell, Below::traced, Below::put, Below::edit, Below::remove, Below::intern,
        Below::hold, Below::put_wishes, Below::follow_stakes;
    using typename Below::Record;
    using typename Below::WeightPolicy;
    using QoSTracker = typename View<Ps...>::QoSTracker;

    /// Cancels a task before it could run, and refunds its fee. Appends `TaskCancelled`.
    void withdraw(TaskHandle t) {
        const auto& task = view.records.tasks()[t];
        tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
        end(t, {.ending = Ending::cancelled});
    }

    /// Evicts a task and refunds its fee. Appends `TaskEvicted`, and traces the choice.
    /// @pre the task waits in the queue.
    void evict(TaskHandle t, event::Eviction reason) {
        const auto& task = view.records.tasks()[t];
        ALLOT_ASSERT(task.state == TaskState::queued, "only a task that waits in the queue is evicted");
        traced({DecisionKind::eviction, task});
        tell(event::TaskEvicted{.task = task.id, .owner = task.notify_to(), .refunded = task.fee, .reason = reason});
        end(t, {.ending = Ending::evicted, .cause = event::cause_of(reason)});
    }

    /// Evicts surplus tasks after the network lost nodes: lowest value first, at most `evictions_max` (rule 14).
    /// Appends `TaskEvicted` for each.
    /// @complexity O(evictions_max · log n).
    void shrink_queue() {
        const auto capacity = view.queue.capacity(view.records.present());
        for (auto left = view.rules->evictions_max; left > 0 && view.queue.size() > capacity; --left) {
            evict(*view.queue.worst(), event::Eviction::queue_shrunk);
        }
    }

    /// Removes all nodes of a class, to make room for another. Appends `NodeDisplaced` for each, and the events of
    /// `depart`.
    /// @complexity O(nodes of the class · log n).
    void displace(ClassId poorest) {
        auto nodes = std::vector<NodeHandle>{};
        view.records.fits().each_node(poorest, [&](NodeHandle n) {
            if (view.records.nodes()[n].node.present()) { nodes.push_back(n); }
        });
        for (const auto n : nodes) { displace(n); }
    }

    /// Removes a node to make room for another. Appends `NodeDisplaced`, and the events of `depart`.
    void displace(NodeHandle n) {
        const auto& node = view.records.nodes()[n].node;
        tell_gone(n, event::NodeDisplaced{node.id, node.stake});
        depart(n);
    }

    /// Ends a task and appends nothing. Its id stays taken until it is forgotten; of the rest only its end is kept.
    void end(TaskHandle t, const TaskEnd& how) {
        const auto& task = view.records.tasks()[t];
        if (task.state == TaskState::held) {
            edit(task.pinned_to, [](Node& node) { node.held = no_handle<TaskHandle>; });
        }
        const auto id = task.id;
        const auto group = task.group;
        const auto forgotten_at = view.records.counters().now + view.rules->forget_tasks_after;
        remove(t);
        if (view.rules->forget_tasks_after > Duration{0}) {
            const auto node = how.node ? intern(*how.node) : no_handle<NodeNameId>;
            put(view.records.ended_tasks().next(), EndedTask{id, forgotten_at, node, how.ending, how.cause});
        }
        if (group != no_handle<GroupHandle>) { leave_group(group, forgotten_at); }
    }

    /// Counts the end of a group's task. The nodes that ran tasks of the group count until the last of its tasks is
    /// forgotten.
    void leave_group(GroupHandle g, TimePoint forgotten_at) {
        const auto& group = view.records.groups()[g];
        if (group.tasks_left == 1 && std::max(group.due_at, forgotten_at) <= view.records.counters().now) {
            remove(g);
            return;
        }
        edit(g, [&](GroupRecord& record) {
            --record.tasks_left;
            record.due_at = std::max(record.due_at, forgotten_at);
        });
    }

    /// Passes an outcome to the QoS tracker and writes its verdict into the record. A kick-out is final: no later
    /// verdict, good or bad, changes it until the node departs. Appends `NodeExcluded` if an exclusion of a present
    /// node begins.
    void judge(Record& record, Outcome outcome) {
        auto& node = record.node;
        const auto standing = view.qos.record(record.qos, outcome, view.records.counters().now);
        node.kicked_out = node.kicked_out || (standing == Standing::kicked_out && node.present());
        follow(record, standing == Standing::excluded);
    }

    /// True if a node has zero weight for every task.
    [[nodiscard]] auto weightless_now(const Record& record) -> bool {
        constexpr auto is_bounded =
            has_weight_max<WeightPolicy> || (monotone_weight<WeightPolicy> && !has_weight_in_situation<WeightPolicy>);
        if constexpr (!is_bounded) {
            return true;  // it may have been so for some task
        } else {
            follow_stakes();
            return view.weight_at_most(record, {}).is_zero();
        }
    }

    /// Applies a verdict after the release of a lease. It also counts for a node that has left, because its history
    /// goes on.
    void verdict(NodeHandle n, Outcome outcome) {
        auto record = view.records.nodes()[n];
        const auto id = record.node.id;
        const auto weightless = record.node.present() && weightless_now(record);
        const auto unproven = !view.proven(record);
        tell(event::NodeScored{id, outcome});
        judge(record, outcome);
        const auto proves = record.node.present() && unproven && view.proven(record);
        const auto goes = record.node.kicked_out && record.node.present() && !record.node.leased();
        put(n, std::move(record));
        if (goes) {
            tell_gone(n, event::NodeKickedOut{id, view.records.nodes()[n].node.stake});
            depart(n);
            return;
        }
        if (weightless || proves) { freed.push_back(n); }
    }

    /// Lets a node rest, if the tracker knows rests. `declined` is the length of the lease that it declined; none if it
    /// comes back to the candidates. Appends `NodeExcluded` if an exclusion of a present node begins.
    void rest(Record& record, std::optional<Duration> declined) {
        if constexpr (has_rest<QoSTracker>) {
            if (view.qos.rest(record.qos, declined, view.records.counters().now)) { follow(record, true); }
        }
    }

    /// Writes the tracker's word on an exclusion into a record. Appends `NodeExcluded` if one of a present node
    /// begins.
    void follow(Record& record, bool excludes) {
        auto& node = record.node;
        if (excludes && !node.excluded) {
            node.excluded = true;
            if (node.present()) {
                tell(event::NodeExcluded{node.id, view.qos.back_at(record.qos).value_or(time_point_max)});
            }
        }
        if (node.excluded && node.present()) { node.due_at = view.qos.back_at(record.qos).value_or(never); }
    }

    /// Appends `LeaseEnded`, and changes nothing.
    void tell_end(LeaseHandle l, event::LeaseEnd how, OutcomeKind outcome) const {
        tell(event::LeaseEnded{view.lease_value(l), view.records.tasks()[view.records.leases()[l].task].notify_to(),
                               how, outcome});
    }

    /// The part of a lease that is left when its node fails the task, in which the node rests while there is no
    /// evidence. Half of it is a rest, as after a decline.
    [[nodiscard]] auto unspent(LeaseHandle l, OutcomeKind outcome) const -> Duration {
        const auto& lease = view.records.leases()[l];
        const auto& task = view.records.tasks()[lease.task];
        if (!has_rest<QoSTracker> || !view.waits_for_evidence(task, outcome)) { return {}; }
        const auto length = view.lease_length(view.records.nodes()[lease.node].node, task);
        return std::max(Duration{0}, length - (view.now() - lease.started_at));
    }

    /// Ends a lease. The node is judged, and then leaves, pauses or becomes free, as decided before. It rests for
    /// `rests`, or for the lease that it declined. Appends `NodeKickedOut`, `NodeLeft` or `NodePaused`, or adds the
    /// node to `freed`.
    /// @pre the node and the lease name each other.
    void release(LeaseHandle l, Outcome outcome, Duration rests = {}) {
        const auto n = view.records.leases()[l].node;
        ALLOT_ASSERT(view.records.nodes()[n].node.lease == l, "a node and its lease name each other");
        if constexpr (has_look_ahead<typename View<Ps...>::Types::CandidatePool>) {
            // It becomes a candidate, unless a waiting task takes it.
            const auto& node = view.records.nodes()[n].node;
            if (view.queue.size() == 0) { view.pool.look_ahead(node.node_class, node.slot); }
        }
        if constexpr (has_rest<QoSTracker>) {
            if (outcome.kind == OutcomeKind::declined) {
                rests = view.lease_length(view.records.nodes()[n].node,
                                          view.records.tasks()[view.records.leases()[l].task]);
            }
        }
        remove(l);
        edit(n, [&](Record& record) {
            record.node.lease = no_handle<LeaseHandle>;
            judge(record, outcome);
            if (rests > Duration{0}) { rest(record, rests); }
            if (!record.node.kicked_out && record.node.state != NodeState::pending_leave) {
                record.node.state =
                    record.node.state == NodeState::pending_pause ? NodeState::paused : NodeState::available;
            }
        });
        const auto& node = view.records.nodes()[n].node;
        if (node.kicked_out) {
            tell_gone(n, event::NodeKickedOut{node.id, node.stake});
            depart(n);
        } else if (node.state == NodeState::pending_leave) {
            tell_gone(n, event::NodeLeft{node.id, node.stake});
            depart(n);
        } else if (node.state == NodeState::paused) {
            tell(event::NodePaused{node.id});
        } else {
            freed.push_back(n);
        }
    }

    /// Tells that a node goes, by an event that returns its stake. If the tracker lets the stake unbond, the event
    /// returns nothing, and `UnbondingBegan` follows.
    template <class Gone>
    void tell_gone(NodeHandle n, Gone gone) {
        const auto stake = gone.stake_returned;
        auto unbonds = false;
        if constexpr (has_unbonding<QoSTracker>) {
            edit(n, [&](Record& record) { unbonds = unbond(record, stake); });
        }
        if (unbonds) { gone.stake_returned = {}; }
        tell(gone);
        if (unbonds) { tell_unbonding(n, stake); }
    }

    /// Takes stake away from a node. True if it can still be forfeited for a while. Appends no event.
    [[nodiscard]] auto unbond([[maybe_unused]] Record& record, [[maybe_unused]] Amount stake) const -> bool {
        if constexpr (has_unbonding<QoSTracker>) {
            return stake > Amount{} && view.qos.unbond(record.qos, stake, view.records.counters().now);
        } else {
            return false;
        }
    }

    /// Tells that stake was taken away from a node and unbonds. Appends `UnbondingBegan`.
    void tell_unbonding([[maybe_unused]] NodeHandle n, [[maybe_unused]] Amount stake) const {
        if constexpr (has_unbonding<QoSTracker>) {
            const auto& record = view.records.nodes()[n];
            tell(event::UnbondingBegan{record.node.id, stake, view.qos.unbonding(record.qos).until});
        }
    }

    /// Removes a node from the network, with its models, and cancels the pinned task that waits for it. Its history is
    /// kept, so that a return does not improve its standing (rule 20), unless it made way for another node. If it has
    /// more models than the command may still give up, it departs until they are gone (rule 45). Appends only
    /// `TaskCancelled`, for a waiting task.
    /// @complexity that of `give_up`.
    void depart(NodeHandle n) {
        if (const auto held = view.records.nodes()[n].node.held; held != no_handle<TaskHandle>) { withdraw(held); }
        gone_ += give_up(n, models_left());
        put_wishes(n, {});
        auto record = view.records.nodes()[n];
        auto& node = record.node;
        const auto forgets = node.departs() && node.kicked_out;
        node.lease = no_handle<LeaseHandle>;
        node.kicked_out = false;
        if (!view.records.holdings(n).empty()) [[unlikely]] {
            node.state = view.is_candidate(record) ? NodeState::departing_free : NodeState::departing;
            node.due_at = view.records.counters().now;
            put(n, std::move(record));
            return;
        }
        const auto left_at = node.departs() ? node.due_at : view.records.counters().now;
        node.state = NodeState::left;
        node.node_class = no_handle<ClassId>;
        node.slot = 0;
        node.belongs_to(node.operator_id(), {});
        node.due_at = left_at + view.rules->forget_nodes_after;
        if constexpr (has_unbonding<QoSTracker>) {  // while its stake can be forfeited, it is known
            node.due_at = std::max(node.due_at, view.qos.unbonding(record.qos).until);
        }
        put(n, std::move(record));
        if (forgets) { remove(n); }
    }

    /// Begins the command itself: the work that was due before it has a count of its own.
    void begin_departures() noexcept { gone_ = 0; }

    /// Number of models that nodes which leave may still give up in this command.
    [[nodiscard]] auto models_left() const -> std::size_t {
        if (!view.eliminates()) { return std::numeric_limits<std::size_t>::max(); }
        return models_gone_max - std::min<std::size_t>(gone_, models_gone_max);
    }

    /// Takes models away from a node, at most so many, the newest ones first. Returns their number.
    /// @complexity O(log n) for each, and linear in the models of the node.
    auto give_up(NodeHandle n, std::size_t most) -> std::size_t {
        auto held = view.records.holdings(n);
        const auto gone = std::min(most, held.size());
        const auto* const first = held.end() - gone;
        if (gone > 0) {
            held.erase_if([&](const HeldModel* model) { return model >= first; });
            hold(n, std::move(held));
        }
        return gone;
    }

private:
    std::size_t gone_ = 0;  // models that nodes which left gave up in this command, or in the work due before it
};

}}  // namespace allot::v0

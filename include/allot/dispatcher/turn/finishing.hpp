#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/starting.hpp>

namespace allot { inline namespace v0 {

/// How a lease, a task, and a node's time in the network end.
template <class... Ps>
class Finishing : public Starting<Ps...> {
    using Below = Starting<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::freed, Below::tell, Below::traced, Below::put, Below::edit, Below::remove, Below::intern,
        Below::hold;
    using typename Below::Record;

    /// A task ends before it could run, and its fee goes back.
    void withdraw(TaskHandle t) {
        const auto& task = view.records.tasks()[t];
        tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
        end(t, {.ending = Ending::cancelled});
    }

    void evict(TaskHandle t, event::Eviction reason) {
        const auto& task = view.records.tasks()[t];
        ALLOT_ASSERT(task.state == TaskState::queued, "only a task that waits in the queue is evicted");
        traced({DecisionKind::eviction, task});
        tell(event::TaskEvicted{.task = task.id, .owner = task.notify_to(), .refunded = task.fee, .reason = reason});
        end(t, {.ending = Ending::evicted, .cause = event::cause_of(reason)});
    }

    /// When the network lost nodes, the surplus goes, lowest value first, a few a command (rule 14).
    void shrink_queue() {
        const auto capacity = view.queue.capacity(view.records.present());
        for (auto left = view.rules->evictions_max; left > 0 && view.queue.size() > capacity; --left) {
            evict(*view.queue.worst(), event::Eviction::queue_shrunk);
        }
    }

    /// The nodes of a class leave, so that there is room for another.
    void displace(ClassId poorest) {
        auto nodes = std::vector<NodeHandle>{};
        view.records.fits().each_node(poorest, [&](NodeHandle n) { nodes.push_back(n); });
        for (const auto n : nodes) { displace(n); }
    }

    void displace(NodeHandle n) {
        const auto& node = view.records.nodes()[n].node;
        tell(event::NodeDisplaced{node.id, node.stake});
        depart(n, view.records.nodes()[n]);
    }

    /// Ends a task: its id stays taken until it is forgotten, and of the rest only how it ended stays.
    void end(TaskHandle t, const TaskEnd& how) {
        const auto& task = view.records.tasks()[t];
        if (task.state == TaskState::held) {
            edit(task.pinned_to, [](Record& record) { record.node.held = no_handle<TaskHandle>; });
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

    /// A task of a group ended. Who ran it counts until the last of its tasks is forgotten.
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

    /// Tells the tracker what happened and writes into the record what it concludes. A kick-out is final: later
    /// verdicts, good or bad, leave it standing until the node departs.
    void judge(Record& record, Outcome outcome) {
        auto& node = record.node;
        const auto standing = view.qos.record(record.qos, outcome, view.records.counters().now);
        node.kicked_out = node.kicked_out || (standing == Standing::kicked_out && node.present());
        if (standing == Standing::excluded && !node.excluded) {
            node.excluded = true;
            if (node.present()) {
                tell(event::NodeExcluded{node.id, view.qos.back_at(record.qos).value_or(time_point_max)});
            }
        }
        if (node.excluded && node.present()) { node.due_at = view.qos.back_at(record.qos).value_or(never); }
    }

    void tell_end(LeaseHandle l, event::LeaseEnd how, OutcomeKind outcome) const {
        tell(event::LeaseEnded{view.lease_value(l), view.records.tasks()[view.records.leases()[l].task].notify_to(),
                               how, outcome});
    }

    /// Ends a lease: the node is judged, and then leaves, pauses or becomes free, as was decided meanwhile.
    void release(LeaseHandle l, Outcome outcome) {
        const auto n = view.records.leases()[l].node;
        ALLOT_ASSERT(view.records.nodes()[n].node.lease == l, "a node and its lease name each other");
        remove(l);
        edit(n, [&](Record& record) {
            record.node.lease = no_handle<LeaseHandle>;
            judge(record, outcome);
            if (!record.node.kicked_out && record.node.state != NodeState::pending_leave) {
                record.node.state =
                    record.node.state == NodeState::pending_pause ? NodeState::paused : NodeState::available;
            }
        });
        const auto& node = view.records.nodes()[n].node;
        if (node.kicked_out) {
            tell(event::NodeKickedOut{node.id, node.stake});
            depart(n, view.records.nodes()[n]);
        } else if (node.state == NodeState::pending_leave) {
            tell(event::NodeLeft{node.id, node.stake});
            depart(n, view.records.nodes()[n]);
        } else if (node.state == NodeState::paused) {
            tell(event::NodePaused{node.id});
        } else {
            freed.push_back(n);
        }
    }

    /// A node leaves the network, and what waits for it ends. Its history stays, so that coming back cures nothing
    /// (rule 20).
    void depart(NodeHandle n, Record record) {
        auto& node = record.node;
        if (node.held != no_handle<TaskHandle>) { withdraw(std::exchange(node.held, no_handle<TaskHandle>)); }
        hold(n, {});
        node.state = NodeState::left;
        node.node_class = no_handle<ClassId>;
        node.slot = 0;
        node.lease = no_handle<LeaseHandle>;
        node.kicked_out = false;
        node.labels = {};
        node.due_at = view.records.counters().now + view.rules->forget_nodes_after;
        put(n, std::move(record));
    }
};

}}  // namespace allot::v0

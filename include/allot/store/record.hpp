#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include <allot/core/ceilings.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/core/u128.hpp>
#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// The subject of an entry of the tree of due work.
enum class DueKind : std::uint8_t { lease, task, ended_task, group, node, model };

/// The kind of the records of a handle.
template <class H>
inline constexpr auto due_kind = std::is_same_v<H, LeaseHandle>   ? DueKind::lease
                                 : std::is_same_v<H, TaskHandle>  ? DueKind::task
                                 : std::is_same_v<H, EndedHandle> ? DueKind::ended_task
                                 : std::is_same_v<H, GroupHandle> ? DueKind::group
                                                                  : DueKind::node;

/// A node with the data of its QoS tracker.
template <class NodeData>
struct NodeRecord {
    Node node{};
    NodeData qos{};

    friend auto operator==(const NodeRecord&, const NodeRecord&) -> bool = default;
};

/// The fields of a node that an edit may change, apart from the data of its QoS tracker. A note of them in place of the
/// whole record saves three cold lines a pair of commands.
struct NodeStanding {
    TimePoint due_at;
    LeaseHandle lease;
    TaskHandle held;
    NodeState state;
    bool excluded;
    bool kicked_out;
};

[[nodiscard]] inline auto standing_of(const Node& node) noexcept -> NodeStanding {
    return {node.due_at, node.lease, node.held, node.state, node.excluded, node.kicked_out};
}

/// Gives a node its former standing.
inline void restore(Node& node, const NodeStanding& before) noexcept {
    node.due_at = before.due_at;
    node.lease = before.lease;
    node.held = before.held;
    node.state = before.state;
    node.excluded = before.excluded;
    node.kicked_out = before.kicked_out;
}

namespace detail {

/// Takes a change of a node back that throws, or that finds no room. Nothing was counted for it yet, so a rollback must
/// not find it either.
struct Unheard {
    Node* node;  // null once followers have heard of the change
    const NodeStanding& before;
    ~Unheard() {
        if (node != nullptr) { restore(*node, before); }
    }
};

}  // namespace detail

/// The fields of a task that an edit may change. A note of them in place of the whole record copies none of its lists.
struct TaskStanding {
    TimePoint due_at;
    LeaseHandle lease;
    std::uint32_t attempt;
    std::uint32_t strikes;
    TaskState state;
};

[[nodiscard]] inline auto standing_of(const Task& task) noexcept -> TaskStanding {
    return {task.due_at, task.lease, task.attempt, task.strikes, task.state};
}

/// Gives a task its former standing.
inline void restore(Task& task, const TaskStanding& before) noexcept {
    task.due_at = before.due_at;
    task.lease = before.lease;
    task.attempt = before.attempt;
    task.strikes = before.strikes;
    task.state = before.state;
}

/// The remaining record of an ended task, so that its id is not used again and its owner can query its ending for a
/// while.
struct EndedTask {
    TaskId id = TaskId::null();
    TimePoint due_at{};                       ///< Time at which it is forgotten.
    NodeNameId node = no_handle<NodeNameId>;  ///< As `TaskEnd::node`.
    Ending ending = Ending::done;
    EndCause cause = EndCause::none;

    friend auto operator==(const EndedTask&, const EndedTask&) noexcept -> bool = default;
};
static_assert(sizeof(EndedTask) <= 48, "millions of these are kept");

/// A validation group: the nodes that have, or had, one of its tasks.
struct GroupRecord {
    struct Member {
        NodeId node;
        OperatorId operator_id;
        friend auto operator==(const Member&, const Member&) -> bool = default;
    };

    GroupId id = GroupId::null();
    std::uint32_t tasks = 0;       ///< Number of tasks that were submitted to it.
    std::uint32_t tasks_left = 0;  ///< Number of those that have not ended.
    TimePoint due_at{};            ///< Time at which it is forgotten, if no task is left: as late as the last of its
                                   ///< ended tasks.
    std::vector<Member> members{};

    friend auto operator==(const GroupRecord&, const GroupRecord&) -> bool = default;
};

/// The facts that belong to no record.
struct Counters {
    TimePoint now{};
    std::uint64_t token_next = 1;     ///< Fencing token of the next lease.
    std::uint64_t sequence_next = 0;  ///< Submission number of the next task.
    Ceilings ceilings{};              ///< The ceilings that stored bounds are made for.
    std::uint32_t rules_version = rules_version_newest;

    friend auto operator==(const Counters&, const Counters&) -> bool = default;
};

namespace detail {

// The facts that indices follow, of a record or of null for one that is not there.

template <class NodeData>
[[nodiscard]] auto class_of(const NodeRecord<NodeData>* record) -> ClassId {
    return record != nullptr && record->node.state != NodeState::left ? record->node.node_class : no_handle<ClassId>;
}

/// The class in which a node counts as active.
[[nodiscard]] inline auto active_class_of(NodeState state, ClassId node_class) -> ClassId {
    return state < NodeState::paused ? node_class : no_handle<ClassId>;
}
template <class NodeData>
[[nodiscard]] auto active_class_of(const NodeRecord<NodeData>* record) -> ClassId {
    return record != nullptr ? active_class_of(record->node.state, record->node.node_class) : no_handle<ClassId>;
}

/// A task that runs is due by its lease.
[[nodiscard]] inline auto due_of(TaskState state, TimePoint due_at) -> TimePoint {
    return state != TaskState::running ? due_at : never;
}
[[nodiscard]] inline auto due_of(const Task* task) -> TimePoint {
    return task != nullptr ? due_of(task->state, task->due_at) : never;
}

/// True if a task keeps its requirement from being passed over: it runs, or waits at its node.
[[nodiscard]] inline auto stays(TaskState state) -> bool {
    return state == TaskState::running || state == TaskState::held;
}

/// A group is forgotten when none of its tasks is left.
[[nodiscard]] inline auto due_of(const GroupRecord* group) -> TimePoint {
    return group != nullptr && group->tasks_left == 0 ? group->due_at : never;
}

[[nodiscard]] inline auto due_of(const LeaseRecord* lease) -> TimePoint {
    return lease != nullptr ? lease->deadline : never;
}

[[nodiscard]] inline auto due_of(const EndedTask* task) -> TimePoint { return task != nullptr ? task->due_at : never; }

template <class NodeData>
[[nodiscard]] auto due_of(const NodeRecord<NodeData>* record) -> TimePoint {
    return record != nullptr ? record->node.due_at : never;
}

/// The fields of a node that `Records::edit` must leave alone, because it makes no room in their indices, or no note.
struct NodeIdentity {
    explicit NodeIdentity(const Node& node)
        : id{node.id}, stake{node.stake}, rest{node.rest.find()},
          node_class{node.node_class}, slot{node.slot}, present{node.present()} {}

    NodeId id;
    Amount stake;
    const NodeRest* rest;
    ClassId node_class;
    std::uint32_t slot;
    bool present;

    friend auto operator==(const NodeIdentity&, const NodeIdentity&) -> bool = default;
};

}  // namespace detail

}}  // namespace allot::v0

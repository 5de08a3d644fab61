#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <allot/core/ceilings.hpp>
#include <allot/core/lease.hpp>
#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/core/u128.hpp>

namespace allot { inline namespace v0 {

/// A node with the data of its QoS tracker.
template <class NodeData>
struct NodeRecord {
    Node node{};
    NodeData qos{};

    friend auto operator==(const NodeRecord&, const NodeRecord&) -> bool = default;
};

/// The remaining record of an ended task, so that its id is not used again and its owner can query its ending for a
/// while.
struct EndedTask {
    TaskId id = TaskId::null();
    TimePoint due_at{};                              ///< Time at which it is forgotten.
    NodeNameId node = no_handle<NodeNameId>;         ///< As `TaskEnd::node`.
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
    std::uint32_t tasks = 0;      ///< Number of tasks that were submitted to it.
    std::uint32_t tasks_left = 0; ///< Number of those that have not ended.
    TimePoint due_at{};           ///< Time at which it is forgotten, if no task is left: as late as the last of its
                                  ///< ended tasks.
    std::vector<Member> members{};

    friend auto operator==(const GroupRecord&, const GroupRecord&) -> bool = default;
};

/// The facts that belong to no record.
struct Counters {
    TimePoint now{};
    std::uint64_t token_next = 1;      ///< Fencing token of the next lease.
    std::uint64_t sequence_next = 0;   ///< Submission number of the next task.
    Ceilings ceilings{};               ///< The ceilings that stored bounds are made for.
    std::uint32_t rules_version = 1;

    friend auto operator==(const Counters&, const Counters&) -> bool = default;
};

}}  // namespace allot::v0

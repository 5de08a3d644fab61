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

/// A node with the column its QoS tracker keeps.
template <class NodeData>
struct NodeRecord {
    Node node{};
    NodeData qos{};

    friend auto operator==(const NodeRecord&, const NodeRecord&) -> bool = default;
};

/// A validation group: who has, or had, one of its tasks.
struct GroupRecord {
    struct Member {
        NodeId node;
        OperatorId operator_id;
        friend auto operator==(const Member&, const Member&) -> bool = default;
    };

    GroupId id = GroupId{0};
    std::uint32_t tasks = 0;  ///< Tasks of the group that are remembered; the record goes with the last.
    std::vector<Member> members{};

    friend auto operator==(const GroupRecord&, const GroupRecord&) -> bool = default;
};

/// The few facts that belong to no record.
struct Counters {
    TimePoint now{};
    std::uint64_t token_next = 1;      ///< Fencing token of the next lease.
    std::uint64_t sequence_next = 0;   ///< Submission number of the next task.
    Ceilings ceilings{};               ///< What stored bounds are made for.
    std::uint32_t rules_version = 1;

    friend auto operator==(const Counters&, const Counters&) -> bool = default;
};

}}  // namespace allot::v0

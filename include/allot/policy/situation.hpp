#pragma once

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// What an eligibility and a weight may know of a node and a task beside their records.
struct Situation {
    TimePoint now;
    const NodeClass& node_class;
    const Requirement& requirement;
    bool avoided;        ///< The task avoids this node.
    bool same_operator;  ///< Another member of its validation group has, or had, this node or its operator.
    bool proven = true;  ///< The QoS tracker holds the node proven.
};

}}  // namespace allot::v0

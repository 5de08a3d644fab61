#pragma once

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// The facts about a node and a task that an eligibility and a weight may use in addition to their records.
struct Situation {
    TimePoint now;
    const NodeClass& node_class;
    const Requirement& requirement;
    bool avoided;        ///< The task avoids this node.
    bool same_operator;  ///< Another member of its validation group has, or had, this node or its operator.
    bool proven = true;  ///< The QoS tracker regards the node as proven.
};

}}  // namespace allot::v0

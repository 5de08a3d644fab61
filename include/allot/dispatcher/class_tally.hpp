#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/handle.hpp>

namespace allot { inline namespace v0 {

/// Number of nodes of each class that count. A node's class is set and not changed by a difference, so that a change
/// that broke off half way can be rolled back.
class ClassTally {
public:
    /// Counts the node in this class alone; in none if that is no class. Strong guarantee.
    /// @complexity O(1).
    void set(NodeHandle node, ClassId node_class) {
        detail::grow_to(class_of_, std::size_t{node.value} + 1, no_handle<ClassId>);
        if (node_class != no_handle<ClassId>) { detail::grow_to(nodes_, std::size_t{node_class.value} + 1); }
        auto& now = class_of_[node.value];
        if (now != no_handle<ClassId>) { --nodes_[now.value]; }
        if (node_class != no_handle<ClassId>) { ++nodes_[node_class.value]; }
        now = node_class;
    }

    /// Number of nodes that count in a class.
    /// @complexity O(1).
    [[nodiscard]] auto count(ClassId node_class) const noexcept -> std::uint32_t {
        return node_class.value < nodes_.size() ? nodes_[node_class.value] : 0;
    }

    /// Gives back the room of the nodes from `reach` on, none of which counts. Changes no result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept { detail::shrink_to(class_of_, reach); }

private:
    std::vector<ClassId> class_of_;     // by node
    std::vector<std::uint32_t> nodes_;  // by class
};

}}  // namespace allot::v0

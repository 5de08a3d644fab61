#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/handle.hpp>
#include <allot/store/column.hpp>

namespace allot { inline namespace v0 {

/// Number of nodes of each class that count. A node's class is set and not changed by a difference, so that a change
/// that broke off half way can be rolled back.
class ClassTally {
public:
    /// Counts the node in this class alone; in none if that is no class. Strong guarantee.
    /// @complexity O(1).
    void set(NodeHandle node, ClassId node_class) {
        auto& counted = class_of_.made(node.value);
        if (node_class != no_handle<ClassId>) { detail::grow_to(nodes_, std::size_t{node_class.value} + 1); }
        if (counted.in != no_handle<ClassId>) { --nodes_[counted.in.value]; }
        if (node_class != no_handle<ClassId>) { ++nodes_[node_class.value]; }
        counted.in = node_class;
    }

    /// Number of nodes that count in a class.
    /// @complexity O(1).
    [[nodiscard]] auto count(ClassId node_class) const noexcept -> std::uint32_t {
        return node_class.value < nodes_.size() ? nodes_[node_class.value] : 0;
    }

    /// Gives back the room of the nodes from `reach` on, none of which counts. Changes no result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept { class_of_.trim(reach); }

private:
    struct Counted {
        ClassId in = no_handle<ClassId>;
    };
    Column<Counted, 4'096> class_of_;   // by node
    std::vector<std::uint32_t> nodes_;  // by class
};

}}  // namespace allot::v0

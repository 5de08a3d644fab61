#pragma once

#include <cstdint>
#include <map>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/u128.hpp>
#include <allot/store/column.hpp>

namespace allot { inline namespace v0 {

/// The sum of the stakes of each operator's nodes. A node's part is set and not changed by a difference, so that a
/// change that broke off half way can be rolled back.
class OperatorStakes {
public:
    /// Sets the node's part of its operator's sum; it counts for no other operator. Strong guarantee.
    /// @complexity O(log operators).
    void set(NodeHandle node, const OperatorId& operator_id, u128 stake) {
        auto& part = parts_.made(node.value);
        if (part.stake == stake && (stake == u128{0} || part.operator_id == operator_id)) { return; }
        if (stake != u128{0}) { sums_[operator_id] += stake; }
        if (part.stake != u128{0}) {
            const auto was = sums_.find(part.operator_id);
            was->second -= part.stake;
            if (was->second == u128{0}) { sums_.erase(was); }
        }
        part = {operator_id, stake};
    }

    /// The sum of the stakes of an operator's nodes.
    /// @complexity O(log operators).
    [[nodiscard]] auto of(const OperatorId& operator_id) const -> u128 {
        const auto found = sums_.find(operator_id);
        return found == sums_.end() ? u128{0} : found->second;
    }

    /// Gives back the room of the nodes from `reach` on, none of which counts. Changes no result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept { parts_.trim(reach); }

private:
    struct Part {
        OperatorId operator_id = OperatorId::null();
        u128 stake{};
    };

    std::map<OperatorId, u128> sums_;
    Column<Part> parts_;  // by node
};

}}  // namespace allot::v0

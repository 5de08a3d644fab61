#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// Counts the nodes that could run a task, one by one, and tells which of them have enough others for a gang.
///
/// If the gang wants one card, the nodes of each card are counted separately. If members must have different operators,
/// an operator's nodes count once.
///
/// @complexity of each call: O(log nodes counted).
class GangTally {
public:
    /// A tally for this requirement. `apart`: members must have different operators.
    GangTally(const Requirement& asked, bool apart)
        : size_{asked.gang_size}, same_card_{asked.same_card}, apart_{apart} {}

    /// Counts a node.
    void add(const Node& node, const NodeClass& node_class) {
        auto& nodes = able_[card_of(node_class)];
        nodes.insert(apart_ ? node.operator_id() : OperatorId{node.id.bytes()});
    }
    /// True if enough nodes are counted for a gang with a node of this class.
    [[nodiscard]] auto enough(const NodeClass& node_class) const -> bool {
        const auto found = able_.find(card_of(node_class));
        return found != able_.end() && found->second.size() >= size_;
    }

private:
    using Card = std::pair<std::string, Gibibytes>;
    [[nodiscard]] auto card_of(const NodeClass& node_class) const -> Card {
        return same_card_ ? Card{node_class.gpu, node_class.vram} : Card{};
    }

    std::uint32_t size_;
    bool same_card_;
    bool apart_;
    std::map<Card, std::set<OperatorId>> able_{};
};

}}  // namespace allot::v0

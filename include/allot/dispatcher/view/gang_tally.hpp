#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include <allot/core/node.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// Counts, one by one, the nodes that could run a task, and says which of them have enough others to stand beside.
///
/// Those of one card count together if the gang wants one card, else all; those of one operator count once if the
/// members have to stand apart.
class GangTally {
public:
    GangTally(const Requirement& asked, bool apart)
        : size_{asked.gang_size}, same_card_{asked.same_card}, apart_{apart} {}

    void add(const Node& node, const NodeClass& node_class) {
        auto& nodes = able_[card_of(node_class)];
        nodes.insert(apart_ ? node.operator_id : OperatorId{node.id.bytes()});
    }
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

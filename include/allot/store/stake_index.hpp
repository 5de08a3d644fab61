#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include <allot/core/handle.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/store/least_tree.hpp>
#include <allot/store/record.hpp>

namespace allot { inline namespace v0 {

/// Nodes by stake: the largest root among those that have not left, and the order in which nodes make way.
///
/// `Nodes` is the table of their records, passed to each call, because a value cannot hold a reference to its sibling.
template <class Nodes>
class StakeIndex {
public:
    /// The largest stake root among the nodes that have not left.
    [[nodiscard]] auto root_max() const noexcept -> StakeRoot { return root_max_; }

    /// Calls `accept(node)` for the nodes of least stake, of equal stake those first that have left, until it returns
    /// true for one, which is returned, or was called `tries` times.
    /// @complexity O(log n) for each call.
    template <class Accept>
    [[nodiscard]] auto find(const Nodes& nodes, const Accept& accept, std::uint32_t tries) const
        -> std::optional<NodeHandle> {
        const auto found = order_.find(
            Order{nodes}, [&](std::uint32_t h) { return accept(NodeHandle{h}); }, tries);
        return found ? std::optional{NodeHandle{*found}} : std::nullopt;
    }

    /// Takes note that a node's record changed in the table; null stands for no record.
    /// @pre `reserve(h.value)` was called.
    /// @complexity O(log16 n); O(1) if stake and presence stay.
    template <class Record>
    void moved(const Nodes& nodes, NodeHandle h, const Record* was, const Record* is) {
        if (was != nullptr && is != nullptr && was->node.stake == is->node.stake &&
            was->node.present() == is->node.present()) {
            return;
        }
        order_.changed(h.value, Order{nodes});
        richest_.changed(h.value, Richest{nodes});
        const auto richest = richest_.first();
        root_max_ = richest ? nodes[NodeHandle{*richest}].node.stake_root() : StakeRoot{};
    }

    /// Makes room for a node. Changes no result.
    void reserve(std::uint32_t handle) {
        order_.reserve(handle);
        richest_.reserve(handle);
    }

    /// Gives back the room of the handles from `handles` on, none of which has a record.
    void trim(std::uint32_t handles) noexcept {
        order_.trim(handles);
        richest_.trim(handles);
    }

private:
    /// By stake, of equal stake those first that have left, then by handle.
    struct Order {
        const Nodes& nodes;

        [[nodiscard]] auto has(std::uint32_t h) const -> bool { return nodes.contains(NodeHandle{h}); }
        [[nodiscard]] auto operator()(std::uint32_t a, std::uint32_t b) const -> bool {
            const auto& x = nodes[NodeHandle{a}].node;
            const auto& y = nodes[NodeHandle{b}].node;
            return std::tuple{x.stake, x.present(), a} < std::tuple{y.stake, y.present(), b};
        }
    };

    /// The nodes that have not left, by falling stake, then by handle.
    struct Richest {
        const Nodes& nodes;

        [[nodiscard]] auto has(std::uint32_t h) const -> bool {
            return nodes.contains(NodeHandle{h}) && nodes[NodeHandle{h}].node.present();
        }
        [[nodiscard]] auto operator()(std::uint32_t a, std::uint32_t b) const -> bool {
            const auto& x = nodes[NodeHandle{a}].node.stake;
            const auto& y = nodes[NodeHandle{b}].node.stake;
            return x != y ? x > y : a < b;
        }
    };

    LeastTree order_;
    LeastTree richest_;
    StakeRoot root_max_{};
};

}}  // namespace allot::v0

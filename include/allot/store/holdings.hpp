#pragma once

#include <cstdint>
#include <utility>

#include <allot/core/handle.hpp>
#include <allot/core/node.hpp>
#include <allot/store/count_tree.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// The models that each node holds or was asked to fetch.
///
/// Most nodes have none. A bit says so, and their lists are not fetched from memory: 2.5 cold lines a pair of commands.
///
/// The lists' sizes are counted by 64 nodes, so that a node can be drawn by the size of its list.
///
/// @complexity every call O(1), amortised; more only where stated.
class Holdings {
public:
    /// The models of a node, ascending by model.
    [[nodiscard]] auto of(NodeHandle h) const -> const HeldModels& {
        return !filled_.empty() && filled_.taken(h.value) ? lists_[h.value] : none_;
    }

    /// Makes room for a node. Changes no result.
    void ensure(NodeHandle h) { lists_.ensure(h.value); }

    /// Makes room for the bit of a node that has models. Changes no result.
    void reserve(NodeHandle h) {
        filled_.reserve(h.value);
        entries_.reserve(h.value / block);
    }

    /// Replaces a node's models and returns the old ones.
    /// @pre `ensure(h)` was called, and `reserve(h)` if there are models. So it does not throw.
    /// @complexity O(log n) if there are more or fewer models.
    [[nodiscard]] auto exchange(NodeHandle h, HeldModels after) -> HeldModels {
        const auto count = of(h).size();
        if (after.size() != count) { entries_.add(h.value / block, std::uint64_t{after.size()} - count); }
        if (filled_.taken(h.value) && after.empty()) {
            filled_.free(h.value);
        } else if (!filled_.taken(h.value) && !after.empty()) {
            filled_.take(h.value);
        }
        return std::exchange(lists_[h.value], std::move(after));
    }

    /// Number of entries of all lists.
    /// @complexity O(log n).
    [[nodiscard]] auto entries() const -> std::uint64_t { return entries_.total(); }
    /// The node that has an entry, by its number among all of them: by node, then in the order of its list.
    /// @pre `entry < entries()`.
    /// @complexity O(log n).
    [[nodiscard]] auto node_of(std::uint64_t entry) const -> NodeHandle {
        auto [blocks, rest] = entries_.find(entry);
        auto h = blocks * block;
        for (; lists_[h].size() <= rest; ++h) { rest -= lists_[h].size(); }
        return NodeHandle{h};
    }
    /// Calls `f(node)` for each node whose list is not empty, ascending.
    /// @complexity O(nodes with models + highest handle that ever had models / 64).
    template <class F>
    void each(F&& f) const {
        filled_.for_each([&](std::uint32_t h) { f(NodeHandle{h}); });
    }

    /// Gives back the room behind the page of a handle. @pre no node there has models.
    void trim(std::uint32_t handle) noexcept {
        lists_.trim(handle);
        entries_.trim(handle / block + 1);
    }

private:
    static constexpr std::uint32_t block = 64;
    Pages<HeldModels> lists_;  // by node handle
    SlotSet filled_;           // the nodes whose list is not empty
    CountTree entries_;        // by node handle / 64
    HeldModels none_;
};

}}  // namespace allot::v0

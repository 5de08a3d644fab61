#pragma once

#include <cstdint>
#include <utility>

#include <allot/core/handle.hpp>
#include <allot/core/node.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// The models that each node holds or was asked to fetch.
///
/// Most nodes have none. A bit says so, and their lists are not fetched from memory: 2.5 cold lines a pair of commands.
///
/// @complexity every call O(1), amortised.
class Holdings {
public:
    /// The models of a node, ascending by model.
    [[nodiscard]] auto of(NodeHandle h) const -> const HeldModels& {
        return !filled_.empty() && filled_.taken(h.value) ? lists_[h.value] : none_;
    }

    /// Makes room for a node. Changes no result.
    void ensure(NodeHandle h) { lists_.ensure(h.value); }

    /// Makes room for the bit of a node that has models. Changes no result.
    void reserve(NodeHandle h) { filled_.reserve(h.value); }

    /// Replaces a node's models and returns the old ones.
    /// @pre `ensure(h)` was called, and `reserve(h)` if there are models. So it does not throw.
    [[nodiscard]] auto exchange(NodeHandle h, HeldModels after) -> HeldModels {
        if (filled_.taken(h.value) && after.empty()) {
            filled_.free(h.value);
        } else if (!filled_.taken(h.value) && !after.empty()) {
            filled_.take(h.value);
        }
        return std::exchange(lists_[h.value], std::move(after));
    }

    /// Gives back the room behind the page of a handle. @pre no node there has models.
    void trim(std::uint32_t handle) noexcept { lists_.trim(handle); }

private:
    Pages<HeldModels> lists_;  // by node handle
    SlotSet filled_;           // the nodes whose list is not empty
    HeldModels none_;
};

}}  // namespace allot::v0

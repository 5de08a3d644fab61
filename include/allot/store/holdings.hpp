#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/node.hpp>
#include <allot/store/column.hpp>
#include <allot/store/count_tree.hpp>
#include <allot/store/slot_set.hpp>

namespace allot { inline namespace v0 {

/// The models that each node has on its disk, and those that it was asked to fetch.
///
/// Most nodes have none. A bit says so, and their lists are not fetched from memory: 2.5 cold lines a pair of commands.
/// Wishes come and go while a disk stays as it is, so a node's wishes are a list of their own.
///
/// The sizes of both are counted by 64 nodes, so that a node can be drawn by the size of its lists.
///
/// @complexity every call O(1), amortised; more only where stated.
class Holdings {
public:
    /// The models on a node's disk, ascending by model.
    [[nodiscard]] auto of(NodeHandle h) const -> const HeldModels& {
        return !filled_.empty() && filled_.taken(h.value) ? *lists_.find(h.value) : none_;
    }
    /// The models that a node was asked to fetch, ascending by model.
    [[nodiscard]] auto wishes(NodeHandle h) const -> const HeldModels& {
        const auto* list = wishes_.find(h.value);
        return list != nullptr ? *list : none_;
    }

    /// Makes room for the list of a node that has models. Changes no result.
    void reserve(NodeHandle h) {
        (void)lists_.made(h.value);
        filled_.reserve(h.value);
        entries_.reserve(h.value / block);
    }
    /// Makes room for a node's new wishes. Changes no result.
    void reserve_wishes(NodeHandle h, const HeldModels& after) {
        if (after.empty() != wishes(h).empty()) { flipped_.push_back(h); }
        if (!after.empty()) {
            (void)wishes_.made(h.value);
            entries_.reserve(h.value / block);
        }
    }

    /// Replaces the models on a node's disk and returns the old ones.
    /// @pre `reserve(h)` was called if there are models. So it does not throw.
    /// @complexity O(log n) if there are more or fewer models.
    [[nodiscard]] auto exchange(NodeHandle h, HeldModels after) -> HeldModels {
        count(h, of(h).size(), after.size());
        if (filled_.taken(h.value) && after.empty()) {
            filled_.free(h.value);
        } else if (!filled_.taken(h.value) && !after.empty()) {
            filled_.take(h.value);
        }
        if (lists_.find(h.value) == nullptr) { return {}; }
        return std::exchange(lists_.at(h.value), std::move(after));
    }
    /// Replaces a node's wishes and returns the old ones.
    /// @pre `reserve_wishes(h, after)` was called. So it does not throw.
    /// @complexity O(log n) if there are more or fewer wishes.
    [[nodiscard]] auto exchange_wishes(NodeHandle h, HeldModels after) -> HeldModels {
        if (wishes_.find(h.value) == nullptr) { return {}; }
        count(h, wishes(h).size(), after.size());
        return std::exchange(wishes_.at(h.value), std::move(after));
    }

    /// The time at which the first of these models expires; `never` if none does.
    /// @complexity linear in the list.
    [[nodiscard]] static auto first_end(const HeldModels& models) -> TimePoint {
        auto end = never;
        for (const auto& model : models) { end = models.expires(&model) ? std::min(end, models.until(&model)) : end; }
        return end;
    }
    /// The same for all models of a node.
    [[nodiscard]] auto due_of(NodeHandle h) const -> TimePoint {
        return std::min(first_end(of(h)), first_end(wishes(h)));
    }
    /// True if a list is in order and has only models that are on the disk, or only others.
    /// @complexity linear in the list.
    [[nodiscard]] static auto admits(const HeldModels& models, bool on_disk) -> bool {
        return std::is_sorted(models.begin(), models.end(), [](auto& a, auto& b) { return a.model < b.model; }) &&
               std::all_of(models.begin(), models.end(), [&](auto& held) { return held.on_disk() == on_disk; });
    }

    /// Number of entries of all lists.
    /// @complexity O(log n).
    [[nodiscard]] auto entries() const -> std::uint64_t { return entries_.total(); }
    /// The node that has an entry, by its number among all of them: by node.
    /// @pre `entry < entries()`.
    /// @complexity O(log n).
    [[nodiscard]] auto node_of(std::uint64_t entry) const -> NodeHandle {
        auto [blocks, rest] = entries_.find(entry);
        auto h = blocks * block;
        const auto size = [&](std::uint32_t node) {
            return of(NodeHandle{node}).size() + wishes(NodeHandle{node}).size();
        };
        for (; size(h) <= rest; ++h) { rest -= size(h); }
        return NodeHandle{h};
    }
    /// Calls `f(node)` for each node that has models on its disk, ascending.
    /// @complexity O(nodes with models + highest handle that ever had models / 64).
    template <class F>
    void each(F&& f) const {
        filled_.for_each([&](std::uint32_t h) { f(NodeHandle{h}); });
    }

    /// Gives back the room of wishes that are gone. Changes no result; until then an undo finds room for them.
    /// @complexity O(64) for each node that got its first wish or lost its last.
    void give_back() noexcept {
        if (flipped_.empty()) [[likely]] { return; }
        for (const auto h : flipped_) {
            wishes_.give_back(h.value, [](const HeldModels& wishes) { return wishes.empty(); });
        }
        flipped_.clear();
        if (flipped_.capacity() > block) { flipped_ = std::vector<NodeHandle>{}; }
    }
    /// Gives back the room behind the page of a handle. @pre no node there has models or wishes.
    void trim(std::uint32_t handle) noexcept {
        lists_.trim(handle + 1);
        wishes_.trim(handle + 1);
        entries_.trim(handle / block + 1);
    }

private:
    static constexpr std::uint32_t block = 64;

    void count(NodeHandle h, std::uint64_t before, std::uint64_t after) {
        if (before != after) { entries_.add(h.value / block, after - before); }
    }

    Column<HeldModels> lists_;         // by node handle: on its disk
    Column<HeldModels, 64> wishes_;    // by node handle
    SlotSet filled_;                   // the nodes whose list is not empty
    CountTree entries_;                // by node handle / 64
    std::vector<NodeHandle> flipped_;  // got a first wish or lost the last one since the last `give_back`
    HeldModels none_;
};

}}  // namespace allot::v0

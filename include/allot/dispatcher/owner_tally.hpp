#pragma once

#include <cstdint>
#include <map>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/store/column.hpp>

namespace allot { inline namespace v0 {

/// Number of current tasks of each owner. A task counts once, however often it is added, so that a change that broke
/// off half way can be rolled back.
class OwnerTally {
public:
    /// Counts a task; one without an owner is not counted. Strong guarantee.
    /// @complexity O(log owners).
    void add(TaskHandle task, const OwnerId& owner) {
        auto& counted = counted_.made(task.value);
        if (owner.is_null() || counted) { return; }
        ++tasks_[owner];
        counted = true;
    }

    /// Counts the task no more.
    /// @complexity O(log owners).
    void remove(TaskHandle task, const OwnerId& owner) {
        if (!counted_[task.value]) { return; }
        counted_.at(task.value) = false;
        if (const auto found = tasks_.find(owner); --found->second == 0) { tasks_.erase(found); }
    }

    /// Number of tasks of an owner.
    /// @complexity O(log owners).
    [[nodiscard]] auto count(const OwnerId& owner) const -> std::uint32_t {
        const auto found = tasks_.find(owner);
        return found == tasks_.end() ? 0 : found->second;
    }

    /// Gives back the room of the tasks from `reach` on, none of which counts. Changes no result.
    /// @complexity amortised O(1) for each of them.
    void trim(std::uint32_t reach) noexcept { counted_.trim(reach); }

private:
    std::map<OwnerId, std::uint32_t> tasks_;
    Column<bool, 16'384> counted_;  // by task
};

}}  // namespace allot::v0

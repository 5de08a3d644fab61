#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <allot/core/grow.hpp>
#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>

namespace allot { inline namespace v0 {

/// Number of current tasks of each owner. A task counts once, however often it is added, so that a change that broke
/// off half way can be rolled back.
class OwnerTally {
public:
    /// Counts a task; one without an owner is not counted. Strong guarantee.
    /// @complexity O(log owners).
    void add(TaskHandle task, const OwnerId& owner) {
        detail::grow_to(counted_, std::size_t{task.value} + 1);
        if (owner.is_null() || counted_[task.value] != 0) { return; }
        ++tasks_[owner];
        counted_[task.value] = 1;
    }

    /// Counts the task no more.
    /// @complexity O(log owners).
    void remove(TaskHandle task, const OwnerId& owner) {
        if (task.value >= counted_.size() || counted_[task.value] == 0) { return; }
        counted_[task.value] = 0;
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
    void trim(std::uint32_t reach) noexcept { detail::shrink_to(counted_, reach); }

private:
    std::map<OwnerId, std::uint32_t> tasks_;
    std::vector<std::uint8_t> counted_;  // by task
};

}}  // namespace allot::v0

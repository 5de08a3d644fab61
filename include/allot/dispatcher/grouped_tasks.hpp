#pragma once

#include <set>

#include <allot/core/handle.hpp>
#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {

/// The waiting tasks of each validation group, best first. Tasks without a group are not kept.
class GroupedTasks {
public:
    /// Inserts a waiting task of a group. Strong guarantee.
    /// @complexity O(log tasks in groups).
    void push(GroupHandle group, const QueueEntry& entry) { tasks_.insert({group, entry}); }

    /// Erases a task; an absent one changes nothing.
    /// @complexity O(log tasks in groups).
    void erase(GroupHandle group, const QueueEntry& entry) { tasks_.erase({group, entry}); }

    /// Calls `f(task)` for the waiting tasks of a group, best first, until it returns false.
    /// @complexity O(log tasks in groups), and the calls.
    template <class F>
    void each(GroupHandle group, F&& f) const {
        auto at = tasks_.lower_bound(group);
        while (at != tasks_.end() && at->group == group && f(at->entry.task)) { ++at; }
    }

private:
    struct Place {
        GroupHandle group{};
        QueueEntry entry{};
    };
    struct Before {
        using is_transparent = void;
        auto operator()(const Place& a, const Place& b) const noexcept -> bool {
            return a.group != b.group ? a.group < b.group : goes_before(a.entry, b.entry);
        }
        auto operator()(const Place& a, GroupHandle b) const noexcept -> bool { return a.group < b; }
        auto operator()(GroupHandle a, const Place& b) const noexcept -> bool { return a < b.group; }
    };

    std::set<Place, Before> tasks_;
};

}}  // namespace allot::v0

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <allot/core/handle.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/tournament.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// The first and the last task of each group in flat arrays. They give the best task of some groups, and the worst of
/// all.
///
/// A node asks for the best of dozens of groups, so the heads are stored separately, one half of a cache line each, and
/// the head marks an empty group. The last of all is the winner of a tournament between the tails.
class GroupEnds {
public:
    /// Makes room for a group. If an allocation throws, the room made until then stays and changes no result.
    /// @complexity amortised O(1) for each group below.
    void reserve(RequirementId group) {
        last_.reserve(group.value + 1);
        tails_.ensure(group.value);
        heads_.ensure(group.value);
    }

    /// Gives back the room of the groups from `groups` on, none of which has a task. Changes no result.
    /// @complexity O(1), or linear in the room that is given back.
    void trim(std::uint32_t groups) noexcept {
        heads_.trim(groups);
        tails_.trim(groups);
        last_.trim(groups);
    }

    /// Records a new task.
    /// @pre there is room for its group.
    /// @complexity O(1), O(log groups) if it is the last of its group.
    void pushed(const QueueEntry& entry) noexcept {
        auto& head = heads_[entry.group.value];
        auto& tail = tails_[entry.group.value];
        const auto alone = head.task == nothing.task;
        if (alone || goes_before(entry, head)) { head = entry; }
        if (alone || goes_before(tail, entry)) {
            tail = entry;
            play(entry.group);
        }
    }

    /// Records that a task was erased. `first()` and `last()` return the first and the last task of its group now; they
    /// are called only when an end changed and another task is there.
    /// @complexity O(1), O(log groups) if it was the last of its group.
    template <class First, class Last>
    void erased(const QueueEntry& entry, const First& first, const Last& last) {
        auto& head = heads_[entry.group.value];
        auto& tail = tails_[entry.group.value];
        const auto was_first = head.task == entry.task;
        const auto was_last = tail.task == entry.task;
        if (was_first) { head = was_last ? nothing : first(); }
        if (was_last) {
            tail = was_first ? nothing : last();
            play(entry.group);
        }
    }

    /// True if a group has a task.
    [[nodiscard]] auto filled(RequirementId group) const noexcept -> bool { return first(group) != nullptr; }

    /// The first task of a group, or null. The pointer holds until the next change.
    [[nodiscard]] auto first(RequirementId group) const noexcept -> const QueueEntry* {
        const auto* const head = heads_.find(group.value);
        return head != nullptr && head->task != nothing.task ? head : nullptr;
    }

    /// The first task of all these groups, or null. The pointer holds until the next change.
    /// @complexity O(groups).
    [[nodiscard]] auto first(std::span<const RequirementId> groups) const noexcept -> const QueueEntry* {
        const QueueEntry* found = nullptr;
        for (const auto group : groups) {
            const auto* const head = first(group);
            if (head != nullptr && (found == nullptr || goes_before(*head, *found))) { found = head; }
        }
        return found;
    }

    /// The last task of all.
    /// @complexity O(1).
    [[nodiscard]] auto last() const noexcept -> std::optional<TaskHandle> {
        const auto group = last_.winner();
        return group == Tournament::nobody ? std::nullopt : std::optional{tails_[group].task};
    }
    /// The last task of a group.
    /// @complexity O(1).
    [[nodiscard]] auto last(RequirementId group) const noexcept -> std::optional<TaskHandle> {
        return filled(group) ? std::optional{tails_[group.value].task} : std::nullopt;
    }

private:
    static constexpr auto nothing = QueueEntry{no_handle<TaskHandle>, {}, {}, 0};
    struct End : QueueEntry {
        End(const QueueEntry& entry = nothing) noexcept : QueueEntry{entry} {}
    };

    void play(RequirementId group) noexcept {
        last_.changed(group.value, filled(group),
                      [&](std::uint32_t a, std::uint32_t b) { return goes_before(tails_[b], tails_[a]); });
    }

    using Ends = SplitVector<End, 4'096, 64>;  // a gate has more groups than there are requirements
    Ends heads_;                               // by group
    Ends tails_;
    Tournament last_;
};

}}}  // namespace allot::v0::detail

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <boost/container/small_vector.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/entry_tree.hpp>
#include <allot/queue/group_ends.hpp>
#include <allot/queue/value_queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// A value queue in flat memory: the tasks of all groups in one tree of blocks, whose leaves are sorted when they are
/// asked for an end. It has the order and bound of `ValueQueue`, in less time and memory: 43 bytes per task.
///
/// Memory grows by pages; after that growth a push allocates nothing. After a move from a queue, only assignment and
/// destruction are allowed.
class FlatQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    FlatQueue() = default;
    explicit FlatQueue(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Inserts a task. Strong guarantee.
    /// @pre no other task has this handle or sequence.
    /// @complexity O(log n); amortised where the queue grows.
    void push(const QueueEntry& entry) {
        // A new task has a higher sequence than all others, and its leaf need not be read.
        if (entry.sequence <= newest_ && entries_.contains(entry)) { return; }
        ends_.reserve(entry.group);
        entries_.push(entry);
        ends_.pushed(entry);
        newest_ = std::max(newest_, entry.sequence);
    }

    /// Erases a task; an absent one changes nothing.
    /// @complexity O(log n).
    void erase(const QueueEntry& entry) {
        const auto erased = entries_.erase(entry);
        if (!erased.found) { return; }
        ends_.erased(
            entry, [&] { return erased.next != nullptr ? *erased.next : entries_.first_from(entry); },
            [&] { return erased.former != nullptr ? *erased.former : entries_.last_before(entry); });
    }

    /// The first in order among all tasks of the groups that `fits`.
    /// @complexity O(groups). When the first task does not fit, O((groups + k) log n) more for k tasks that do not,
    /// amortised, and an allocation when they are of many groups.
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        const auto* const first = ends_.first(groups);
        if (first == nullptr || fits(first->task)) {
            return first == nullptr ? std::nullopt : std::optional{first->task};
        }
        return walk(groups, first->task, fits);
    }

    /// The last task in order of all.
    /// @complexity O(1).
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> { return ends_.last(); }
    /// The last task in order of a group.
    /// @complexity O(1).
    [[nodiscard]] auto worst_of(RequirementId group) const -> std::optional<TaskHandle> { return ends_.last(group); }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return entries_.size(); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t {
        return parameters_.capacity(nodes);
    }

    /// Gives back the room of the groups from `groups` on, none of which has a task, and of tasks that are gone.
    /// Changes no result.
    /// @complexity O(log n), or linear in the room that is given back.
    void trim(std::uint32_t groups, std::uint32_t) noexcept {
        ends_.trim(groups);
        entries_.trim();
    }
    /// True if `trim` has more to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return entries_.falls(); }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    static constexpr std::uint32_t unopened = 0xFFFF'FFFFU;  // the walk of a spot that stands for its whole group

    struct Spot {
        const QueueEntry* entry;
        std::uint32_t walk;
    };

    /// The best task after `refused`, which is the best of all and does not fit.
    template <class Fits>
    [[nodiscard]] auto walk(std::span<const RequirementId> groups, TaskHandle refused, Fits& fits) const
        -> std::optional<TaskHandle> {
        // Holds of each group the entry next in order that was not visited, the first on top.
        auto frontier = boost::container::small_vector<Spot, 64>{};
        auto walks = boost::container::small_vector<EntryTree::Walk, 8>{};
        const auto later = [&](const Spot& a, const Spot& b) { return goes_before(*b.entry, *a.entry); };
        for (const auto group : groups) {
            if (const auto* const first = ends_.first(group)) { frontier.push_back({first, unopened}); }
        }
        std::make_heap(frontier.begin(), frontier.end(), later);
        while (!frontier.empty()) {
            std::pop_heap(frontier.begin(), frontier.end(), later);
            auto& [entry, number] = frontier.back();
            if (entry->task != refused && fits(entry->task)) { return entry->task; }
            if (number == unopened) {
                number = static_cast<std::uint32_t>(walks.size());
                walks.emplace_back(entries_, *entry);
            }
            auto& walk = walks[number];
            if (walk.next() && walk.entry().group == entry->group) {
                entry = &walk.entry();
                std::push_heap(frontier.begin(), frontier.end(), later);
            } else {
                frontier.pop_back();
            }
        }
        return std::nullopt;
    }

    EntryTree entries_;
    detail::GroupEnds ends_;
    std::uint64_t newest_ = 0;  // no sequence was higher
    Parameters parameters_{};
};

}}  // namespace allot::v0

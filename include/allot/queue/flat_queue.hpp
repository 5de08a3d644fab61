#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <boost/container/small_vector.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/group_ends.hpp>
#include <allot/queue/interval_heap.hpp>
#include <allot/queue/value_queue_parameters.hpp>
#include <allot/store/column.hpp>
#include <allot/store/split_vector.hpp>

namespace allot { inline namespace v0 {

/// A value queue on flat heaps, one per group, with the best task at one end and the worst at the other. It has the
/// order and bound of `ValueQueue`, in less time and memory: 38 bytes per task.
///
/// A task occurs once in its group's heap, at the place stored for its handle. Memory grows by pages; after that growth
/// a push allocates nothing.
class FlatQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    FlatQueue() = default;
    explicit FlatQueue(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Inserts a task. Strong guarantee.
    /// @pre no other task has this handle or sequence.
    /// @complexity O(log n), O(1) for most; amortised where the queue grows.
    void push(const QueueEntry& entry) {
        const auto group = entry.group.value;
        ends_.reserve(entry.group);
        groups_.ensure(group);
        reach_ = std::max(reach_, group + 1);
        if (places_.made(entry.task.value) != absent) { return; }
        groups_[group].push(entry, Note{places_});
        ends_.pushed(entry);
        ++size_;
    }

    /// Erases a task; an absent one changes nothing.
    /// @complexity O(log n).
    void erase(const QueueEntry& entry) {
        if (!contains(entry)) { return; }
        auto& heap = groups_[entry.group.value];
        heap.erase(places_[entry.task.value] - 1, Note{places_});
        places_.at(entry.task.value) = absent;
        ends_.erased(
            entry, [&] { return heap.first(); }, [&] { return heap.last(); });
        --size_;
    }

    /// The first in order among all tasks of the groups that `fits`.
    /// @complexity O(groups). When the first task does not fit, O((groups + k) log(groups + k)) more for k tasks that
    /// do not, and an allocation when they are many.
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

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t {
        return parameters_.capacity(nodes);
    }

    /// Gives back the room of the groups from `groups` on and of the tasks from `tasks` on, none of which waits, and of
    /// tasks that are gone: in 64 groups, and in others with the next call. Changes no result.
    /// @complexity O(1), or linear in the room that is given back.
    void trim(std::uint32_t groups, std::uint32_t tasks) noexcept {
        groups_.trim(groups);
        reach_ = std::min(reach_, groups);
        places_.trim(tasks);
        ends_.trim(groups);
        for (auto left = std::min(reach_, 64U); left > 0; --left) {
            trimmed_ = trimmed_ + 1 < reach_ ? trimmed_ + 1 : 0;
            groups_[trimmed_].trim();
        }
    }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    static constexpr std::uint32_t absent = 0;
    static constexpr std::uint32_t unopened = 0xFFFF'FFFFU;  // the place of a spot that stands for its whole group
    using Places = Column<std::uint32_t, 4'096>;

    using Heap = IntervalHeap<QueueEntry, goes_before>;
    /// Updates `places_` when the heap moves an entry.
    struct Note {
        Places& places;
        void operator()(const QueueEntry& entry, std::uint32_t place) const noexcept {
            places.at(entry.task.value) = place + 1;
        }
    };
    struct Spot {
        std::uint32_t group;
        std::uint32_t place;
        const QueueEntry* entry;
    };

    [[nodiscard]] auto contains(const QueueEntry& entry) const noexcept -> bool {
        const auto place = places_[entry.task.value];
        return place != absent && entry.group.value < reach_ && place <= groups_[entry.group.value].size() &&
               groups_[entry.group.value][place - 1] == entry;
    }

    /// The best task after `refused`, which is the best of all and does not fit.
    template <class Fits>
    [[nodiscard]] auto walk(std::span<const RequirementId> groups, TaskHandle refused, Fits& fits) const
        -> std::optional<TaskHandle> {
        // Holds the entries next in order that were not visited, the first on top.
        auto frontier = boost::container::small_vector<Spot, 64>{};
        const auto later = [&](const Spot& a, const Spot& b) { return goes_before(*b.entry, *a.entry); };
        const auto add_to = [&](std::uint32_t group) {
            return [&, group](std::uint32_t place) {
                groups_[group].prefetch_next(place);
                frontier.push_back({group, place, &groups_[group][place]});
                std::push_heap(frontier.begin(), frontier.end(), later);
            };
        };
        // Of a group its first entry alone, until the walk comes to it: there may be a thousand groups.
        for (const auto group : groups) {
            if (const auto* const first = ends_.first(group)) { frontier.push_back({group.value, unopened, first}); }
        }
        std::make_heap(frontier.begin(), frontier.end(), later);
        while (!frontier.empty()) {
            std::pop_heap(frontier.begin(), frontier.end(), later);
            const auto spot = frontier.back();
            frontier.pop_back();
            if (spot.place == unopened) {
                groups_[spot.group].for_roots(add_to(spot.group));
                continue;
            }
            const auto task = spot.entry->task;
            if (task != refused && fits(task)) { return task; }
            groups_[spot.group].for_next(spot.place, add_to(spot.group));
        }
        return std::nullopt;
    }

    SplitVector<Heap, 4'096, 64> groups_;  // a gate has more groups than there are requirements
    Places places_;                        // by task: one more than the place in the heap of its group, or `absent`
    detail::GroupEnds ends_;
    std::uint32_t size_ = 0;
    std::uint32_t reach_ = 0;    // above every group that has a heap
    std::uint32_t trimmed_ = 0;  // the group that `trim` looked at last
    Parameters parameters_{};
};

}}  // namespace allot::v0

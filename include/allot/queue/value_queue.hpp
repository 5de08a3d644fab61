#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/container/small_vector.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/group_ends.hpp>
#include <allot/queue/node_pool.hpp>
#include <allot/queue/value_queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// The default queue: ordered by (group, value, submission), highest value first, bounded by α·N.
///
/// Groups are interned requirements: VRAM × GPU, with "any" GPU among them. One MultiIndex index holds all tasks. The
/// first and the last task of each group are also stored in flat arrays. So a comparison of the groups' heads finds the
/// best task for a node, and the task to evict is the winner of a tournament between the tails. A head that the node
/// cannot take (avoided, or of its own validation group) is skipped in the index, so the result is exact.
///
/// The nodes of the index come from the queue's own pool: 64 bytes per task and at most a sixteenth to spare. After the
/// growth of the pool a push allocates nothing. After a move from a queue, only assignment and destruction are allowed.
class ValueQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    ValueQueue() = default;
    explicit ValueQueue(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Inserts a task. Strong guarantee.
    /// @pre no other task has this handle or sequence.
    /// @complexity O(log n).
    void push(const QueueEntry& entry) {
        ends_.reserve(entry.group);
        if (entries_->insert(entry).second) { ends_.pushed(entry); }
    }

    /// Erases a task; an absent one changes nothing.
    /// @complexity O(log n).
    void erase(const QueueEntry& entry) {
        const auto found = entries_->find(entry);
        if (found == entries_->end() || *found != entry) { return; }
        const auto behind = entries_->erase(found);
        ends_.erased(
            entry, [&] { return *behind; }, [&] { return *std::prev(behind); });
    }

    /// The first in order among all tasks of the groups that `fits`.
    /// @complexity O(groups). When the first task does not fit, O(groups · log n) more, and O(groups) for each task
    /// that does not: a node that none of a million tasks fits visits them all.
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        const auto* const first = ends_.first(groups);
        if (first == nullptr || fits(first->task)) {
            return first == nullptr ? std::nullopt : std::optional{first->task};
        }
        return walk(groups, *first, fits);
    }

    /// The last task in order of all.
    /// @complexity O(1).
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> { return ends_.last(); }
    /// The last task in order of a group.
    /// @complexity O(1).
    [[nodiscard]] auto worst_of(RequirementId group) const -> std::optional<TaskHandle> { return ends_.last(group); }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(entries_->size()); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t {
        return parameters_.capacity(nodes);
    }

    /// Gives back the room of the groups from `groups` on and of the tasks from `tasks` on, none of which waits.
    /// Changes no result.
    /// @complexity O(1), or linear in the room that is given back.
    void trim(std::uint32_t groups, std::uint32_t) noexcept {
        ends_.trim(groups);
        entries_.trim();
    }
    /// True if `trim` has more to give back.
    [[nodiscard]] auto falls() const noexcept -> bool { return entries_.falls(); }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    struct GroupThenValue {
        auto operator()(const QueueEntry& a, const QueueEntry& b) const noexcept -> bool {
            return a.group == b.group ? goes_before(a, b) : a.group < b.group;
        }
    };
    struct OfGroup {
        auto operator()(const QueueEntry& a, RequirementId b) const noexcept -> bool { return a.group < b; }
        auto operator()(RequirementId a, const QueueEntry& b) const noexcept -> bool { return a < b.group; }
    };
    using Entries = boost::multi_index_container<QueueEntry,
                                                 boost::multi_index::indexed_by<boost::multi_index::ordered_unique<
                                                     boost::multi_index::identity<QueueEntry>, GroupThenValue>>,
                                                 PoolAllocator<QueueEntry>>;

    /// The best task after `refused`, which is the best of all and does not fit: the groups' tasks merged in order.
    template <class Fits>
    [[nodiscard]] auto walk(std::span<const RequirementId> groups, const QueueEntry& refused, Fits& fits) const
        -> std::optional<TaskHandle> {
        auto heads = boost::container::small_vector<std::pair<Entries::const_iterator, Entries::const_iterator>, 32>{};
        for (const auto group : groups) {
            if (!ends_.filled(group)) { continue; }
            auto range = entries_->equal_range(group, OfGroup{});
            if (*range.first == refused) { ++range.first; }
            if (range.first != range.second) { heads.push_back(range); }
        }
        while (!heads.empty()) {
            auto first = heads.begin();
            for (auto head = heads.begin(); head != heads.end(); ++head) {
                if (goes_before(*head->first, *first->first)) { first = head; }
            }
            if (fits(first->first->task)) { return first->first->task; }
            if (++first->first == first->second) {
                *first = heads.back();
                heads.pop_back();
            }
        }
        return std::nullopt;
    }

    Pooled<Entries> entries_;
    detail::GroupEnds ends_;
    Parameters parameters_{};
};

}}  // namespace allot::v0

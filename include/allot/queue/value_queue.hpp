#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/tag.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/value_queue_parameters.hpp>
#include <allot/store/tournament.hpp>

namespace allot { inline namespace v0 {

/// The default queue: ordered by (group, value, submission), highest value first, bounded by α·N.
///
/// Groups are interned requirements: VRAM × GPU, with "any" GPU among them. One MultiIndex index holds all tasks; beside it lie,
/// flat, the first and the last task of each group, so that the best task for a node is found by comparing the heads of its
/// groups, and the task to evict is the winner of a tournament between the tails. A head the node cannot take (avoided, or of its
/// own validation group) is stepped over in the index, so the answer is exact.
class ValueQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    ValueQueue() = default;
    explicit ValueQueue(const Parameters& parameters) : parameters_{parameters} {}

    /// @complexity O(log n).
    void push(const QueueEntry& entry) {
        const auto group = std::size_t{entry.group.value};
        if (group >= ends_.size()) {
            ends_.resize(group + 1);
        }
        if (!entries_.insert(entry).second) {
            return;
        }
        auto& ends = ends_[group];
        const auto first = ends.count++ == 0;
        if (first || goes_before(entry, ends.head)) {
            ends.head = entry;
        }
        if (first || goes_before(ends.tail, entry)) {
            ends.tail = entry;
            play(entry.group.value);
        }
    }

    /// @complexity O(log n).
    void erase(const QueueEntry& entry) {
        auto& index = entries_.get<ByGroup>();
        const auto found = index.find(entry);
        if (found == index.end()) {
            return;
        }
        auto& ends = ends_[entry.group.value];
        --ends.count;
        if (ends.count > 0 && entry == ends.head) {
            ends.head = *std::next(found);
        }
        const auto last = entry == ends.tail;
        if (ends.count > 0 && last) {
            ends.tail = *std::prev(found);
        }
        index.erase(found);
        if (last) {
            play(entry.group.value);
        }
    }

    /// @complexity O(groups), and O(groups · log n) more when the first head does not fit.
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        const QueueEntry* first = nullptr;
        for (const auto group : groups) {
            if (filled(group.value) && (first == nullptr || goes_before(ends_[group.value].head, *first))) {
                first = &ends_[group.value].head;
            }
        }
        if (first == nullptr || fits(first->task)) {
            return first == nullptr ? std::nullopt : std::optional{first->task};
        }
        return walk(groups, *first, fits);
    }

    /// @complexity O(1).
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> {
        const auto group = last_.winner();
        return group == Tournament::nobody ? std::nullopt : std::optional{ends_[group].tail.task};
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(entries_.size()); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t { return parameters_.capacity(nodes); }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) noexcept { parameters_ = parameters; }

private:
    /// First and last task of one group; meaningful while it has any.
    struct Ends {
        QueueEntry head{};
        QueueEntry tail{};
        std::uint32_t count = 0;
    };
    struct GroupThenValue {
        auto operator()(const QueueEntry& a, const QueueEntry& b) const noexcept -> bool {
            return a.group == b.group ? goes_before(a, b) : a.group < b.group;
        }
    };
    struct OfGroup {
        auto operator()(const QueueEntry& a, RequirementId b) const noexcept -> bool { return a.group < b; }
        auto operator()(RequirementId a, const QueueEntry& b) const noexcept -> bool { return a < b.group; }
    };
    struct ByGroup {};
    using Entries = boost::multi_index_container<
        QueueEntry, boost::multi_index::indexed_by<boost::multi_index::ordered_unique<
                        boost::multi_index::tag<ByGroup>, boost::multi_index::identity<QueueEntry>, GroupThenValue>>>;
    using Iterator = Entries::index<ByGroup>::type::const_iterator;

    [[nodiscard]] auto filled(std::uint32_t group) const noexcept -> bool {
        return group < ends_.size() && ends_[group].count > 0;
    }

    void play(std::uint32_t group) {
        last_.changed(group, static_cast<std::uint32_t>(ends_.size()), [&](std::uint32_t g) { return filled(g); },
                      [&](std::uint32_t a, std::uint32_t b) { return goes_before(ends_[b].tail, ends_[a].tail); });
    }

    /// The best task behind `refused`, which is the best of all and does not fit: the groups' tasks merged in order.
    template <class Fits>
    [[nodiscard]] auto walk(std::span<const RequirementId> groups, const QueueEntry& refused, Fits& fits) const
        -> std::optional<TaskHandle> {
        const auto& index = entries_.get<ByGroup>();
        auto heads = boost::container::small_vector<std::pair<Iterator, Iterator>, 32>{};
        for (const auto group : groups) {
            if (!filled(group.value)) {
                continue;
            }
            auto range = index.equal_range(group, OfGroup{});
            if (*range.first == refused) {
                ++range.first;
            }
            if (range.first != range.second) {
                heads.push_back(range);
            }
        }
        while (!heads.empty()) {
            auto first = heads.begin();
            for (auto head = heads.begin(); head != heads.end(); ++head) {
                if (goes_before(*head->first, *first->first)) {
                    first = head;
                }
            }
            if (fits(first->first->task)) {
                return first->first->task;
            }
            if (++first->first == first->second) {
                *first = heads.back();
                heads.pop_back();
            }
        }
        return std::nullopt;
    }

    Entries entries_;
    std::vector<Ends> ends_;  // by group
    Tournament last_;         // between the tails
    Parameters parameters_{};
};

}}  // namespace allot::v0

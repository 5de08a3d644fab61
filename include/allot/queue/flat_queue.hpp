#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/value_queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// A value queue on flat 4-ary heaps: one a group with the best task on top, and one over all with the worst on top. The same
/// order and bound as `ValueQueue`, in less time and without an allocation a task.
///
/// Invariant: each queued task stands once in its group's heap and once in the eviction heap, at the places noted by its handle.
class FlatQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    FlatQueue() = default;
    explicit FlatQueue(const Parameters& parameters) : parameters_{parameters} {}

    /// @complexity O(log n).
    void push(const QueueEntry& entry) {
        const auto group = std::size_t{entry.group.value};
        const auto task = std::size_t{entry.task.value};
        if (group >= groups_.size()) {
            groups_.resize(group + 1);
        }
        if (task >= places_.size()) {
            places_.resize(std::max(task + 1, places_.size() + places_.size() / 8));
        }
        if (places_[task].in_group != absent) {
            return;
        }
        groups_[group].push(entry, places_);
        all_.push(entry, places_);
    }

    /// @complexity O(log n).
    void erase(const QueueEntry& entry) {
        if (entry.task.value >= places_.size() || places_[entry.task.value].in_group == absent) {
            return;
        }
        groups_[entry.group.value].erase(entry.task, places_);
        all_.erase(entry.task, places_);
        places_[entry.task.value] = {};
    }

    /// @complexity O(groups), and O(log k) for each of the k tasks stepped over.
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        // The frontier holds the tops of what was not looked at; a task is followed in its heap by its four children.
        auto frontier = boost::container::small_vector<Spot, 64>{};
        const QueueEntry* first = nullptr;
        for (const auto group : groups) {
            if (group.value < groups_.size() && !groups_[group.value].entries.empty()) {
                const auto& top = groups_[group.value].entries.front();
                first = first == nullptr || goes_before(top, *first) ? &top : first;
            }
        }
        if (first == nullptr || fits(first->task)) {
            return first == nullptr ? std::nullopt : std::optional{first->task};
        }
        const auto later = [&](const Spot& a, const Spot& b) { return goes_before(at(b), at(a)); };
        const auto add = [&](Spot spot) {
            if (spot.place < groups_[spot.group].entries.size()) {
                frontier.push_back(spot);
                std::push_heap(frontier.begin(), frontier.end(), later);
            }
        };
        for (const auto group : groups) {
            if (group.value < groups_.size()) {
                add({group.value, 0});
            }
        }
        while (!frontier.empty()) {
            std::pop_heap(frontier.begin(), frontier.end(), later);
            const auto spot = frontier.back();
            frontier.pop_back();
            if (&at(spot) != first && fits(at(spot).task)) {
                return at(spot).task;
            }
            for (std::uint32_t child = 1; child <= fan_out; ++child) {
                add({spot.group, spot.place * fan_out + child});
            }
        }
        return std::nullopt;
    }

    /// @complexity O(1).
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> {
        return all_.entries.empty() ? std::nullopt : std::optional{all_.entries.front().task};
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(all_.entries.size()); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t { return parameters_.capacity(nodes); }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) noexcept { parameters_ = parameters; }

private:
    static constexpr std::uint32_t absent = 0xFFFF'FFFFU;
    static constexpr std::uint32_t fan_out = 4;

    /// Where a task stands, by its handle.
    struct Places {
        std::uint32_t in_group = absent;
        std::uint32_t in_all = absent;
    };
    struct Spot {
        std::uint32_t group;
        std::uint32_t place;
    };
    struct BestFirst {
        static constexpr auto place = &Places::in_group;
        static auto above(const QueueEntry& a, const QueueEntry& b) noexcept -> bool { return goes_before(a, b); }
    };
    struct WorstFirst {
        static constexpr auto place = &Places::in_all;
        static auto above(const QueueEntry& a, const QueueEntry& b) noexcept -> bool { return goes_before(b, a); }
    };

    template <class Order>
    struct Heap {
        std::vector<QueueEntry> entries;

        void push(const QueueEntry& entry, std::vector<Places>& places) {
            entries.push_back(entry);
            rise(entry, entries.size() - 1, places);
        }
        void erase(TaskHandle task, std::vector<Places>& places) {
            const auto hole = std::size_t{places[task.value].*Order::place};
            const auto last = entries.back();
            entries.pop_back();
            if (hole < entries.size()) {
                rise(last, sink(last, hole, places), places);
            }
        }

    private:
        void put(const QueueEntry& entry, std::size_t place, std::vector<Places>& places) {
            entries[place] = entry;
            places[entry.task.value].*Order::place = static_cast<std::uint32_t>(place);
        }
        void rise(const QueueEntry& entry, std::size_t place, std::vector<Places>& places) {
            for (; place > 0 && Order::above(entry, entries[(place - 1) / fan_out]); place = (place - 1) / fan_out) {
                put(QueueEntry{entries[(place - 1) / fan_out]}, place, places);
            }
            put(entry, place, places);
        }
        [[nodiscard]] auto sink(const QueueEntry& entry, std::size_t place, std::vector<Places>& places) -> std::size_t {
            for (auto child = place * fan_out + 1; child < entries.size(); child = place * fan_out + 1) {
                auto top = child;
                for (auto c = child + 1; c < std::min<std::size_t>(child + fan_out, entries.size()); ++c) {
                    top = Order::above(entries[c], entries[top]) ? c : top;
                }
                if (!Order::above(entries[top], entry)) {
                    break;
                }
                put(QueueEntry{entries[top]}, place, places);
                place = top;
            }
            return place;
        }
    };

    [[nodiscard]] auto at(const Spot& spot) const -> const QueueEntry& { return groups_[spot.group].entries[spot.place]; }

    std::vector<Heap<BestFirst>> groups_;
    Heap<WorstFirst> all_;
    std::vector<Places> places_;
    Parameters parameters_{};
};

}}  // namespace allot::v0

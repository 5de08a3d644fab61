#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <allot/policy/task_queue.hpp>

#include "workload/waiting.hpp"

namespace bench {

/// The order of all queues: the highest value first, then the earliest.
struct BestFirst {
    using Key = std::pair<allot::Value, std::uint64_t>;
    auto operator()(const Key& a, const Key& b) const -> bool {
        const auto order = a.first <=> b.first;
        return order == 0 ? a.second < b.second : order > 0;
    }
};

/// A std::map for each group, and one over all for the worst.
class MapQueue {
public:
    void push(const allot::QueueEntry& entry) {
        groups_[entry.group.value].emplace(key(entry), entry.task.value);
        all_.emplace(key(entry), entry.task.value);
    }
    void erase(const allot::QueueEntry& entry) {
        groups_[entry.group.value].erase(key(entry));
        all_.erase(key(entry));
    }
    auto best(std::uint32_t row, std::uint32_t card) -> std::optional<std::uint32_t> {
        const Map::value_type* first = nullptr;
        for (std::uint32_t r = 0; r <= row; ++r) {
            for (const auto c : {card, any_card}) {
                const auto& group = groups_[group_of(r, c).value];
                if (!group.empty() && (first == nullptr || BestFirst{}(group.begin()->first, first->first))) {
                    first = &*group.begin();
                }
            }
        }
        return first == nullptr ? std::nullopt : std::optional{first->second};
    }
    auto worst() -> std::optional<std::uint32_t> {
        return all_.empty() ? std::nullopt : std::optional{all_.rbegin()->second};
    }

private:
    using Map = std::map<BestFirst::Key, std::uint32_t, BestFirst>;
    static auto key(const allot::QueueEntry& entry) -> BestFirst::Key { return {entry.value, entry.sequence}; }

    std::array<Map, groups> groups_;
    Map all_;
};

}  // namespace bench

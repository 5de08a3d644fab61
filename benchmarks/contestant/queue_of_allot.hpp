#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/policy/task_queue.hpp>

#include "workload/waiting.hpp"

namespace bench {

/// One of our queues, used alone. The groups that fit a node are listed once for each class, as the hub does.
template <class Queue>
class QueueOfAllot {
public:
    QueueOfAllot() {
        for (std::uint32_t row = 0; row < rows; ++row) {
            for (std::uint32_t card = 0; card < cards; ++card) {
                auto& list = groups_[row * cards + card];
                for (std::uint32_t r = 0; r <= row; ++r) {
                    list.push_back(group_of(r, card));
                    list.push_back(group_of(r, any_card));
                }
            }
        }
    }

    void push(const allot::QueueEntry& entry) { queue_.push(entry); }
    void erase(const allot::QueueEntry& entry) { queue_.erase(entry); }
    auto best(std::uint32_t row, std::uint32_t card) -> std::optional<std::uint32_t> {
        return number(queue_.best(groups_[row * cards + card], [](allot::TaskHandle) { return true; }));
    }
    auto worst() -> std::optional<std::uint32_t> { return number(queue_.worst()); }

private:
    static auto number(std::optional<allot::TaskHandle> task) -> std::optional<std::uint32_t> {
        return task ? std::optional{task->value} : std::nullopt;
    }

    Queue queue_;
    std::array<std::vector<allot::RequirementId>, classes> groups_;
};

}  // namespace bench

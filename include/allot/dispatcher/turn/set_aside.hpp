#pragma once

#include <cstddef>
#include <vector>

#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {

/// Tasks that stand out of the queue for the rest of a `match`. They go back when it ends, also through an exception.
///
/// @complexity of each call: that of the queue for each task moved.
template <class Queue>
class SetAside {
public:
    /// Starts with no tasks.
    explicit SetAside(Queue& queue) noexcept : queue_{queue} {}
    SetAside(const SetAside&) = delete;
    auto operator=(const SetAside&) -> SetAside& = delete;
    /// Puts all tasks back into the queue.
    ~SetAside() { back(); }

    /// Takes a task out of the queue.
    void take(const QueueEntry& entry) {
        entries_.push_back(entry);  // first: if the queue throws, the entry goes back, erased or not
        queue_.erase(entry);
    }
    /// Puts all of them back into the queue.
    void back() {
        for (; !entries_.empty(); entries_.pop_back()) { queue_.push(entries_.back()); }
    }

private:
    Queue& queue_;
    std::vector<QueueEntry> entries_{};
};

}}  // namespace allot::v0

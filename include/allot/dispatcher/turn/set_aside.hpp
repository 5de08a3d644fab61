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

    /// Adds a task, which stays in the queue until `leave`.
    void add(const QueueEntry& entry) { entries_.push_back(entry); }
    /// Takes out of the queue the tasks that were added since the last call.
    void leave() {
        while (left_ < entries_.size()) {
            queue_.erase(entries_[left_++]);  // counted first: if it throws, the entry goes back, erased or not
        }
    }
    /// Puts all of them back into the queue.
    void back() {
        for (; left_ > 0; --left_) { queue_.push(entries_[left_ - 1]); }
    }

private:
    Queue& queue_;
    std::vector<QueueEntry> entries_{};
    std::size_t left_ = 0;
};

}}  // namespace allot::v0

#pragma once

#include <cstddef>
#include <vector>

#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {

/// Tasks that stand out of the queue for the rest of a `match`, and go back when it ends, also when an exception ends
/// it.
template <class Queue>
class SetAside {
public:
    explicit SetAside(Queue& queue) noexcept : queue_{queue} {}
    SetAside(const SetAside&) = delete;
    auto operator=(const SetAside&) -> SetAside& = delete;
    ~SetAside() { back(); }

    void add(const QueueEntry& entry) { entries_.push_back(entry); }
    /// Takes those out of the queue that were added since.
    void leave() {
        while (left_ < entries_.size()) {
            queue_.erase(entries_[left_++]);  // counted first: if it throws, the entry goes back, erased or not
        }
    }
    /// Puts them all back.
    void back() {
        for (; left_ > 0; --left_) { queue_.push(entries_[left_ - 1]); }
    }

private:
    Queue& queue_;
    std::vector<QueueEntry> entries_{};
    std::size_t left_ = 0;
};

}}  // namespace allot::v0

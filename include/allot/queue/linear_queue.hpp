#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/value_queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// A value queue whose correctness is obvious: one list, searched linearly. It is the oracle of `ValueQueue`.
///
/// @complexity linear in the number of queued tasks, for every function.
class LinearQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    LinearQueue() = default;
    explicit LinearQueue(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    void push(const QueueEntry& entry) {
        if (std::find(entries_.begin(), entries_.end(), entry) == entries_.end()) { entries_.push_back(entry); }
    }
    void erase(const QueueEntry& entry) { std::erase(entries_, entry); }

    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        auto asked = std::vector<QueueEntry>{};
        std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(asked), [&](const QueueEntry& entry) {
            return std::find(groups.begin(), groups.end(), entry.group) != groups.end();
        });
        std::sort(asked.begin(), asked.end(), goes_before);
        const auto found =
            std::find_if(asked.begin(), asked.end(), [&](const auto& entry) { return fits(entry.task); });
        return found == asked.end() ? std::nullopt : std::optional{found->task};
    }

    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> {
        const auto last = std::max_element(entries_.begin(), entries_.end(), goes_before);
        return last == entries_.end() ? std::nullopt : std::optional{last->task};
    }

    [[nodiscard]] auto worst_of(RequirementId group) const -> std::optional<TaskHandle> {
        auto one = LinearQueue{};
        std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(one.entries_),
                     [&](const QueueEntry& entry) { return entry.group == group; });
        return one.worst();
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(entries_.size()); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t {
        return parameters_.capacity(nodes);
    }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    std::vector<QueueEntry> entries_;
    Parameters parameters_{};
};

}}  // namespace allot::v0

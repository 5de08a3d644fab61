#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/value_queue.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `QueueShare`.
struct QueueShareParameters {
    Ratio tasks_per_fitting_node = 3;  ///< Waiting tasks of one requirement for each node that fits it and has weight.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {tasks_per_fitting_node.num >= 1 && tasks_per_fitting_node.den >= 1,
             "allot: QueueShare: tasks_per_fitting_node must be positive, over a denominator of at least 1"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const QueueShareParameters&, const QueueShareParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(QueueShareParameters, tasks_per_fitting_node)

/// The greatest number of waiting tasks of one requirement. `ShareQueue` applies it.
class QueueShare {
public:
    using role = role::queue;
    using Parameters = QueueShareParameters;

    constexpr QueueShare() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit QueueShare(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The number of tasks that may wait for so many nodes, rounded up: one node has room for one task, and none for
    /// none. It does not fall when the nodes rise.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto of(std::uint32_t nodes) const noexcept -> std::uint32_t {
        const auto ratio = parameters_.tasks_per_fitting_node;
        const auto tasks = (std::uint64_t{nodes} * ratio.num + (ratio.den - 1)) / ratio.den;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(tasks, 0xFFFF'FFFFU));
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    Parameters parameters_{};
};

/// A queue around another, in which the tasks of one requirement have a share: so many for each node that fits them.
///
/// It orders tasks as `Queue` does. The dispatcher counts the nodes that fit: those with weight that have not left,
/// paused and busy ones included. A requirement that has its share takes a new task in place of its worst one, as a
/// full queue does (rule 15). A task that does not outbid the worst one is refused (`requirement_full`).
///
/// **Law.** Tasks that only few nodes can run fill no more of the queue than these nodes can work off, however dear
/// they are; and no cheap task shuts out a dearer one.
///
/// Its limit: an owner may ask for one node in many ways, each of which is a requirement with a share.
template <task_queue Queue = ValueQueue>
class ShareQueue {
    static_assert(!has_share<Queue>, "allot: ShareQueue: the queue inside has shares already; set theirs");

public:
    using role = role::queue;
    static constexpr std::string_view name = "ShareQueue";

    ShareQueue() = default;
    explicit ShareQueue(Queue queue, QueueShare share = {}) : parts_{std::move(queue), std::move(share)} {}

    void push(const QueueEntry& entry) { queue().push(entry); }
    void erase(const QueueEntry& entry) { queue().erase(entry); }
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        return queue().best(groups, std::forward<Fits>(fits));
    }
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> { return queue().worst(); }
    [[nodiscard]] auto worst_of(RequirementId group) const -> std::optional<TaskHandle> {
        return queue().worst_of(group);
    }
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return queue().size(); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t { return queue().capacity(nodes); }
    /// As the queue, which may lack it.
    void trim(std::uint32_t groups, std::uint32_t tasks) noexcept requires has_trim<Queue> {
        queue().trim(groups, tasks);
    }
    [[nodiscard]] auto falls() const noexcept -> bool requires has_falls<Queue> { return queue().falls(); }
    /// The greatest number of waiting tasks of a requirement that so many nodes with weight fit.
    /// @complexity O(1).
    [[nodiscard]] auto share(std::uint32_t nodes) const noexcept -> std::uint32_t {
        return std::get<QueueShare>(parts_).of(nodes);
    }

    /// The queue that orders the tasks.
    [[nodiscard]] auto queue() const noexcept -> const Queue& { return std::get<Queue>(parts_); }

    /// The queue and the share. A dispatcher configures, compares and records each by itself.
    [[nodiscard]] auto parts() const noexcept -> const std::tuple<Queue, QueueShare>& { return parts_; }
    [[nodiscard]] auto parts() noexcept -> std::tuple<Queue, QueueShare>& { return parts_; }

private:
    [[nodiscard]] auto queue() noexcept -> Queue& { return std::get<Queue>(parts_); }

    std::tuple<Queue, QueueShare> parts_{};
};

}}  // namespace allot::v0

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <allot/core/handle.hpp>
#include <allot/core/task.hpp>

namespace allot { inline namespace v0 {

/// One queued task: its group, its value and its order of submission.
struct QueueEntry {
    TaskHandle task{};
    RequirementId group{};
    Value value{};
    std::uint64_t sequence = 0;

    friend auto operator==(const QueueEntry&, const QueueEntry&) noexcept -> bool = default;
};

/// True if `a` goes before `b`: higher value, then earlier submission. It is a strict total order, because sequences
/// differ.
[[nodiscard]] constexpr auto goes_before(const QueueEntry& a, const QueueEntry& b) noexcept -> bool {
    const auto order = a.value <=> b.value;
    return order == 0 ? a.sequence < b.sequence : order > 0;
}

namespace detail {

/// Shape of the callable that `best` asks whether a node may take this one task. It is an object, not a function
/// pointer, because the dispatcher's callable captures the node.
struct FitsShape {
    auto operator()(TaskHandle) const -> bool;
};

}  // namespace detail

/// `p.push(entry)`: inserts an entry; one that is present already changes nothing.
template <class P>
concept has_push = requires(P& p, const QueueEntry& entry) {
    p.push(entry);
};

/// `p.erase(entry)`: erases an entry equal to the pushed one; one that is absent changes nothing.
template <class P>
concept has_erase = requires(P& p, const QueueEntry& entry) {
    p.erase(entry);
};

/// `p.best(groups, fits) -> std::optional<TaskHandle>`: the first in order among all tasks of these groups that `fits`.
/// It asks about the tasks in this order, once each, because a pull and a match stop after a number of them.
template <class P>
concept has_best = requires(const P& p, std::span<const RequirementId> groups, detail::FitsShape fits) {
    { p.best(groups, std::move(fits)) } -> std::same_as<std::optional<TaskHandle>>;
};

/// `p.worst() -> std::optional<TaskHandle>`: the last in order of all tasks.
template <class P>
concept has_worst = requires(const P& p) {
    { p.worst() } -> std::same_as<std::optional<TaskHandle>>;
};

/// `p.worst_of(group) -> std::optional<TaskHandle>`: the last in order of a group, which may be unknown to the queue.
template <class P>
concept has_worst_of = requires(const P& p, RequirementId group) {
    { p.worst_of(group) } -> std::same_as<std::optional<TaskHandle>>;
};

/// `p.size() -> std::uint32_t` and `p.capacity(nodes) -> std::uint32_t`: the number of tasks, and the bound on it for
/// so many nodes.
template <class P>
concept has_capacity = requires(const P& p, std::uint32_t nodes) {
    { p.size() } -> std::same_as<std::uint32_t>;
    { p.capacity(nodes) } -> std::same_as<std::uint32_t>;
};

/// `p.share(nodes) -> std::uint32_t`: the bound on the tasks of one requirement that so many nodes fit. It does not
/// fall when the nodes rise. A queue with this function costs an index of nodes by class.
template <class P>
concept has_share = requires(const P& p, std::uint32_t nodes) {
    { p.share(nodes) } -> std::same_as<std::uint32_t>;
};

/// `p.trim(groups, tasks)`, which may not throw: gives back the room of the groups from `groups` on, and of the tasks
/// from `tasks` on, none of which waits. It changes no result. A queue without it may keep memory that a flood took.
template <class P>
concept has_trim = requires(P& p, std::uint32_t number) {
    { p.trim(number, number) }
    noexcept;
};

/// `p.falls()`, which may not throw: true if `trim` has room to give back although the two numbers did not change.
/// Optional.
template <class P>
concept has_falls = requires(const P& p) {
    { p.falls() } -> std::same_as<bool>;
};

/// Order of the waiting tasks, and its bound. It needs nothing of the dispatcher and can be used alone. `laws::ordered`
/// checks it.
template <class P>
concept task_queue = has_push<P> && has_erase<P> && has_best<P> && has_worst<P> && has_worst_of<P> && has_capacity<P>;

/// One sentence per requirement.
template <class P>
struct TaskQueueCheck {
    static_assert(has_push<P>, "allot: a task queue needs `void push(const QueueEntry&)`");
    static_assert(!has_push<P> || has_erase<P>, "allot: a task queue needs `void erase(const QueueEntry&)`");
    static_assert(!has_push<P> || !has_erase<P> || has_best<P>,
                  "allot: a task queue needs "
                  "`auto best(std::span<const RequirementId> groups, fits) const -> std::optional<TaskHandle>`");
    static_assert(!has_push<P> || !has_erase<P> || !has_best<P> || has_worst<P>,
                  "allot: a task queue needs `auto worst() const -> std::optional<TaskHandle>`");
    static_assert(!has_push<P> || !has_erase<P> || !has_best<P> || !has_worst<P> || has_worst_of<P>,
                  "allot: a task queue needs `auto worst_of(RequirementId group) const -> std::optional<TaskHandle>`");
    static_assert(!has_push<P> || !has_erase<P> || !has_best<P> || !has_worst<P> || !has_worst_of<P> || has_capacity<P>,
                  "allot: a task queue needs `auto size() const -> std::uint32_t` and "
                  "`auto capacity(std::uint32_t nodes) const -> std::uint32_t`");
    static constexpr bool passed = task_queue<P>;
};

}}  // namespace allot::v0

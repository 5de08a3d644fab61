#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/events.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/moment.hpp>
#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// The state of a task after its last event. The numbers are stable.
enum class FateKind : std::uint8_t {
    queued = 1,
    running = 2,
    done = 3,
    failed = 4,
    cancelled = 5,
    evicted = 6,
    timed_out = 7
};
ALLOT_ENUMERATORS(FateKind, queued, running, done, failed, cancelled, evicted, timed_out)

/// A task and its state after its last event.
struct Fate {
    TaskId task = TaskId::null();
    FateKind kind = FateKind::queued;
    NodeId node = NodeId::null();  ///< The node where it runs or was done; else null.

    friend auto operator==(const Fate&, const Fate&) noexcept -> bool = default;
};
ALLOT_FIELDS(Fate, task, kind, node)

/// The result of hypothetical commands.
struct WhatIf {
    Events events{};            ///< All of them, in order.
    std::vector<Fate> fates{};  ///< Of each task in the events, ascending by id.
    std::uint32_t refused = 0;  ///< Commands that were refused.
    std::uint32_t queued = 0;   ///< Tasks that wait after the commands.
    std::uint32_t nodes = 0;    ///< Nodes that have not left after the commands.
    std::size_t changed = 0;    ///< Number of changed records.
};
ALLOT_FIELDS(WhatIf, events, fates, refused, queued, nodes, changed)

namespace detail {

/// Reads the fates of tasks from events.
struct FateReader {
    std::vector<Fate>& fates;

    void tell(TaskId task, FateKind kind, NodeId node = NodeId::null()) const {
        const auto at = std::lower_bound(fates.begin(), fates.end(), task,
                                         [](const Fate& a, const TaskId& b) { return a.task < b; });
        if (at != fates.end() && at->task == task) {
            *at = {task, kind, node};
        } else {
            fates.insert(at, {task, kind, node});
        }
    }
    void operator()(const event::TaskQueued& e) const { tell(e.task, FateKind::queued); }
    void operator()(const event::TaskStarted& e) const { tell(e.lease.task, FateKind::running, e.lease.node); }
    void operator()(const event::TaskDone& e) const { tell(e.task, FateKind::done, e.node); }
    void operator()(const event::TaskFailed& e) const { tell(e.task, FateKind::failed); }
    void operator()(const event::TaskCancelled& e) const { tell(e.task, FateKind::cancelled); }
    void operator()(const event::TaskEvicted& e) const { tell(e.task, FateKind::evicted); }
    void operator()(const event::TaskTimedOut& e) const { tell(e.task, FateKind::timed_out); }
    template <class E>
    void operator()(const E&) const {}
};

}  // namespace detail

/// Applies commands at a moment and rolls them back: afterwards the dispatcher is unchanged, bit for bit. Before the
/// rollback it calls `look(dispatcher)`, which may ask any question about the hypothetical state.
/// @complexity the cost of the commands, and as much again for the rollback.
template <class Dispatcher, class Look>
[[nodiscard]] auto what_if(Dispatcher& dispatcher, std::span<const typename Dispatcher::Command> commands,
                           const Moment& moment, Look&& look) -> WhatIf {
    auto result = WhatIf{};
    auto session = dispatcher.session();
    dispatcher.apply(commands, moment, result.events);
    for (const auto& event : result.events) {
        std::visit(detail::FateReader{result.fates}, event);
        result.refused += std::holds_alternative<event::Refused>(event) ? 1U : 0U;
    }
    result.queued = dispatcher.queued();
    result.nodes = dispatcher.state().present();
    for (const auto& section : session.touched()) { result.changed += section.size(); }
    look(std::as_const(dispatcher));
    session.rollback();
    return result;
}

/// The same without a look at the hypothetical state.
/// @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto what_if(Dispatcher& dispatcher, std::span<const typename Dispatcher::Command> commands,
                           const Moment& moment) -> WhatIf {
    return what_if(dispatcher, commands, moment, [](const Dispatcher&) {});
}

/// A task with different fates in two results; none where a result has no event of it.
struct Difference {
    std::optional<Fate> first{};
    std::optional<Fate> second{};

    friend auto operator==(const Difference&, const Difference&) noexcept -> bool = default;
};
ALLOT_FIELDS(Difference, first, second)

/// The tasks with different fates in two results, ascending by id.
/// @complexity linear in the fates.
[[nodiscard]] inline auto differences(const WhatIf& first, const WhatIf& second) -> std::vector<Difference> {
    auto result = std::vector<Difference>{};
    auto a = first.fates.begin();
    auto b = second.fates.begin();
    while (a != first.fates.end() || b != second.fates.end()) {
        const auto only_a = b == second.fates.end() || (a != first.fates.end() && a->task < b->task);
        const auto only_b = !only_a && (a == first.fates.end() || b->task < a->task);
        if (only_a) {
            result.push_back({*a++, std::nullopt});
        } else if (only_b) {
            result.push_back({std::nullopt, *b++});
        } else {
            if (*a != *b) { result.push_back({*a, *b}); }
            ++a;
            ++b;
        }
    }
    return result;
}

}}  // namespace allot::v0

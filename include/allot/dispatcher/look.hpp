#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <allot/core/lease.hpp>
#include <allot/core/node.hpp>
#include <allot/core/task.hpp>
#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// A model that a node holds or was asked to fetch.
struct ModelView {
    std::string_view name{};
    Holding holding = Holding::wanted;
};

/// A node as values that can be shown and sent. Its text belongs to the dispatcher and is valid until the next command.
struct NodeView {
    NodeId id;
    OperatorId operator_id;
    NodeState state = NodeState::left;
    bool excluded = false;   ///< Kept out of draws until its health recovers.
    std::string_view gpu{};  ///< Empty, as the next three, for a node that has left.
    Gibibytes vram{};
    std::string_view platform{};
    SoftwareVersion software{};
    Amount stake{};
    std::uint32_t score_permille = 0;  ///< Its QoS score now, in thousandths, rounded down.
    std::vector<ModelView> models{};   ///< By name.
    std::optional<Lease> lease{};      ///< The lease that it has.
};

/// A task as values that can be shown and sent. For an ended task only `id`, `due_at` and `end` are set.
struct TaskView {
    TaskId id;
    std::optional<OwnerId> owner{};
    TaskState state = TaskState::ended;
    Amount fee{};
    Duration duration_estimate{};
    TimePoint submitted_at{};
    TimePoint due_at{};            ///< The time at which it leaves the queue or, if it has ended, is forgotten; `never`
                                   ///< while it runs.
    std::uint32_t attempts = 0;    ///< Number of its starts.
    std::vector<Lease> leases{};   ///< One per node, by member.
    std::optional<TaskEnd> end{};  ///< Its end, if it has ended.
};

namespace detail {

template <class Dispatcher>
[[nodiscard]] auto view_of(const Dispatcher& d, NodeHandle h) -> NodeView {
    const auto& state = d.state();
    const auto& record = state.nodes()[h];
    const auto& node = record.node;
    auto view = NodeView{node.id, node.operator_id()};
    view.state = node.state;
    view.excluded = node.excluded;
    view.stake = node.stake;
    view.score_permille = d.qos_score(record).permille();
    view.lease = d.lease_of(node.id);
    if (node.present()) {
        const auto& c = state.fits().value(node.node_class);
        view.gpu = c.gpu;
        view.vram = c.vram;
        view.platform = c.platform;
        view.software = c.software;
        for (const auto& held : merged(state.holdings(h), state.wishes(h))) {
            view.models.push_back({state.models().name(held.model), held.holding});
        }
        std::sort(view.models.begin(), view.models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    }
    return view;
}

template <class Dispatcher>
[[nodiscard]] auto view_of(const Dispatcher& d, TaskHandle h) -> TaskView {
    const auto& task = d.state().tasks()[h];
    auto view = TaskView{task.id,           task.notify_to(), task.state,  task.fee, task.duration_estimate,
                         task.submitted_at, task.due_at,      task.attempt};
    if (task.state == TaskState::running) {
        view.due_at = never;
        d.each_lease_of(task.id, [&](const Lease& lease) { view.leases.push_back(lease); });
    }
    return view;
}

template <class Dispatcher>
[[nodiscard]] auto view_of(const Dispatcher& d, EndedHandle h) -> TaskView {
    const auto& task = d.state().ended_tasks()[h];
    auto view = TaskView{task.id};
    view.due_at = task.due_at;
    view.end = d.ended(task.id);
    return view;
}

}  // namespace detail

/// A node that has not been forgotten.
/// @complexity O(log n + models of the node).
template <class Dispatcher>
[[nodiscard]] auto find_node(const Dispatcher& d, NodeId id) -> std::optional<NodeView> {
    const auto h = d.state().nodes().find(id);
    return h ? std::optional{detail::view_of(d, *h)} : std::nullopt;
}

/// A task that has not been forgotten.
/// @complexity O(log n + nodes of the task).
template <class Dispatcher>
[[nodiscard]] auto find_task(const Dispatcher& d, TaskId id) -> std::optional<TaskView> {
    if (const auto h = d.state().tasks().find(id)) { return detail::view_of(d, *h); }
    const auto h = d.state().ended_tasks().find(id);
    return h ? std::optional{detail::view_of(d, *h)} : std::nullopt;
}

/// Calls `f(NodeView)` for each node that has not been forgotten, in an order that is the same on every machine.
/// @complexity linear in the nodes and their models.
template <class Dispatcher, class F>
void each_node(const Dispatcher& d, F&& f) {
    d.state().nodes().for_each([&](NodeHandle h, const auto&) { f(detail::view_of(d, h)); });
}

/// Calls `f(TaskView)` for each task that has not been forgotten, ended tasks last, in an order that is the same on
/// every machine.
/// @complexity linear in the tasks and their nodes.
template <class Dispatcher, class F>
void each_task(const Dispatcher& d, F&& f) {
    d.state().tasks().for_each([&](TaskHandle h, const auto&) { f(detail::view_of(d, h)); });
    d.state().ended_tasks().for_each([&](EndedHandle h, const auto&) { f(detail::view_of(d, h)); });
}

/// Calls `f(Lease)` for each lease, in an order that is the same on every machine.
/// @complexity linear in the leases, and for each one in the nodes of its task.
template <class Dispatcher, class F>
void each_lease(const Dispatcher& d, F&& f) {
    d.state().leases().for_each(
        [&](LeaseHandle, const LeaseRecord& lease) { f(*d.lease(d.state().tasks()[lease.task].id, lease.member)); });
}

/// Settles everything that is due at a Moment, in as many commands as that takes, and calls `f(events)` after each.
/// Call it first after a pause in which more became due than one command settles. Else the first command has the error
/// `Error::advance_first`.
/// @complexity linear in the work that is due.
template <class Dispatcher, class F>
void settle(Dispatcher& d, const Moment& moment, F&& f) {
    for (auto again = true; again;) {
        const auto events = d.advance(moment);
        f(events);
        const auto next = d.next_deadline();
        again = events.accepted() && next && *next <= moment.time;
    }
}

}}  // namespace allot::v0

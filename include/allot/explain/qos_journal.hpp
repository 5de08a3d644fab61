#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include <allot/core/events.hpp>
#include <allot/core/outcome.hpp>
#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// One change of what QoS measures of a node.
struct QosChange {
    TimePoint time{};
    std::optional<OutcomeKind> cause{};  ///< What was heard of; none: it joined again, or the journal missed an event.
    Score before{};                      ///< Its score at that time, the moment before ...
    Score after{};                       ///< ... and the moment after.

    friend auto operator==(const QosChange&, const QosChange&) noexcept -> bool = default;
};

/// Why the score of a node is what it is: its last changes, each with its cause. It stands outside the dispatcher, which knows
/// nothing of it, and no decision depends on it.
///
///     auto journal = allot::QosJournal<decltype(dispatcher)>{dispatcher};
///     journal.hear(dispatcher, dispatcher.complete(lease, moment));
///
/// It plays each outcome through the tracker once more, beside the records, and compares in the end: `missed()` counts the nodes
/// that had changed without an event heard of, as after a session that was rolled back or a command not passed on.
template <class Dispatcher>
class QosJournal {
public:
    /// Begins with what the dispatcher remembers now. @complexity linear in the nodes and leases.
    explicit QosJournal(const Dispatcher& dispatcher, std::size_t changes_max = 16) : changes_max_{changes_max} {
        const auto& state = dispatcher.state();
        state.nodes().for_each([&](NodeHandle, const auto& record) { nodes_[record.node.id].data = record.qos; });
        state.leases().for_each([&](LeaseHandle, const LeaseRecord& lease) {
            started(dispatcher, state.tasks()[lease.task].id, state.nodes()[lease.node].node.id);
        });
    }

    /// Takes in what one `apply` told, in order. @complexity O(log n) for each event.
    void hear(const Dispatcher& dispatcher, const Events& events) {
        auto touched = Nodes{};
        for (const auto& event : events) {
            std::visit([&](const auto& e) { take(dispatcher, e, touched); }, event);
        }
        for (const auto& id : touched) {
            const auto* record = dispatcher.node(id);
            auto& node = nodes_[id];
            if (record != nullptr && !(record->qos == node.data)) {
                ++missed_;
                note(dispatcher, node, std::nullopt, record->qos);
            }
        }
    }

    /// The last changes of a node, oldest first; none for a node nothing was heard of.
    [[nodiscard]] auto changes(NodeId node) const -> std::deque<QosChange> {
        const auto found = nodes_.find(node);
        return found == nodes_.end() ? std::deque<QosChange>{} : found->second.changes;
    }
    /// How often a record differed from what the events had told.
    [[nodiscard]] auto missed() const noexcept -> std::uint64_t { return missed_; }

private:
    using Data = typename Dispatcher::NodeData;
    using Nodes = std::set<NodeId>;

    struct Entry {
        Data data{};
        std::deque<QosChange> changes{};
    };
    struct Running {
        Nodes nodes{};
        Task task{};  ///< As it was when it started: what a failure counts as is the terms' to say.
    };

    template <class E>
    void take(const Dispatcher& d, const E& e, Nodes& touched) {
        if constexpr (std::is_same_v<E, event::NodeJoined>) {
            joined(d, e, touched);
        } else if constexpr (std::is_same_v<E, event::TaskStarted>) {
            started(d, e.lease.task, e.lease.node);
        } else if constexpr (std::is_same_v<E, event::NodeScored>) {
            judged(d, e.node, e.outcome, touched);
        } else if constexpr (std::is_same_v<E, event::TaskDone>) {
            released(d, e.task, OutcomeKind::success, touched);
        } else if constexpr (std::is_same_v<E, event::TaskFailed>) {
            failed(d, e.task, outcome_of(e.cause), touched);
        } else if constexpr (std::is_same_v<E, event::TaskCancelled>) {
            released(d, e.task, OutcomeKind::cancelled, touched);
        } else if constexpr (std::is_same_v<E, event::LeaseDeclined>) {
            released(d, e.lease.task, e.lease.node, OutcomeKind::declined, touched);
        } else if constexpr (std::is_same_v<E, event::LeaseLost>) {
            released(d, e.lease.task, e.lease.node, counted_as(d, e.lease.task, e.outcome), touched);
        } else if constexpr (std::is_same_v<E, event::LeaseWithdrawn>) {
            released(d, e.lease.task, e.lease.node, OutcomeKind::cancelled, touched);
        } else if constexpr (std::is_same_v<E, event::TaskRetried>) {
            failed(d, e.task, e.outcome, touched);
        } else if constexpr (std::is_same_v<E, event::TaskTimedOut>) {
            const auto found = running_.find(e.task);
            const auto in_group = found != running_.end() && found->second.task.group != no_handle<GroupHandle>;
            failed(d, e.task, in_group ? OutcomeKind::timeout_in_group : OutcomeKind::timeout, touched);
        } else if constexpr (std::is_same_v<E, event::NodeSlashed>) {
            // Its task fails or starts over by no verdict on it.
            for (auto& [task, running] : running_) {
                running.nodes.erase(e.node);
            }
            std::erase_if(running_, [](const auto& task) { return task.second.nodes.empty(); });
        }
    }

    void joined(const Dispatcher& d, const event::NodeJoined& e, Nodes& touched) {
        touched.insert(e.node);
        auto& node = nodes_[e.node];
        if (!e.again) {
            node = Entry{};  // its history was forgotten, if it ever had one
        }
        auto data = node.data;
        d.qos().joined(data, d.now());
        if (e.again) {
            note(d, node, std::nullopt, std::move(data));
        } else {
            node.data = std::move(data);
        }
    }
    void started(const Dispatcher& d, TaskId task, NodeId node) {
        const auto* record = d.task(task);
        auto& running = running_[task];
        running.nodes.insert(node);
        running.task = record != nullptr ? *record : Task{};
    }
    void failed(const Dispatcher& d, TaskId task, OutcomeKind outcome, Nodes& touched) {
        released(d, task, counted_as(d, task, outcome), touched);
    }
    [[nodiscard]] auto counted_as(const Dispatcher& d, TaskId task, OutcomeKind outcome) const -> OutcomeKind {
        const auto found = running_.find(task);
        return found != running_.end() ? d.heard(found->second.task, outcome) : outcome;
    }
    /// All leases of a task ended; a task that only waited had none.
    void released(const Dispatcher& d, TaskId task, OutcomeKind outcome, Nodes& touched) {
        if (const auto found = running_.find(task); found != running_.end()) {
            for (const auto& node : found->second.nodes) {
                judged(d, node, {outcome}, touched);
            }
            running_.erase(found);
        }
    }
    /// One of them ended.
    void released(const Dispatcher& d, TaskId task, NodeId node, OutcomeKind outcome, Nodes& touched) {
        const auto found = running_.find(task);
        if (found != running_.end() && found->second.nodes.erase(node) > 0) {
            judged(d, node, {outcome}, touched);
            if (found->second.nodes.empty()) {
                running_.erase(found);
            }
        }
    }
    void judged(const Dispatcher& d, NodeId id, Outcome outcome, Nodes& touched) {
        touched.insert(id);
        auto& node = nodes_[id];
        auto data = node.data;
        (void)d.qos().record(data, outcome, d.now());
        note(d, node, outcome.kind, std::move(data));
    }
    void note(const Dispatcher& d, Entry& node, std::optional<OutcomeKind> cause, Data after) {
        const auto before = std::exchange(node.data, std::move(after));
        if (before == node.data) {
            return;
        }
        node.changes.push_back({d.now(), cause, d.qos().score(before, d.now()), d.qos().score(node.data, d.now())});
        if (node.changes.size() > changes_max_) {
            node.changes.pop_front();
        }
    }

    std::size_t changes_max_;
    std::map<NodeId, Entry> nodes_{};
    std::map<TaskId, Running> running_{};
    std::uint64_t missed_ = 0;
};

}}  // namespace allot::v0

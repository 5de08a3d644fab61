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
#include <allot/core/fields.hpp>
#include <allot/core/outcome.hpp>
#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// One change of a node's QoS data.
struct QoSChange {
    TimePoint time{};
    std::optional<OutcomeKind> cause{};  ///< The outcome; none if the node joined again, its card changed (rule 49), or
                                         ///< the journal missed an event.
    Score before{};                      ///< Its score at that time, before the change ...
    Score after{};                       ///< ... and after it.

    friend auto operator==(const QoSChange&, const QoSChange&) noexcept -> bool = default;
};
ALLOT_FIELDS(QoSChange, time, cause, before, after)

/// The last changes of each node's score, each with its cause. It is outside the dispatcher, which does not depend on
/// it; no decision does.
///
///     auto journal = allot::QoSJournal<decltype(dispatcher)>{dispatcher};
///     journal.hear(dispatcher, dispatcher.complete(lease, moment));
///
/// It passes each outcome to the tracker once more, on a copy of the data, and compares the result with the record.
/// `missed()` counts the nodes that had changed without an event, as after a rolled back session or a command whose
/// events were not passed on.
template <class Dispatcher>
class QoSJournal {
public:
    /// Starts with the dispatcher's current records.
    /// @complexity linear in the nodes.
    explicit QoSJournal(const Dispatcher& dispatcher, std::size_t changes_max = 16) : changes_max_{changes_max} {
        dispatcher.state().nodes().for_each(
            [&](NodeHandle, const auto& record) { nodes_[record.node.id].data = measured(record.qos); });
    }

    /// Takes the events of one `apply`, in order.
    /// @complexity O(log n) for each event.
    void hear(const Dispatcher& dispatcher, const Events& events) {
        auto touched = Nodes{};
        for (const auto& event : events) {
            std::visit([&](const auto& e) { take(dispatcher, e, touched); }, event);
        }
        for (const auto& id : touched) {
            const auto* record = dispatcher.node(id);
            auto& node = nodes_[id];
            if (record != nullptr && !(measured(record->qos) == node.data)) {
                ++missed_;
                note(dispatcher, node, std::nullopt, measured(record->qos));
            }
        }
    }

    /// The last changes of a node, oldest first; empty for a node without events.
    [[nodiscard]] auto changes(NodeId node) const -> std::deque<QoSChange> {
        const auto found = nodes_.find(node);
        return found == nodes_.end() ? std::deque<QoSChange>{} : found->second.changes;
    }
    /// Number of times that a record differed from the result of the events.
    [[nodiscard]] auto missed() const noexcept -> std::uint64_t { return missed_; }

private:
    using Tracker = std::remove_cvref_t<decltype(std::declval<const Dispatcher&>().qos())>;

    /// The tracker that measures service. A rest around it is no verdict and changes no score, so it is left out.
    static auto tracker(const Dispatcher& d) -> const auto& {
        if constexpr (has_service<Tracker>) {
            return d.qos().service();
        } else {
            return d.qos();
        }
    }
    /// The data of that tracker.
    static auto measured(const typename Dispatcher::NodeData& data) -> const auto& {
        if constexpr (has_service<Tracker>) {
            return Tracker::service_of(data);
        } else {
            return data;
        }
    }

    using Data = std::remove_cvref_t<decltype(measured(std::declval<typename Dispatcher::NodeData>()))>;
    using Nodes = std::set<NodeId>;

    struct Entry {
        Data data{};
        std::deque<QoSChange> changes{};
    };
    template <class E>
    void take(const Dispatcher& d, const E& e, Nodes& touched) {
        if constexpr (std::is_same_v<E, event::NodeJoined>) {
            joined(d, e, touched);
        } else if constexpr (std::is_same_v<E, event::NodeUpdated>) {
            touched.insert(e.node);
            carded(d, e.node);
        } else if constexpr (std::is_same_v<E, event::NodeScored>) {
            judged(d, e.node, e.outcome, touched);
        } else if constexpr (std::is_same_v<E, event::LeaseEnded>) {
            if (e.how != event::LeaseEnd::slashed) { judged(d, e.lease.node, {e.outcome}, touched); }
        }
    }

    void joined(const Dispatcher& d, const event::NodeJoined& e, Nodes& touched) {
        touched.insert(e.node);
        auto& node = nodes_[e.node];
        if (!e.again) {
            node = Entry{};  // its history was forgotten, if there was any
        }
        auto data = node.data;
        tracker(d).joined(data, d.now());
        if (e.again) {
            note(d, node, std::nullopt, std::move(data));
            carded(d, e.node);
        } else {
            node.data = std::move(data);
        }
    }
    /// With another card a probation begins anew (rule 49). No event tells it, so the record does.
    void carded(const Dispatcher& d, NodeId id) {
        if constexpr (has_unproven<std::remove_cvref_t<decltype(tracker(d))>>) {
            auto& node = nodes_[id];
            auto data = node.data;
            tracker(d).unproven(data);
            const auto* record = d.node(id);
            if (record != nullptr && measured(record->qos) == data) { note(d, node, std::nullopt, std::move(data)); }
        }
    }
    void judged(const Dispatcher& d, NodeId id, Outcome outcome, Nodes& touched) {
        touched.insert(id);
        auto& node = nodes_[id];
        auto data = node.data;
        (void)tracker(d).record(data, outcome, d.now());
        note(d, node, outcome.kind, std::move(data));
    }
    void note(const Dispatcher& d, Entry& node, std::optional<OutcomeKind> cause, Data after) {
        const auto before = std::exchange(node.data, std::move(after));
        if (before == node.data) { return; }
        node.changes.push_back(
            {d.now(), cause, tracker(d).score(before, d.now()), tracker(d).score(node.data, d.now())});
        if (node.changes.size() > changes_max_) { node.changes.pop_front(); }
    }

    std::size_t changes_max_;
    std::map<NodeId, Entry> nodes_{};
    std::uint64_t missed_ = 0;
};

}}  // namespace allot::v0

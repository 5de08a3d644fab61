#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/dispatching.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// Settles due entries: leases, patience, readmissions, wishes, and records to be forgotten.
template <class... Ps>
class Settling : public Dispatching<Ps...> {
    using Below = Dispatching<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::freed, Below::tell, Below::put, Below::remove, Below::put_wishes, Below::end,
        Below::end_unsuccessfully, Below::give_up, Below::depart, Below::hold;

    /// Settles the entries that are due at the command's time, in deadline order, at most `due_max`, of which a node
    /// with many models takes more than one (`View::effort`). False if more remain (rule 5). Appends the events of
    /// `settle_one`.
    /// @complexity O(due_max · log n), and the cost of the tasks that start over.
    [[nodiscard]] auto settle_due() -> bool {
        for (std::uint32_t settled = 0;;) {
            const auto* due = view.records.due_first();
            if (due == nullptr || TimePoint{Duration{due->time}} > view.records.counters().now) { return true; }
            if (settled >= view.rules->due_max) { return false; }
            settled += effort_of(*due);
            look_ahead();
            settle_one(Due{*due});
        }
    }

    /// Prefetches the records of the entries that may be due next, of each once. When many things are due at one moment
    /// in a large network, most of the time is waiting for their records.
    /// @complexity O(1).
    void look_ahead() {
        if (!view.records.due_has_second()) { return; }
        const auto next = view.records.due_finalists();
        if (!ahead_) { ahead_.emplace(); }
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto is_due = TimePoint{Duration{next[i].time}} <= view.records.counters().now;
            if (is_due && (*ahead_)[i] != next[i]) { look_at(next[i]); }
            (*ahead_)[i] = next[i];
        }
    }

    /// Settles one entry. An overdue lease ends with the events of `end_unsuccessfully`, and a waiting task with
    /// `TaskTimedOut`. An excluded node returns with `NodeReadmitted`. A node that departs gives up models. An ended
    /// task, a group, a departed node, wishes, and models that their node did not report again are forgotten without
    /// an event.
    /// @pre the entry is due.
    /// @complexity O(log n), for wishes and models linear in those of the node, and for a task that ends after several
    /// failures that of `View::forfeit`.
    void settle_one(const Due& due) {
        ALLOT_ASSERT(TimePoint{Duration{due.time}} <= view.records.counters().now,
                     "something is settled before it is due");
        if (due.kind == static_cast<std::uint8_t>(DueKind::lease)) {
            const auto l = LeaseHandle{due.handle};
            const auto& task = view.records.tasks()[view.records.leases()[l].task];
            const auto in_group = task.group != no_handle<GroupHandle>;
            const auto how = TaskEnd{Ending::timed_out, EndCause::lease_deadline,
                                     view.records.nodes()[view.records.leases()[l].node].node.id};
            end_unsuccessfully(l, in_group ? OutcomeKind::timeout_in_group : OutcomeKind::timeout, how, [&] {
                const auto forfeited = view.forfeit(task, Ending::timed_out);
                tell(event::TaskTimedOut{.task = task.id,
                                         .owner = task.notify_to(),
                                         .refunded = task.fee.units - forfeited.units,
                                         .forfeited = forfeited,
                                         .expiry = event::Expiry::execution});
            });
            return;
        }
        if (due.kind == static_cast<std::uint8_t>(DueKind::task)) {
            const auto t = TaskHandle{due.handle};
            const auto& task = view.records.tasks()[t];
            tell(event::TaskTimedOut{
                .task = task.id, .owner = task.notify_to(), .refunded = task.fee, .expiry = event::Expiry::queue});
            end(t, {.ending = Ending::timed_out, .cause = EndCause::queue_deadline});
            return;
        }
        if (due.kind == static_cast<std::uint8_t>(DueKind::ended_task)) {
            remove(EndedHandle{due.handle});
            return;
        }
        if (due.kind == static_cast<std::uint8_t>(DueKind::group)) {
            remove(GroupHandle{due.handle});
            return;
        }
        const auto n = NodeHandle{due.handle};
        if (due.kind == static_cast<std::uint8_t>(DueKind::model)) {
            auto wishes = view.records.wishes(n);
            wishes.erase_if([&](const HeldModel* wish) { return view.is_over(wishes, wish); });
            put_wishes(n, std::move(wishes));
            if (view.models_over(n) > 0) {
                let_expire(n);
                if (view.records.nodes()[n].node.departs() && view.records.holdings(n).empty()) { depart(n); }
            }
            return;
        }
        auto record = view.records.nodes()[n];
        if (record.node.departs()) [[unlikely]] {
            give_up(n, models_gone_due);
            if (view.records.holdings(n).empty()) { depart(n); }
            return;
        }
        if (!record.node.present()) {
            remove(n);
            return;
        }
        record.node.excluded = false;
        record.node.due_at = never;
        tell(event::NodeReadmitted{record.node.id});
        if (record.node.state == NodeState::available) { freed.push_back(n); }
        put(n, std::move(record));
    }

private:
    /// Forgets the models on a node's disk whose time is over, at most `models_gone_due` of them. The node stays due
    /// for the others.
    /// @complexity O(log n) for each, and linear in the models of the node.
    void let_expire(NodeHandle n) {
        auto held = view.records.holdings(n);
        auto left = models_gone_due;
        held.erase_if([&](const HeldModel* model) {
            const auto goes = left > 0 && view.is_over(held, model);
            left -= goes ? 1U : 0U;
            return goes;
        });
        hold(n, std::move(held));
    }

    /// How many entries one counts as: a node becomes a candidate with all its models.
    [[nodiscard]] auto effort_of(const Due& due) const -> std::uint32_t {
        switch (static_cast<DueKind>(due.kind)) {
            case DueKind::lease: return view.effort(view.records.leases()[LeaseHandle{due.handle}].node);
            case DueKind::node: return view.effort_due(NodeHandle{due.handle});
            case DueKind::model: return view.effort_expiring(NodeHandle{due.handle});
            default: return 1;
        }
    }

    /// Prefetches the records that the end of a lease, or of a waiting task, reads.
    void look_at(const Due& due) const noexcept {
        auto t = TaskHandle{due.handle};
        if (due.kind == static_cast<std::uint8_t>(DueKind::lease)) {
            const auto& lease = view.records.leases()[LeaseHandle{due.handle}];
            prefetch(lease);
            prefetch(view.records.nodes()[lease.node]);
            prefetch(view.records.holdings(lease.node));
            t = lease.task;
        } else if (due.kind != static_cast<std::uint8_t>(DueKind::task)) {
            return;
        }
        const auto& task = view.records.tasks()[t];
        prefetch(task);
        view.records.tasks().prefetch(view.records.tasks().hash(task.id));
    }

    std::optional<DueTree<6>::Finalists> ahead_{};  // the entries that `look_ahead` saw last
};

}}  // namespace allot::v0

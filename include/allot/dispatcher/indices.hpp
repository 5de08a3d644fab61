#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include <allot/dispatcher/view/view.hpp>

namespace allot { inline namespace v0 {

/// Keeps the data that follow from the records: the pool, the queue, the tallies, and the policies' parameters.
///
/// `Records` calls it for each change, also for each change that a rollback reverses. No other code changes an index,
/// except `SetAside` for the time of a `match`.
template <class... Ps>
class Indices {
public:
    using Record = typename View<Ps...>::Record;
    using Configuration = typename View<Ps...>::Configuration;

    /// True if the eligibility policy says so.
    static constexpr bool listed_cards_only = allot::listed_cards_only<typename View<Ps...>::Types::Eligibility>;

    /// Works on the indices of `view`, which has to outlive it.
    explicit Indices(View<Ps...>& view) noexcept : view_{view} {}

    /// True if a class fits a requirement, as the eligibility policy says.
    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement& requirement) const -> bool {
        return view_.eligibility.fits(node_class, requirement) == Reason::none;
    }

    /// True if a class of so many active nodes may get tasks (`Rules::class_nodes_min`).
    [[nodiscard]] auto open(std::uint32_t active) const -> bool { return active >= view_.rules->class_nodes_min; }

    /// A node's record changed; null stands for no record.
    /// @complexity that of the pool, and O(log operators).
    void node_changed(NodeHandle h, const Record* before, const Record* after) {
        if constexpr (has_by_operator<typename View<Ps...>::WeightPolicy>) {
            if (after != nullptr && after->node.present()) {
                view_.operators.set(h, after->node.operator_id(), after->node.stake.units);
            } else {
                view_.operators.set(h, OperatorId::null(), u128{0});
            }
        }
        share(h, after);
        listed(h, before != nullptr && view_.is_listed(*before) ? before : nullptr, after);
    }

    /// A node was edited, so its class, slot, stake, operator and presence are the same.
    /// @complexity that of the pool.
    void node_edited(NodeHandle h, const NodeStanding& before, const Record& after) {
        share(h, &after);
        const auto& models = view_.records.holdings(h);
        const auto* const was = view_.is_listed(before) ? &after : nullptr;
        const auto* const is = view_.is_listed(after) ? &after : nullptr;
        if (!models.empty()) {  // the change cannot wait, for it refers to them
            listed(h, was, is);
        } else if (was != nullptr || is != nullptr) {
            view_.late.change(view_.pool, view_.place_before(h, was, models), view_.place(h, is, models));
        }
    }

    /// A node's models changed, or it has its first wish, or lost its last: its bound depends on whether it has any.
    void models_changed(NodeHandle h, const HeldModels& before, const HeldModels& after) {
        const auto& record = view_.records.nodes()[h];
        if (view_.is_listed(record)) {
            view_.settle();
            view_.pool.changed(view_.place_before(h, &record, before), view_.place(h, &record, after));
        }
    }

    /// No node of a class has a model on its disk any more.
    void holders_gone(ModelId model, ClassId node_class) {
        if constexpr (has_gone<typename View<Ps...>::Types::CandidatePool>) {
            view_.settle();
            view_.pool.gone(model, node_class);
        }
    }

    /// No node is of a class any more.
    void class_gone(ClassId node_class) {
        if constexpr (has_class_gone<typename View<Ps...>::Types::CandidatePool>) {
            view_.settle();
            view_.pool.gone(node_class);
        }
    }

    /// No node of a class has a slot from `reach` on, or no holder of a model in a class such a place; and the room for
    /// them was given back.
    void fell(ClassId node_class, std::uint32_t reach) noexcept {
        if constexpr (has_class_trim<typename View<Ps...>::Types::CandidatePool>) {
            view_.pool.trim(node_class, reach);
        }
    }
    void fell(ModelId model, ClassId node_class, std::uint32_t reach) noexcept {
        if constexpr (has_holder_trim<typename View<Ps...>::Types::CandidatePool>) {
            view_.pool.trim(model, node_class, reach);
        }
    }

    /// A task's record changed; null stands for no record.
    /// @complexity that of the queue, and O(log owners).
    void task_changed(TaskHandle h, const Task* before, const Task* after) {
        tally(h, before, after);
        const auto was = before != nullptr && before->state == TaskState::queued;
        const auto is = after != nullptr && after->state == TaskState::queued;
        if (was) { leave_queue(h, *before); }
        if (is) { join_queue(h, *after); }
    }

    /// A task was edited. One that waits before and after keeps its place.
    /// @complexity that of the queue.
    void task_edited(TaskHandle h, const TaskStanding& before, const Task& after) {
        const auto was = before.state == TaskState::queued;
        const auto is = after.state == TaskState::queued;
        if (was && !is) { leave_queue(h, after); }
        if (is && !was) { join_queue(h, after); }
    }

    /// The counters changed: renews the bounds of a stretch of nodes. Where a renewal begins or is complete, no bound
    /// changes.
    /// @complexity linear in the stretch, with the pool's cost for each node.
    void counters_changed(const Counters& before, const Counters& after) {
        const auto& was = before.ceilings;
        const auto& is = after.ceilings;
        if (was.renewed != is.renewed && was.from == is.from && was.to == is.to) {
            rebuild(std::min(was.renewed, is.renewed), std::max(was.renewed, is.renewed));
        }
    }

    /// Gives the parameters to the policies that take their type, then adapts every index to the new rules. The first
    /// policy gets the first parameters, and so on; all others get the last.
    /// @pre there are some, of one type.
    /// @complexity O(n log n) for n nodes and tasks.
    void configured(std::span<const Configuration> each) {
        view_.settle();
        // The order of the queue and the quota depend on the rules. So tasks are taken out under the old ones and put
        // in again under the new ones.
        const auto* const rules = std::get_if<RulesParameters>(&each.front());
        const auto moves = view_.tasks_out ||
                           (rules != nullptr && (rules->value_doubles_in != view_.rules->value_doubles_in ||
                                                 (rules->narrowing == Narrowing::gate) != view_.gates() ||
                                                 view_.has_quota(*rules) != view_.has_quota(view_.rules.parameters())));
        const auto each_task = [&](bool in) {
            view_.records.tasks().for_each(
                [&](TaskHandle h, const Task& task) { task_changed(h, in ? nullptr : &task, in ? &task : nullptr); });
        };
        view_.tasks_out = moves;
        if (moves) { each_task(false); }
        std::visit(
            [&]<class Parameters>(const Parameters&) {
                auto next = std::size_t{0};
                Parts<Ps...>::each_of(view_, [&](auto& policy) {
                    detail::each_configured_by<Parameters>(policy, [&](auto& one) {
                        one.configure(std::get<Parameters>(each[std::min(next++, each.size() - 1)]));
                    });
                });
            },
            each.front());
        if (moves) { each_task(true); }
        view_.tasks_out = false;
        view_.records.refit(*this);
        rebuild(0, view_.records.nodes().reach());
        view_.records.nodes().for_each([&](NodeHandle h, const Record& record) { share(h, &record); });
    }

private:
    /// Brings the pool up to date. `before` has the node's old place; null if it had none.
    void listed(NodeHandle h, const Record* before, const Record* after) {
        const auto is = after != nullptr && view_.is_listed(*after);
        if (before != nullptr || is) {
            const auto& models = view_.records.holdings(h);
            view_.settle();
            view_.pool.changed(view_.place_before(h, before, models), view_.place(h, is ? after : nullptr, models));
        }
    }

    void join_queue(TaskHandle h, const Task& task) {
        view_.queue.push(view_.entry_of(h, task));
        if (task.group != no_handle<GroupHandle>) { view_.grouped.push(task.group, view_.entry_of(h, task)); }
        if (view_.gates()) { view_.gated.push(view_.entry_of(h, task), task.models()); }
    }
    void leave_queue(TaskHandle h, const Task& task) {
        view_.queue.erase(view_.entry_of(h, task));
        view_.queue_fell = true;
        if (task.group != no_handle<GroupHandle>) { view_.grouped.erase(task.group, view_.entry_of(h, task)); }
        if (view_.gates()) { view_.gated.erase(view_.entry_of(h, task)); }
    }

    /// Counts a task for its owner, if there is a quota.
    void tally(TaskHandle h, const Task* before, const Task* after) {
        if (!view_.has_quota(view_.rules.parameters())) { return; }
        if (after != nullptr) {
            view_.owners.add(h, after->owner());
        } else if (before != nullptr) {
            view_.owners.remove(h, before->owner());
        }
    }

    /// Counts a node for the shares of the requirements that its class fits, if the queue has shares.
    void share([[maybe_unused]] NodeHandle h, [[maybe_unused]] const Record* record) {
        if constexpr (has_share<typename View<Ps...>::Types::TaskQueue>) {
            view_.shared.set(h, record != nullptr && view_.has_share_of_queue(*record) ? record->node.node_class
                                                                                       : no_handle<ClassId>);
        }
    }

    /// Computes the bounds of a stretch of handles anew.
    void rebuild(std::uint32_t first, std::uint32_t end) {
        for (auto h = NodeHandle{first}; h.value < end; ++h.value) {
            const auto* record = view_.records.nodes().find_record(h);
            if (record != nullptr && view_.is_listed(*record)) {
                const auto place_now = view_.place(h, record, view_.records.holdings(h));
                view_.settle();
                view_.pool.changed(place_now, place_now);
            }
        }
    }

    View<Ps...>& view_;
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/store/digest.hpp>

namespace allot { inline namespace v0 {

/// The indices that live in policies, kept in step with the records: the one place where pool and queue change.
template <class... Ps>
struct Dispatcher<Ps...>::Followers {
    Dispatcher& hub;

    [[nodiscard]] auto fits(const NodeClass& node_class, const Requirement& requirement) const -> bool {
        return hub.eligibility_.fits(node_class, requirement) == Reason::none;
    }

    void node_changed(NodeHandle h, const Record* before, const Record* after) {
        const auto was = before != nullptr && is_candidate(*before);
        const auto is = after != nullptr && is_candidate(*after);
        if (was || is) {
            const auto& models = hub.state_.holdings(h);
            hub.pool_.changed(was && hub.state_.undoing() ? taken_back(h, *before, models)
                                                          : hub.place(h, was ? before : nullptr, models),
                              hub.place(h, is ? after : nullptr, models));
        }
    }

    /// The place of a record that a rollback removes. One whose weight cannot be computed never came into the pool.
    [[nodiscard]] auto taken_back(NodeHandle h, const Record& record, std::span<const HeldModel> models) const -> NodePlace {
        try {
            return hub.place(h, &record, models);
        } catch (...) {
            return {h, record.node.node_class, record.node.slot, 0, 0, models};
        }
    }

    void models_changed(NodeHandle h, const std::vector<HeldModel>& before, const std::vector<HeldModel>& after) {
        const auto& record = hub.state_.nodes()[h];
        if (is_candidate(record)) {
            hub.pool_.changed(hub.place(h, &record, before), hub.place(h, &record, after));
        }
    }

    void task_changed(TaskHandle h, const Task* before, const Task* after) {
        const auto was = before != nullptr && before->state == TaskState::queued;
        const auto is = after != nullptr && after->state == TaskState::queued;
        if (was) {
            hub.queue_.erase(hub.entry_of(h, *before));
        }
        if (is) {
            hub.queue_.push(hub.entry_of(h, *after));
        }
    }

    void counters_changed(const Counters& before, const Counters& after) {
        if (before.ceiling != after.ceiling) {
            hub.rebuild();
        }
    }

    void configured(const Configuration& configuration) { hub.configured(configuration); }
};

template <class... Ps>
auto Dispatcher<Ps...>::is_candidate(const Record& record) -> bool {
    return record.node.state == NodeState::available && !record.node.excluded;
}

/// Upper bounds of a candidate's weight: the best score it can reach before the next verdict, and the best locality the frame
/// allows. Stored for the ceiling of the largest stake, and so they stay right while that moves below it (DESIGN: T(A) = W·A is
/// monotone in A).
template <class... Ps>
auto Dispatcher<Ps...>::bounds(const Record& record) const -> Bounds {
    if constexpr (!monotone_weight<WeightPolicy>) {
        return {1, 1};  // only says "a candidate": without bounds every draw is an exact scan
    } else {
        const auto ceiling = std::max(state_.counters().ceiling, ceil_power_of_two(record.node.stake_root));
        const auto bound = [&](Boost boost) {
            const auto factors = Factors{record.node.stake_root, ceiling, qos_.score_max(record.qos), boost.num, boost.den};
            return bound_of(weight_.weight(record.node, blank_, factors));
        };
        const auto local = bound(best_boost());
        // Whoever holds a model stands in the narrowed frame; beside it M = 1, unless only holders of all models count there.
        const auto plain = rules_->narrowing == Narrowing::all ? local : bound({});
        return {plain, local};
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::place(NodeHandle h, const Record* record, std::span<const HeldModel> models) const -> NodePlace {
    const auto& where = state_.nodes()[h].node;
    if (record == nullptr) {
        return {h, where.node_class, where.slot, 0, 0, models};
    }
    const auto bound = bounds(*record);
    return {h, record->node.node_class, record->node.slot, bound.plain, bound.local, models};
}

template <class... Ps>
auto Dispatcher<Ps...>::best_boost() const -> Boost {
    return {std::uint64_t{rules_->boost_unit} + rules_->boost_on_disk + rules_->boost_in_use, rules_->boost_unit};
}

/// M = 1 + 0.7 · local/total + 0.3 · in use/total (seed 001, "Model Locality Boost"), as an exact rational.
template <class... Ps>
auto Dispatcher<Ps...>::boost(NodeHandle h, const Task& task) const -> Boost {
    if (task.models.empty()) {
        return {};
    }
    auto extra = std::uint64_t{0};
    for (const auto model : task.models) {
        const auto* held = holds(h, model);
        if (held != nullptr && held->on_disk()) {
            extra += rules_->boost_on_disk + (held->holding == Holding::in_use ? rules_->boost_in_use : 0U);
        }
    }
    const auto unit = std::uint64_t{rules_->boost_unit} * task.models.size();
    return {unit + extra, unit};
}

/// The weight now, rescaled to the ceiling that bounds are stored for.
template <class... Ps>
auto Dispatcher<Ps...>::weight_now(const Record& record, const Task& task, Boost boost) const -> Weight {
    const auto stake_root_max = state_.stake_root_max();
    const auto score = qos_.score(record.qos, state_.counters().now);
    const auto factors = Factors{record.node.stake_root, stake_root_max, score, boost.num, boost.den};
    const auto weight = weight_.weight(record.node, task, factors);
    if constexpr (monotone_weight<WeightPolicy>) {
        return weight.is_zero() ? weight : at_stake_root_ceiling(weight, stake_root_max, state_.counters().ceiling);
    } else {
        return weight;
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::admits(const Record& record, const Task& task) const -> Reason {
    const auto& node = record.node;
    auto same_operator = false;
    if (task.group != no_handle<GroupHandle>) {
        for (const auto& member : state_.groups()[task.group].members) {
            same_operator = same_operator || member.node == node.id || member.operator_id == node.operator_id;
        }
    }
    const auto avoided = std::find(task.avoided.begin(), task.avoided.end(), node.id) != task.avoided.end();
    return eligibility_.admits(node, task, Situation{state_.counters().now, state_.fits().value(node.node_class),
                                                     state_.fits().value(task.requirement), avoided, same_operator});
}

template <class... Ps>
auto Dispatcher<Ps...>::holds(NodeHandle h, ModelId model) const -> const HeldModel* {
    const auto& held = state_.holdings(h);
    const auto found = std::lower_bound(held.begin(), held.end(), model,
                                        [](const HeldModel& a, ModelId b) { return a.model < b; });
    return found != held.end() && found->model == model ? &*found : nullptr;
}

template <class... Ps>
auto Dispatcher<Ps...>::holds_all(NodeHandle h, const Task& task) const -> bool {
    return std::all_of(task.models.begin(), task.models.end(), [&](ModelId model) {
        const auto* held = holds(h, model);
        return held != nullptr && held->on_disk();
    });
}

template <class... Ps>
auto Dispatcher<Ps...>::entry_of(TaskHandle h, const Task& task) const -> QueueEntry {
    return {h, task.requirement, task.value, task.sequence};
}

template <class... Ps>
auto Dispatcher<Ps...>::requirement_of(const TaskSpec& spec) const -> Requirement {
    auto requirement = Requirement{spec.vram_min, spec.gpus, spec.platforms, spec.software};
    const auto canonical = [](auto& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    canonical(requirement.gpus);
    canonical(requirement.platforms);
    const auto by_name_only = [](const GpuChoice& choice) { return choice.vram == Gibibytes{}; };
    if (!requirement.gpus.empty() && std::none_of(requirement.gpus.begin(), requirement.gpus.end(), by_name_only)) {
        requirement.vram_min = {};  // exact cards overrule it, so it must not split the group
    }
    return requirement;
}

template <class... Ps>
auto Dispatcher<Ps...>::lease_value(LeaseHandle h) const -> Lease {
    const auto& record = state_.leases()[h];
    return {state_.tasks()[record.task].id, state_.nodes()[record.node].node.id, record.token, 0, 1, record.deadline};
}

/// A renewal counts from now, up to the longest life of a lease (rule 6).
template <class... Ps>
auto Dispatcher<Ps...>::renewed_until(LeaseHandle h) const -> TimePoint {
    const auto& lease = state_.leases()[h];
    const auto& node = state_.nodes()[lease.node].node;
    const auto& task = state_.tasks()[lease.task];
    return std::min(state_.counters().now + terms_.length(node, task), lease.started_at + terms_.length_max(node, task));
}

template <class... Ps>
auto Dispatcher<Ps...>::present_node(NodeId id) const -> std::optional<NodeHandle> {
    const auto h = state_.nodes().find(id);
    return h && state_.nodes()[*h].node.present() ? h : std::nullopt;
}

template <class... Ps>
auto Dispatcher<Ps...>::node(NodeId id) const -> const Record* {
    const auto h = state_.nodes().find(id);
    return h ? &state_.nodes()[*h] : nullptr;
}

template <class... Ps>
auto Dispatcher<Ps...>::task(TaskId id) const -> const Task* {
    const auto h = state_.tasks().find(id);
    return h ? &state_.tasks()[*h] : nullptr;
}

template <class... Ps>
auto Dispatcher<Ps...>::next_deadline() const noexcept -> std::optional<TimePoint> {
    const auto* due = state_.due_first();
    return due == nullptr ? std::nullopt : std::optional{TimePoint{Duration{due->time}}};
}

template <class... Ps>
auto Dispatcher<Ps...>::digest() const -> std::uint64_t {
    return digest_of(state_);
}

}}  // namespace allot::v0

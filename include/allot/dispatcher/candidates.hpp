#pragma once

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

// Who could have been chosen, counted one by one from the records: what a receipt states and an explanation tells. No index is
// asked, so that these are also a second opinion on what the indices decide.

template <class... Ps>
void Dispatcher<Ps...>::witnessed(const Choice& choice, const Step& step) const {
    if (step.witness.sees != nullptr) {
        step.witness.sees(step.witness.self, *this, choice);
    }
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_candidate(const Task& task, F&& f) const {
    const auto each = [&](bool narrowed, auto&& g) {
        state_.nodes().for_each([&](NodeHandle h, const Record& record) {
            if (!is_candidate(record) || !state_.fits().fit(record.node.node_class, task.requirement) ||
                (narrowed && !narrows_to(h, task)) || admits(record, task) != Reason::none) {
                return;
            }
            if (const auto weight = weight_now(record, task, boost(h, task)); !weight.is_zero()) {
                g(h, weight);
            }
        });
    };
    auto holders = std::uint32_t{0};
    if (!task.models.empty()) {
        each(true, [&](NodeHandle, Weight) { ++holders; });
    }
    const auto gate = !task.models.empty() && rules_->narrowing == Narrowing::gate;
    each(gate || holders >= rules_->narrow_from, f);
}

template <class... Ps>
auto Dispatcher<Ps...>::weight(NodeHandle node, const Task& task, Score score) const -> Weight {
    return weight_with(state_.nodes()[node], task, boost(node, task), score);
}

template <class... Ps>
auto Dispatcher<Ps...>::admission(NodeHandle node, const Task& task, const Requirement& requirement) const -> Reason {
    return admits(state_.nodes()[node], task, requirement);
}

template <class... Ps>
auto Dispatcher<Ps...>::narrows_to(NodeHandle node, const Task& task) const -> bool {
    if (task.models.empty() || rules_->narrowing != Narrowing::any) {
        return !task.models.empty() && holds_all(node, task);
    }
    return std::any_of(task.models.begin(), task.models.end(), [&](ModelId model) {
        const auto* held = holds(node, model);
        return held != nullptr && held->on_disk();
    });
}

template <class... Ps>
auto Dispatcher<Ps...>::record_of(const TaskSpec& spec) const -> Task {
    auto task = task_of(spec);
    const auto requirement = requirement_of(spec);
    const auto known = state_.fits().requirements().find(requirement);
    task.requirement = known ? RequirementId{*known} : no_handle<RequirementId>;
    auto names = spec.models;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const auto& name : names) {
        task.models.push_back(state_.models().find(name).value_or(no_handle<ModelId>));
    }
    task.value = valuation_.value(task, requirement);
    if (spec.group) {
        task.group = state_.groups().find(*spec.group).value_or(no_handle<GroupHandle>);
    }
    task.state = TaskState::queued;
    task.due_at = state_.counters().now + std::max(Duration{1}, terms_.patience(task));
    return task;
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_fetcher(const Task& task, ModelId model, F&& f) const {
    state_.nodes().for_each([&](NodeHandle h, const Record& record) {
        if (!is_candidate(record) || !state_.fits().fit(record.node.node_class, task.requirement)) {
            return;
        }
        if (const auto weight = fetch_weight(h, task, model); !weight.is_zero()) {
            f(h, weight);
        }
    });
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_runnable(NodeHandle node, F&& f) const {
    const auto node_class = state_.nodes()[node].node.node_class;
    state_.tasks().for_each([&](TaskHandle h, const Task& task) {
        if (task.state == TaskState::queued && state_.fits().fit(node_class, task.requirement) && can_run(node, task)) {
            f(h, task);
        }
    });
}

}}  // namespace allot::v0

#pragma once

#include <algorithm>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/gang_tally.hpp>

namespace allot { inline namespace v0 {

// Who could have been chosen, counted one by one from the records: what a receipt states and an explanation tells. No index is
// asked, so that these are also a second opinion on what the indices decide.

template <class... Ps>
void Dispatcher<Ps...>::traced(const Decision& choice, const Step& step) const {
    if (step.trace.sees != nullptr) {
        step.trace.sees(step.trace.self, *this, choice);
    }
}

/// Calls `f(node, weight)` for those candidates of a task that `allowed(node)`, narrowed as a draw among them would be.
template <class... Ps>
template <class Allowed, class F>
void Dispatcher<Ps...>::each_among(const Task& task, const Allowed& allowed, F&& f) const {
    const auto each = [&](bool narrowed, auto&& g) {
        state_.nodes().for_each([&](NodeHandle h, const Record& record) {
            if (!is_candidate(record) || !state_.fits().fit(record.node.node_class, task.requirement) || !allowed(h) ||
                (task.pinned() && task.pinned_to != h) || (narrowed && !narrows_to(h, task)) ||
                admits(record, task) != Reason::none) {
                return;
            }
            if (const auto weight = weight_now(record, task, boost(h, task)); !weight.is_zero()) {
                g(h, weight);
            }
        });
    };
    const auto wanted = holders_to_narrow(task);
    auto holders = std::uint32_t{0};
    if (wanted) {
        each(true, [&](NodeHandle, Weight) { ++holders; });
    }
    each(wanted && holders >= *wanted, f);
}

/// Of a gang, whoever has not enough others of its card beside it is no candidate.
template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_candidate(const Task& task, F&& f) const {
    const auto& asked = state_.fits().value(task.requirement);
    if (asked.gang_size == 1) {
        each_among(task, [](NodeHandle) { return true; }, f);
        return;
    }
    auto tally = GangTally{asked, task.group != no_handle<GroupHandle>};
    state_.nodes().for_each([&](NodeHandle h, const Record& record) {
        if (is_candidate(record) && state_.fits().fit(record.node.node_class, task.requirement) && can_run(h, task)) {
            tally.add(record.node, state_.fits().value(record.node.node_class));
        }
    });
    each_among(task, [&](NodeHandle h) { return tally.enough(state_.fits().value(state_.nodes()[h].node.node_class)); }, f);
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_candidate(const Decision& choice, F&& f) const {
    if (choice.chosen.empty()) {
        each_candidate(choice.task, f);
        return;
    }
    const auto class_of = [&](NodeHandle h) -> const NodeClass& {
        return state_.fits().value(state_.nodes()[h].node.node_class);
    };
    const auto chosen = Gang{choice.chosen.begin(), choice.chosen.end()};
    const auto same_card = state_.fits().value(choice.task.requirement).same_card;
    each_among(choice.task, [&](NodeHandle h) {
        const auto& own = class_of(h);
        const auto& first = class_of(chosen.front().node);
        return joins(h, choice.task, chosen) &&
               (same_card ? own.gpu == first.gpu && own.vram == first.vram
                          : !choice.beside || own.vram == class_of(choice.drawn.node).vram);
    }, f);
}

template <class... Ps>
auto Dispatcher<Ps...>::weight(NodeHandle node, const Task& task, const Requirement& requirement, Score score) const -> Weight {
    return weight_with(state_.nodes()[node], task, &requirement, boost(node, task), score);
}

template <class... Ps>
auto Dispatcher<Ps...>::admission(NodeHandle node, const Task& task, const Requirement& requirement) const -> Reason {
    return admits(state_.nodes()[node], task, requirement);
}

template <class... Ps>
auto Dispatcher<Ps...>::narrows_to(NodeHandle node, const Task& task) const -> bool {
    if (rules_->narrowing == Narrowing::none) {
        return false;
    }
    if (task.models.empty() || rules_->narrowing != Narrowing::any) {
        return !task.models.empty() && holds_all(node, task);
    }
    return std::any_of(task.models.begin(), task.models.end(), [&](ModelId model) {
        const auto* held = holds(node, model);
        return held != nullptr && held->on_disk();
    });
}

template <class... Ps>
auto Dispatcher<Ps...>::holders_to_narrow(const Task& task) const -> std::optional<std::uint32_t> {
    if (task.models.empty() || task.pinned() || rules_->narrowing == Narrowing::none) {
        return std::nullopt;
    }
    return rules_->narrowing == Narrowing::gate ? 0 : rules_->narrow_from;
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
auto Dispatcher<Ps...>::has_gang(NodeHandle node, const Task& task) const -> bool {
    return gang_size(task) == 1 || !gang_of(node, task, Entropy{}).empty();  // who it is depends on lots, but not whether
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
        if (task.state == TaskState::queued && state_.fits().fit(node_class, task.requirement) && can_run(node, task) &&
            has_gang(node, task)) {
            f(h, task);
        }
    });
}

}}  // namespace allot::v0

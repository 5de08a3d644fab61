#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/task.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/core/weight.hpp>
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/view/gang_tally.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Number of nodes or tasks to which a reason applies.
struct ReasonCount {
    Reason reason = Reason::none;
    std::uint32_t count = 0;

    friend auto operator==(const ReasonCount&, const ReasonCount&) noexcept -> bool = default;
};
ALLOT_FIELDS(ReasonCount, reason, count)

/// A task as explanations use it: its record, or the record that it would have if queued now, and its requirement.
struct Question {
    Task task{};
    Requirement requirement{};
    bool in_group = false;  ///< Of a validation group, also of one that is not known yet; the nodes of its gang have
                            ///< different operators.
};

/// The question of a task that waits or runs. A running task is treated as if it were drawn once more.
/// @return the question, or the error `task_unknown`; or `task_ended` for a task whose requirement is no longer
/// recorded.
template <class Dispatcher>
[[nodiscard]] auto question(const Dispatcher& dispatcher, TaskId id) -> Result<Question> {
    const auto* task = dispatcher.task(id);
    if (task == nullptr) { return Failure{dispatcher.ended(id) ? Error::task_ended : Error::task_unknown}; }
    return Question{*task, dispatcher.state().fits().value(task->requirement), task->group != no_handle<GroupHandle>};
}

/// The question of a task that is not submitted. Nothing is interned: the state stays unchanged.
/// @return the question, or the error with which `submit` would refuse the task.
template <class Dispatcher>
[[nodiscard]] auto question(const Dispatcher& dispatcher, const TaskSpec& spec) -> Result<Question> {
    if (const auto error = dispatcher.check(command::Submit{spec})) { return Failure{*error}; }
    return Question{dispatcher.view().record_of(spec), dispatcher.view().requirement_of(spec), spec.group.has_value()};
}

namespace detail {

/// A counter for each reason.
class ReasonCounts {
public:
    [[nodiscard]] auto operator[](Reason reason) noexcept -> std::uint32_t& {
        return counts_[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] auto operator[](Reason reason) const noexcept -> std::uint32_t {
        return counts_[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] auto sum() const noexcept -> std::uint32_t {
        auto sum = std::uint32_t{0};
        for (const auto count : counts_) { sum += count; }
        return sum;
    }
    /// The reasons that apply, in the order of `Reason`.
    [[nodiscard]] auto rows() const -> std::vector<ReasonCount> {
        auto rows = std::vector<ReasonCount>{};
        for (std::size_t i = 1; i < counts_.size(); ++i) {
            if (counts_[i] > 0) { rows.push_back({static_cast<Reason>(i), counts_[i]}); }
        }
        return rows;
    }

private:
    std::array<std::uint32_t, 256> counts_{};
};

/// The reason why each class in use does not fit a requirement, by class.
template <class Dispatcher>
[[nodiscard]] auto reasons_of_classes(const Dispatcher& d, const Requirement& requirement) -> std::vector<Reason> {
    auto reasons = std::vector<Reason>{};
    for (const auto id : d.state().fits().all_classes()) {
        reasons.resize(std::size_t{id.value} + 1, Reason::none);
        reasons[id.value] = d.view().fitness(id, requirement);
    }
    return reasons;
}

/// The reason why a node takes no task at all; exclusion is not considered.
[[nodiscard]] inline auto reason_of_state(const Node& node) noexcept -> Reason {
    switch (node.state) {
        case NodeState::available: return Reason::none;
        case NodeState::busy: return node.kicked_out ? Reason::pending : Reason::busy;
        case NodeState::pending_pause:
        case NodeState::pending_leave: return Reason::pending;
        case NodeState::paused:
        case NodeState::left:
        case NodeState::departing:
        case NodeState::departing_free: break;
    }
    return Reason::paused;
}

/// The reason why a free node of a fitting class and this score would not take a task; its models are not considered.
/// The one node of a pinned task takes it with any score.
template <class Dispatcher>
[[nodiscard]] auto refusal(const Dispatcher& d, NodeHandle h, const Question& question, Score score) -> Reason {
    if (question.task.pinned()) { return question.task.pinned_to == h ? Reason::none : Reason::pinned; }
    return d.view().has_no_weight(h, question.task, question.requirement, score)
               ? Reason::zero_weight
               : d.view().admission(h, question.task, question.requirement);
}
/// The same with the node's own score.
template <class Dispatcher>
[[nodiscard]] auto refusal(const Dispatcher& d, NodeHandle h, const Question& question) -> Reason {
    return refusal(d, h, question, d.qos_score(d.state().nodes()[h]));
}

/// The first reason why a node does not take a task: `pinned`, then the others in the order of `Reason`. Narrowing is
/// not considered. `fits` is the reason of its class.
template <class Dispatcher>
[[nodiscard]] auto first_reason(const Dispatcher& d, NodeHandle h, const Question& question, Reason fits) -> Reason {
    const auto& node = d.state().nodes()[h].node;
    const auto pinned = question.task.pinned();
    if (pinned && question.task.pinned_to != h) { return Reason::pinned; }
    if (const auto reason = reason_of_state(node); reason != Reason::none) { return reason; }
    if (fits != Reason::none || (node.excluded && !pinned)) { return fits != Reason::none ? fits : Reason::excluded; }
    return refusal(d, h, question);
}

/// The reason that applies to nodes without the models, if `holders` nodes with them can be drawn. `classes` are those
/// that fit, and `assumed` is a node that counts as a candidate.
template <class Dispatcher>
[[nodiscard]] auto reason_of_narrowing(const Dispatcher& d, const Task& task, std::uint32_t holders,
                                       std::span<const ClassId> classes = {},
                                       NodeHandle assumed = no_handle<NodeHandle>) -> Reason {
    const auto wanted = d.view().holders_to_narrow(task);
    if (!wanted || holders < *wanted || !d.view().holders_weigh_enough(task, classes, assumed)) { return Reason::none; }
    return *wanted == 0 ? Reason::models_missing : Reason::narrowed_out;
}

/// The reason why a free node of a fitting class would not take a task by itself: as `refusal`, or the models that it
/// must hold.
template <class Dispatcher>
[[nodiscard]] auto refusal_alone(const Dispatcher& d, NodeHandle h, const Question& question) -> Reason {
    if (const auto reason = refusal(d, h, question); reason != Reason::none) { return reason; }
    const auto without = reason_of_narrowing(d, question.task, 0);
    return without == Reason::none || d.view().narrows_to(h, question.task) ? Reason::none : without;
}

/// A node to be treated as if it were available and not excluded, possibly with another score.
struct AsFree {
    NodeHandle node = no_handle<NodeHandle>;
    const Score* score = nullptr;  ///< Another score; null for its own.

    template <class Dispatcher>
    [[nodiscard]] auto score_of(const Dispatcher& d, NodeHandle h) const -> Score {
        return h == node && score != nullptr ? *score : d.qos_score(d.state().nodes()[h]);
    }
};

/// The nodes that could run a task now, and whose card has enough of them for its gang. Models that only narrow are not
/// considered.
struct Able {
    struct Found {
        NodeHandle node;
        bool narrows;
    };
    std::vector<Found> found{};
    std::vector<ClassId> classes{};  ///< Those that fit.
    NodeHandle assumed;              ///< A node that counts as a candidate.
    GangTally tally;
    bool alone;

    /// True if a node of this class has enough others for the gang.
    [[nodiscard]] auto enough(const NodeClass& node_class) const -> bool { return alone || tally.enough(node_class); }
};

/// The able nodes for a question.
/// @complexity linear in the nodes.
template <class Dispatcher>
[[nodiscard]] auto able_nodes(const Dispatcher& d, const Question& question, const AsFree& as_free = {}) -> Able {
    const auto alone = question.requirement.gang_size == 1;
    auto able = Able{{}, {}, as_free.node, GangTally{question.requirement, question.in_group}, alone};
    const auto fits = reasons_of_classes(d, question.requirement);
    for (const auto id : d.state().fits().all_classes()) {
        if (fits[id.value] == Reason::none) { able.classes.push_back(id); }
    }
    const auto without = reason_of_narrowing(d, question.task, 0);
    d.state().nodes().for_each([&](NodeHandle h, const auto& record) {
        const auto& node = record.node;
        const auto shut_out = node.excluded && !question.task.pinned();
        const auto free = h == as_free.node || (reason_of_state(node) == Reason::none && !shut_out);
        if (!free || !node.present() || fits[node.node_class.value] != Reason::none ||
            refusal(d, h, question, as_free.score_of(d, h)) != Reason::none) {
            return;
        }
        able.found.push_back({h, d.view().narrows_to(h, question.task)});
        if (!alone && (able.found.back().narrows || without == Reason::none)) {
            able.tally.add(node, d.state().fits().value(node.node_class));
        }
    });
    std::erase_if(able.found, [&](const Able::Found& one) {
        return !able.enough(d.state().fits().value(d.state().nodes()[one.node].node.node_class));
    });
    return able;
}

/// The reason that applies to those of the able nodes that do not hold the models.
template <class Dispatcher>
[[nodiscard]] auto reason_of_others(const Dispatcher& d, const Question& question, const Able& able) -> Reason {
    const auto holders =
        std::count_if(able.found.begin(), able.found.end(), [](const Able::Found& one) { return one.narrows; });
    return reason_of_narrowing(d, question.task, static_cast<std::uint32_t>(holders), able.classes, able.assumed);
}

/// Calls `f(node, weight)` for each node that a draw for the question could choose, in the order of the records.
/// @complexity linear in the nodes.
template <class Dispatcher, class F>
void each_drawable(const Dispatcher& d, const Question& question, const AsFree& as_free, F&& f) {
    const auto able = able_nodes(d, question, as_free);
    const auto others = reason_of_others(d, question, able);
    for (const auto& [h, narrows] : able.found) {
        if (narrows || others == Reason::none) {
            f(h, d.view().weight_at_score(h, question.task, question.requirement, as_free.score_of(d, h)));
        }
    }
}

}  // namespace detail

/// The first reason why a node cannot have a task now, `none` if it can: `pinned` before all, models and gang last.
/// @return the reason, or the error `node_unknown` for a node that is unknown or has left.
/// @complexity linear in the nodes if it depends on the models of others or on a gang, else constant.
template <class Dispatcher>
[[nodiscard]] auto why_not(const Dispatcher& dispatcher, const Question& question, NodeId node) -> Result<Reason> {
    const auto h = dispatcher.state().nodes().find(node);
    if (!h || !dispatcher.state().nodes()[*h].node.present()) { return Failure{Error::node_unknown}; }
    const auto class_id = dispatcher.state().nodes()[*h].node.node_class;
    const auto& node_class = dispatcher.state().fits().value(class_id);
    const auto fits = dispatcher.view().fitness(class_id, question.requirement);
    if (const auto reason = detail::first_reason(dispatcher, *h, question, fits); reason != Reason::none) {
        return reason;
    }
    const auto without = detail::reason_of_narrowing(dispatcher, question.task, 0);
    const auto narrows = dispatcher.view().narrows_to(*h, question.task);
    const auto stays = narrows || !dispatcher.view().holders_to_narrow(question.task);
    if (stays && question.requirement.gang_size == 1) { return Reason::none; }
    const auto able = detail::able_nodes(dispatcher, question);
    if (!able.enough(node_class)) { return narrows || without == Reason::none ? Reason::gang_short : without; }
    return stays ? Reason::none : detail::reason_of_others(dispatcher, question, able);
}

}}  // namespace allot::v0

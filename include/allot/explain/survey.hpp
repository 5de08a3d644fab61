#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/task.hpp>
#include <allot/core/value_fields.hpp>
#include <allot/core/weight.hpp>
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/gang_tally.hpp>
#include <allot/result.hpp>
#include <allot/weight/harmonic_weight.hpp>

namespace allot { inline namespace v0 {

/// How many a reason keeps out.
struct ReasonCount {
    Reason reason = Reason::none;
    std::uint32_t count = 0;

    friend auto operator==(const ReasonCount&, const ReasonCount&) noexcept -> bool = default;
};
ALLOT_FIELDS(ReasonCount, reason, count)

/// A task as explanations see it: the record it has, or would have were it queued now, and what it asks of a node's class.
struct Question {
    Task task{};
    Requirement requirement{};
    bool in_group = false;  ///< Of a validation group, perhaps one nobody knows yet; its gang's nodes have different operators.
};

/// The question behind a task that waits or runs. A running task is looked at as if it were drawn once more.
/// @return `task_unknown`; `task_ended` for one whose record no longer says what it asked.
template <class Dispatcher>
[[nodiscard]] auto question(const Dispatcher& dispatcher, TaskId id) -> Result<Question> {
    const auto* task = dispatcher.task(id);
    if (task == nullptr || task->state == TaskState::ended) {
        return Failure{task == nullptr ? Error::task_unknown : Error::task_ended};
    }
    return Question{*task, dispatcher.state().fits().value(task->requirement), task->group != no_handle<GroupHandle>};
}

/// The question behind a task that nobody has submitted. Nothing is interned: the state stays as it is.
/// @return why `submit` would refuse it.
template <class Dispatcher>
[[nodiscard]] auto question(const Dispatcher& dispatcher, const TaskSpec& spec) -> Result<Question> {
    if (const auto error = dispatcher.check(command::Submit{spec})) {
        return Failure{*error};
    }
    return Question{dispatcher.record_of(spec), dispatcher.requirement_of(spec), spec.group.has_value()};
}

namespace detail {

/// A count for each reason.
class ReasonCounts {
public:
    [[nodiscard]] auto operator[](Reason reason) noexcept -> std::uint32_t& { return counts_[static_cast<std::size_t>(reason)]; }
    [[nodiscard]] auto operator[](Reason reason) const noexcept -> std::uint32_t {
        return counts_[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] auto sum() const noexcept -> std::uint32_t {
        auto sum = std::uint32_t{0};
        for (const auto count : counts_) {
            sum += count;
        }
        return sum;
    }
    /// Those that keep somebody out, in the order of `Reason`.
    [[nodiscard]] auto rows() const -> std::vector<ReasonCount> {
        auto rows = std::vector<ReasonCount>{};
        for (std::size_t i = 1; i < counts_.size(); ++i) {
            if (counts_[i] > 0) {
                rows.push_back({static_cast<Reason>(i), counts_[i]});
            }
        }
        return rows;
    }

private:
    std::array<std::uint32_t, 256> counts_{};
};

/// What keeps each live class from a requirement, by class.
template <class Dispatcher>
[[nodiscard]] auto reasons_of_classes(const Dispatcher& d, const Requirement& requirement) -> std::vector<Reason> {
    auto reasons = std::vector<Reason>{};
    for (const auto id : d.state().fits().all_classes()) {
        reasons.resize(std::size_t{id.value} + 1, Reason::none);
        reasons[id.value] = d.fitness(id, requirement);
    }
    return reasons;
}

/// Why a node takes no task at all, its exclusion aside.
[[nodiscard]] inline auto reason_of_state(const Node& node) noexcept -> Reason {
    switch (node.state) {
        case NodeState::available: return Reason::none;
        case NodeState::busy: return Reason::busy;
        case NodeState::pending_pause:
        case NodeState::pending_leave: return Reason::pending;
        case NodeState::paused:
        case NodeState::left: break;
    }
    return Reason::paused;
}

/// Whether a node of some score has no weight. The default weight is zero when the stake or the score is, and never else,
/// whatever the locality (`harmonic` in core/weight.hpp), so its divisions are spared: they would be half of what explaining
/// costs.
template <class Dispatcher>
[[nodiscard]] auto has_no_weight(const Dispatcher& d, NodeHandle h, const Task& task, Score score) -> bool {
    if constexpr (std::is_same_v<typename Dispatcher::WeightPolicy, HarmonicWeight>) {
        return d.state().nodes()[h].node.stake_root.is_zero() || score == Score::zero();
    } else {
        return d.weight(h, task, score).is_zero();
    }
}

/// The rest: why a free node of a fitting class and some score would not take this task, whatever models it holds. The one node of
/// a pinned task takes it whatever its score.
template <class Dispatcher>
[[nodiscard]] auto refusal(const Dispatcher& d, NodeHandle h, const Question& question, Score score) -> Reason {
    if (question.task.pinned()) {
        return question.task.pinned_to == h ? Reason::none : Reason::pinned;
    }
    return has_no_weight(d, h, question.task, score) ? Reason::zero_weight
                                                     : d.admission(h, question.task, question.requirement);
}
template <class Dispatcher>
[[nodiscard]] auto refusal(const Dispatcher& d, NodeHandle h, const Question& question) -> Reason {
    return refusal(d, h, question, d.qos_score(d.state().nodes()[h]));
}

/// The first reason that keeps a node from a task, in the order of `Reason`, narrowing aside. `fits` is its class's.
template <class Dispatcher>
[[nodiscard]] auto first_reason(const Dispatcher& d, NodeHandle h, const Question& question, Reason fits) -> Reason {
    const auto& node = d.state().nodes()[h].node;
    const auto pinned = question.task.pinned();
    if (pinned && question.task.pinned_to != h) {
        return Reason::pinned;
    }
    if (const auto reason = reason_of_state(node); reason != Reason::none) {
        return reason;
    }
    if (fits != Reason::none || (node.excluded && !pinned)) {
        return fits != Reason::none ? fits : Reason::excluded;
    }
    return refusal(d, h, question);
}

/// What becomes of those without the models, when so many of those with them could be drawn.
template <class Dispatcher>
[[nodiscard]] auto reason_of_narrowing(const Dispatcher& d, const Task& task, std::uint32_t holders) -> Reason {
    if (task.models.empty() || task.pinned() || d.rules()->narrowing == Narrowing::none) {
        return Reason::none;
    }
    if (d.rules()->narrowing == Narrowing::gate) {
        return Reason::models_missing;
    }
    return holders >= d.rules()->narrow_from ? Reason::narrowed_out : Reason::none;
}

/// A node looked at as if it were available, not excluded, and perhaps of another score.
struct AsFree {
    NodeHandle node = no_handle<NodeHandle>;
    std::optional<Score> score{};
};

/// Calls `f(node, weight)` for each node that a draw for the question could fall on, in the order of the records.
/// @complexity linear in the nodes.
template <class Dispatcher, class F>
void each_drawable(const Dispatcher& d, const Question& question, const AsFree& as_free, F&& f) {
    const auto fits = reasons_of_classes(d, question.requirement);
    const auto score = [&](NodeHandle h) {
        return h == as_free.node && as_free.score ? *as_free.score : d.qos_score(d.state().nodes()[h]);
    };
    struct Found {
        NodeHandle node;
        bool narrows;
    };
    auto found = std::vector<Found>{};
    auto holders = std::uint32_t{0};
    d.state().nodes().for_each([&](NodeHandle h, const auto& record) {
        const auto& node = record.node;
        const auto shut_out = node.excluded && !question.task.pinned();
        const auto free = h == as_free.node || (reason_of_state(node) == Reason::none && !shut_out);
        if (!free || !node.present() || fits[node.node_class.value] != Reason::none ||
            refusal(d, h, question, score(h)) != Reason::none) {
            return;
        }
        found.push_back({h, d.narrows_to(h, question.task)});
        holders += found.back().narrows ? 1U : 0U;
    });
    if (question.requirement.gang_size > 1) {
        const auto class_of = [&](NodeHandle h) -> const NodeClass& {
            return d.state().fits().value(d.state().nodes()[h].node.node_class);
        };
        auto tally = GangTally{question.requirement, question.in_group};
        for (const auto& [h, narrows] : found) {
            if (narrows || reason_of_narrowing(d, question.task, 0) == Reason::none) {
                tally.add(d.state().nodes()[h].node, class_of(h));
            }
        }
        std::erase_if(found, [&](const Found& one) { return !tally.enough(class_of(one.node)); });
        holders = static_cast<std::uint32_t>(
            std::count_if(found.begin(), found.end(), [](const Found& one) { return one.narrows; }));
    }
    const auto others = reason_of_narrowing(d, question.task, holders);
    for (const auto& [h, narrows] : found) {
        if (narrows || others == Reason::none) {
            f(h, d.weight(h, question.task, score(h)));
        }
    }
}

}  // namespace detail

/// Why one node cannot have a task now, or `none`: the first reason in the order of `Reason`.
/// @return `node_unknown` for a node that is not there or has left.
/// @complexity linear in the nodes where it depends on what others hold, else constant.
template <class Dispatcher>
[[nodiscard]] auto why_not(const Dispatcher& dispatcher, const Question& question, NodeId node) -> Result<Reason> {
    const auto h = dispatcher.state().nodes().find(node);
    if (!h || !dispatcher.state().nodes()[*h].node.present()) {
        return Failure{Error::node_unknown};
    }
    const auto class_id = dispatcher.state().nodes()[*h].node.node_class;
    const auto& node_class = dispatcher.state().fits().value(class_id);
    const auto fits = dispatcher.fitness(class_id, question.requirement);
    if (const auto reason = detail::first_reason(dispatcher, *h, question, fits); reason != Reason::none) {
        return reason;
    }
    const auto narrows = detail::reason_of_narrowing(dispatcher, question.task, dispatcher.rules()->narrow_from) == Reason::none ||
                         dispatcher.narrows_to(*h, question.task);
    const auto alone = question.requirement.gang_size == 1;
    if (narrows && alone) {
        return Reason::none;
    }
    auto drawn = false;
    auto together = alone;  // its card has enough nodes for a gang
    detail::each_drawable(dispatcher, question, {}, [&](NodeHandle n, Weight) {
        const auto& other = dispatcher.state().fits().value(dispatcher.state().nodes()[n].node.node_class);
        drawn = drawn || n == *h;
        together = together || !question.requirement.same_card || (other.gpu == node_class.gpu && other.vram == node_class.vram);
    });
    if (drawn) {
        return Reason::none;
    }
    const auto narrowed = detail::reason_of_narrowing(dispatcher, question.task, dispatcher.rules()->narrow_from);
    return together || (!narrows && narrowed == Reason::models_missing) ? narrowed : Reason::gang_short;
}

}}  // namespace allot::v0

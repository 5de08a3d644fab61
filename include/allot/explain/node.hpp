#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/moment.hpp>
#include <allot/explain/survey.hpp>
#include <allot/policy/task_queue.hpp>

namespace allot { inline namespace v0 {

/// A node's chance in the draw for one task, as if it were free: it is chosen with probability `weight / total`,
/// exactly.
struct Odds {
    u128 weight{};                 ///< In units of 2^-92; zero if it could not be drawn.
    u128 total{};                  ///< Sum over all nodes that could be drawn, including it.
    std::uint32_t rank = 0;        ///< From 1; equal weights share the better rank. 0 if it could not be drawn.
    std::uint32_t candidates = 0;  ///< Number of nodes that could be drawn, including it.

    friend auto operator==(const Odds&, const Odds&) noexcept -> bool = default;
};
ALLOT_FIELDS(Odds, weight, total, rank, candidates)

/// A node's odds for the best waiting task of one group: now, and with one change of the node.
struct GroupOdds {
    Requirement group{};
    std::uint32_t waiting = 0;     ///< Tasks that wait in this group.
    TaskId task = TaskId::null();  ///< The best of them, for which the odds are.
    Value value{};
    Odds now{};
    std::optional<Odds> stake_doubled{};   ///< None if the stake would be more than is admitted.
    Odds full_quality{};                   ///< With a QoS score of one.
    std::string model{};                   ///< The first model of the task that the node lacks; else empty.
    std::optional<Odds> one_more_model{};  ///< With that on disk.
    std::optional<Odds> next_vram{};       ///< With `NodeExplanation::next_vram`.
};
ALLOT_FIELDS(GroupOdds, group, waiting, task, value, now, stake_doubled, full_quality, model, one_more_model, next_vram)

/// Why a node gets no tasks, or which tasks it could get.
struct NodeExplanation {
    NodeId node = NodeId::null();
    TimePoint now{};
    NodeState state = NodeState::left;
    Reason obstacle = Reason::none;         ///< The reason why it takes no task at all, regardless of the task.
    std::optional<TimePoint> back_at{};     ///< The end of its exclusion; none if it is not excluded.
    std::optional<TimePoint> free_by{};     ///< The end of its lease, unless renewed; none if it runs nothing.
    std::uint32_t class_nodes_missing = 0;  ///< Number of further active nodes of its class that the name policy asks
                                            ///< for.
    Score qos{};
    std::optional<Gibibytes> next_vram{};  ///< The next larger size of the network.

    std::uint32_t queued = 0;          ///< Waiting tasks: the sum of `tasks` and `runnable`.
    std::vector<ReasonCount> tasks{};  ///< Each task under the first reason why this node, if it were free, could
                                       ///< not take it.
    std::uint32_t runnable = 0;        ///< Number of tasks that it could take if it were free.
    std::vector<GroupOdds> groups{};   ///< The groups with waiting tasks, the group of the best task first.
    std::optional<TaskId> next{};      ///< The best task that it could run, which it takes once it is free; none
                                       ///< if it will leave or pause then, or if `match` alone draws (rule 47).
    bool next_cut = false;             ///< True if `next` is none because its pull would stop before (rule 16).
    std::optional<TaskId> held{};      ///< The pinned task that waits for it, and goes before all others.
};
ALLOT_FIELDS(NodeExplanation, node, now, state, obstacle, back_at, free_by, class_nodes_missing, qos, next_vram, queued,
             tasks, runnable, groups, next, next_cut, held)

namespace detail {

/// A group's demand: its best waiting task, and the number of its waiting tasks.
struct Demand {
    QueueEntry best{};
    std::uint32_t waiting = 0;
};

template <class Dispatcher>
[[nodiscard]] auto odds(const Dispatcher& d, const Question& question, const AsFree& node) -> Odds {
    auto weights = std::vector<u128>{};
    auto result = Odds{};
    each_drawable(d, question, node, [&](NodeHandle h, Weight weight) {
        weights.push_back(weight.raw());
        result.total += weight.raw();
        result.weight = h == node.node ? weight.raw() : result.weight;
    });
    result.candidates = static_cast<std::uint32_t>(weights.size());
    if (result.weight > u128{0}) {
        const auto above =
            std::count_if(weights.begin(), weights.end(), [&](u128 other) { return other > result.weight; });
        result.rank = static_cast<std::uint32_t>(above) + 1;
    }
    return result;
}

/// Applies a change, calls `look()`, and rolls back. If the change is refused, `look` is not called.
template <class Dispatcher, class Look>
void while_changed(Dispatcher& d, const typename Dispatcher::Command& change, const Look& look) {
    auto session = d.session();
    if (d.apply(change, Moment{d.now(), std::nullopt}).accepted()) { look(); }
    session.rollback();
}

/// The demand by group, the group of the best task first. Adds to `counts` the reasons why the node could not take each
/// task.
template <class Dispatcher>
[[nodiscard]] auto demands(const Dispatcher& d, NodeHandle h, ReasonCounts& counts) -> std::vector<Demand> {
    const auto& state = d.state();
    auto groups = std::vector<Demand>{};  // by requirement
    auto fits = std::vector<Reason>{};    // the same
    state.tasks().for_each([&](TaskHandle t, const Task& task) {
        if (task.state != TaskState::queued) { return; }
        const auto& requirement = state.fits().value(task.requirement);
        const auto g = std::size_t{task.requirement.value};
        if (g >= groups.size()) {
            groups.resize(g + 1);
            fits.resize(g + 1, Reason::none);
        }
        const auto entry = d.view().entry_of(t, task);
        if (groups[g].waiting++ == 0) {
            fits[g] = d.view().fitness(state.nodes()[h].node.node_class, requirement);
            groups[g].best = entry;
        } else if (goes_before(entry, groups[g].best)) {
            groups[g].best = entry;
        }
        auto reason = fits[g];
        if (reason == Reason::none) { reason = refusal_alone(d, h, {task, requirement, false}); }
        if (reason == Reason::none && !d.view().has_gang(h, task)) { reason = Reason::gang_short; }
        ++counts[reason];
    });
    std::erase_if(groups, [](const Demand& group) { return group.waiting == 0; });
    std::sort(groups.begin(), groups.end(),
              [](const Demand& a, const Demand& b) { return goes_before(a.best, b.best); });
    return groups;
}

/// The next larger size of VRAM among the classes of the network.
template <class Dispatcher>
[[nodiscard]] auto next_vram(const Dispatcher& d, Gibibytes vram) -> std::optional<Gibibytes> {
    auto next = std::optional<Gibibytes>{};
    for (const auto id : d.state().fits().all_classes()) {
        const auto size = d.state().fits().value(id).vram;
        if (size > vram && (!next || size < *next)) { next = size; }
    }
    return next;
}

}  // namespace detail

/// Explains why a node gets no tasks: its state, the waiting tasks by the first reason why it could not take them if it
/// were free, and its odds. The odds are for the best task of each group, now and after four changes. Stake, model and
/// VRAM are changed in sessions that are rolled back. So it needs exclusive access to the dispatcher, and leaves it
/// unchanged.
///
/// @param groups_max the number of groups with odds.
/// @return the explanation, or the error `node_unknown` for a node that is unknown or has left.
/// @complexity linear in the tasks, and five times linear in the nodes for each of these groups.
template <class Dispatcher>
[[nodiscard]] auto explain(Dispatcher& dispatcher, NodeId node, std::size_t groups_max = 8) -> Result<NodeExplanation> {
    const auto& d = std::as_const(dispatcher);
    const auto known = d.state().nodes().find(node);
    if (!known || !d.state().nodes()[*known].node.present()) { return Failure{Error::node_unknown}; }
    const auto h = *known;
    const auto record = d.state().nodes()[h];
    auto out = NodeExplanation{};
    out.node = node;
    out.now = d.now();
    out.state = record.node.state;
    out.obstacle = detail::reason_of_state(record.node);
    if (const auto active = d.state().fits().active(record.node.node_class);
        !d.state().fits().open(record.node.node_class)) {
        out.obstacle = out.obstacle == Reason::none ? Reason::name_policy : out.obstacle;
        out.class_nodes_missing = d.rules()->class_nodes_min - active;
    }
    if (record.node.excluded) {
        out.obstacle = out.obstacle == Reason::none ? Reason::excluded : out.obstacle;
        out.back_at = record.node.due_at;
    }
    if (record.node.leased()) { out.free_by = d.view().ends_by(record.node.lease); }
    if (record.node.held != no_handle<TaskHandle>) { out.held = d.state().tasks()[record.node.held].id; }
    out.qos = d.qos_score(record);
    out.next_vram = detail::next_vram(d, d.state().fits().value(record.node.node_class).vram);

    auto counts = detail::ReasonCounts{};
    auto demands = detail::demands(d, h, counts);
    out.tasks = counts.rows();
    out.queued = counts.sum();
    out.runnable = counts[Reason::none];
    if (out.obstacle != Reason::pending && !d.view().draws_in_rounds()) {
        const auto next = d.view().next_for(h);
        out.next = next.task ? std::optional{d.state().tasks()[*next.task].id} : std::nullopt;
        out.next_cut = next.cut;
    }
    demands.resize(std::min(demands.size(), groups_max));

    auto questions = std::vector<Question>{};
    const auto perfect = Score::one();
    for (const auto& demand : demands) {
        const auto& task = d.state().tasks()[demand.best.task];
        questions.push_back({task, d.state().fits().value(task.requirement), task.group != no_handle<GroupHandle>});
        const auto& question = questions.back();
        auto group = GroupOdds{question.requirement, demand.waiting, task.id, task.value};
        group.now = detail::odds(d, question, {h});
        group.full_quality = detail::odds(d, question, {h, &perfect});
        for (const auto model : task.models()) {
            const auto has = find_model(d.state().holdings(h), model) != nullptr;
            if (!has && group.model.empty()) { group.model = d.state().models().name(model); }
        }
        out.groups.push_back(std::move(group));
    }
    auto stake_doubled = NodeUpdate{.id = node};
    stake_doubled.stake = Amount{record.node.stake.units * u128{2}};
    detail::while_changed(dispatcher, command::Update{stake_doubled}, [&] {
        for (std::size_t i = 0; i < questions.size(); ++i) {
            out.groups[i].stake_doubled = detail::odds(d, questions[i], {h});
        }
    });
    if (out.next_vram) {
        auto larger = NodeUpdate{.id = node};
        larger.vram = *out.next_vram;
        detail::while_changed(dispatcher, command::Update{larger}, [&] {
            for (std::size_t i = 0; i < questions.size(); ++i) {
                out.groups[i].next_vram = detail::odds(d, questions[i], {h});
            }
        });
    }
    for (std::size_t i = 0; i < questions.size(); ++i) {
        if (!out.groups[i].model.empty()) {
            const auto report = command::ReportModel{node, command::Report::add, {out.groups[i].model}};
            detail::while_changed(dispatcher, report,
                                  [&] { out.groups[i].one_more_model = detail::odds(d, questions[i], {h}); });
        }
    }
    return out;
}

/// The same for a dispatcher that others may read at the same time: the changes are made in a copy. The error is the
/// same.
/// @complexity as above, and a copy of the dispatcher in time and memory.
template <class Dispatcher>
[[nodiscard]] auto explain(const Dispatcher& dispatcher, NodeId node, std::size_t groups_max = 8)
    -> Result<NodeExplanation> {
    auto copy = dispatcher;
    return explain(copy, node, groups_max);
}

}}  // namespace allot::v0

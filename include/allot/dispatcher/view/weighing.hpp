#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <allot/dispatcher/view/facts.hpp>
#include <allot/policy/situation.hpp>

namespace allot { inline namespace v0 {

/// The factor M by which models on a node's disk raise its weight, as an exact rational number.
struct LocalityBoost {
    std::uint64_t num = 1;
    std::uint64_t den = 1;
};

/// Upper bounds of a node's weight, as a pool stores them.
struct WeightBounds {
    std::uint32_t plain = 0;  ///< Among all candidates.
    std::uint32_t local = 0;  ///< Among holders of the task's models.
};

/// Answers which nodes may run a task, and with which weight: eligibility, locality, narrowing, and the bounds that a
/// pool stores.
///
/// @complexity unless stated: linear in the models, avoided nodes and group members of the task, and O(log n) for each
/// model.
template <class... Ps>
class Weighing : public Facts<Ps...> {
    using Below = Facts<Ps...>;

public:
    using Below::Below;
    using Below::records, Below::rules, Below::eligibility, Below::weight_policy, Below::qos, Below::operators,
        Below::blank, Below::queue, Below::shared, Below::holds, Below::holds_all, Below::proven, Below::requirement_of;
    using typename Below::Record;
    using typename Below::WeightPolicy;

    /// Upper bounds of a candidate's weight. They use the best score before the next verdict, the best locality that
    /// the frame allows, and the ceiling of the largest stake (`Ceilings`).
    [[nodiscard]] auto bounds(NodeHandle h, const Record& record, bool holds_models) const -> WeightBounds {
        if constexpr (!monotone_weight<WeightPolicy>) {
            return {1, 1};  // marks a candidate: without bounds every draw is an exact scan
        } else {
            const auto ceiling = records.counters().ceilings.of(h, record.node.stake_root());
            const auto score = qos.score_max(record.qos);
            const auto bound = [&](LocalityBoost boost) {
                auto factors = Factors{record.node.stake_root(), ceiling, score, boost.num, boost.den};
                if constexpr (has_by_operator<WeightPolicy>) { factors.operator_stake = record.node.stake.units; }
                return bound_of(greatest_weight(record.node, factors));
            };
            if (!holds_models) {
                const auto plain = bound({});
                return {plain, plain};
            }
            const auto local = bound(best_boost());
            // A holder of a model is in the narrowed frame. In the frame without models its M is 1, with three
            // exceptions: only holders of all models are in the narrowed frame, there is none, or holders that are too
            // few or weigh too little do not narrow.
            const auto anywhere = rules->narrowing == Narrowing::all || rules->narrowing == Narrowing::none ||
                                  rules->narrow_from > 1 || holders_have_to_weigh();
            // A node that has weight only as a holder is counted among the free nodes, too.
            const auto plain = anywhere ? local : std::max(bound({}), std::min(local, 1U));
            return {plain, local};
        }
    }

    /// True if the weight policy asks how much the holders of a model weigh.
    [[nodiscard]] auto holders_have_to_weigh() const -> bool {
        if constexpr (has_holder_weight_min<WeightPolicy>) {
            return !weight_policy.holder_weight_min().is_zero();
        } else {
            return false;
        }
    }

    /// A node's position in the pool, and its bounds if it is a candidate.
    [[nodiscard]] auto place(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace {
        auto place = place_before(h, record, models);
        if (record != nullptr) {
            const auto bound = bounds(h, *record, !models.empty() || !records.wishes(h).empty());
            place.bound = bound.plain;
            place.bound_local = bound.local;
        }
        return place;
    }

    /// A node's old position in the pool, without its old bounds: removal needs only the position.
    [[nodiscard]] auto place_before(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace {
        const auto& node = record != nullptr ? record->node : records.nodes()[h].node;
        const auto bound = record != nullptr ? 1U : 0U;
        return {h, node.node_class, node.slot, bound, bound, span_of(models)};
    }

    /// The largest factor M: all models are on disk and in use.
    [[nodiscard]] auto best_boost() const -> LocalityBoost {
        return {std::uint64_t{rules->boost_unit} + rules->boost_on_disk + rules->boost_in_use, rules->boost_unit};
    }

    /// M = 1 + 0.7 · local/total + 0.3 · in use/total (seed 001, "Model Locality Boost"), as an exact rational
    /// number.
    [[nodiscard]] auto boost(NodeHandle h, const Task& task) const -> LocalityBoost {
        const auto models = task.models();
        if (models.empty()) { return {}; }
        auto extra = std::uint64_t{0};
        for (const auto model : models) {
            const auto* held = holds(h, model);
            if (held != nullptr) {
                extra += rules->boost_on_disk + (held->holding == Holding::in_use ? rules->boost_in_use : 0U);
            }
        }
        const auto unit = std::uint64_t{rules->boost_unit} * models.size();
        return {unit + extra, unit};
    }

    /// The weight of a node for a task now, rescaled to the unit of the stored bounds.
    [[nodiscard]] auto weight_now(const Record& record, const Task& task, LocalityBoost boost) const -> Weight {
        const auto score = qos.score(record.qos, records.counters().now);
        const auto* requirement =
            has_weight_in_situation<WeightPolicy> ? &records.fits().value(task.requirement) : nullptr;
        return weight_with(record, task, requirement, boost, score);
    }

    /// The same with an assumed score.
    /// @pre `requirement` is not null if the weight takes a Situation.
    [[nodiscard]] auto weight_with(const Record& record, const Task& task,
                                   [[maybe_unused]] const Requirement* requirement, LocalityBoost boost,
                                   Score score) const -> Weight {
        return weighed(record, boost, score, [&](const Factors& factors) {
            if constexpr (has_weight_in_situation<WeightPolicy>) {
                return weight_policy.weight(record.node, task, factors, situation(record, task, *requirement));
            } else {
                return weight_policy.weight(record.node, task, factors);
            }
        });
    }

    /// The greatest weight of a node for any task, regardless of its models, with this boost.
    [[nodiscard]] auto weight_at_most(const Record& record, LocalityBoost boost) const -> Weight {
        const auto score = qos.score(record.qos, records.counters().now);
        return weighed(record, boost, score,
                       [&](const Factors& factors) { return greatest_weight(record.node, factors); });
    }

    /// The greatest weight of a node for any task with these factors; zero for a policy that has no bounds.
    [[nodiscard]] auto greatest_weight(const Node& node, const Factors& factors) const -> Weight {
        if constexpr (has_weight_max<WeightPolicy>) {
            return weight_policy.weight_max(node, factors);
        } else if constexpr (has_weight<WeightPolicy>) {
            return weight_policy.weight(node, blank, factors);
        } else {
            return Weight::zero();  // never called: there are no bounds
        }
    }

    /// The weight that `weigh(factors)` returns for the factors of now, rescaled to the unit of the stored bounds.
    template <class F>
    [[nodiscard]] auto weighed(const Record& record, LocalityBoost boost, Score score, const F& weigh) const -> Weight {
        auto stake_root_max = records.stake_root_max();
        if constexpr (monotone_weight<WeightPolicy>) {
            // If no node has any stake, weights are relative to the largest stake that the bounds are made for.
            stake_root_max = stake_root_max.is_zero() ? records.counters().ceilings.unit : stake_root_max;
        }
        auto factors = Factors{record.node.stake_root(), stake_root_max, score, boost.num, boost.den};
        if constexpr (has_by_operator<WeightPolicy>) {
            factors.operator_stake = weight_policy.by_operator() ? operators.of(record.node.operator_id()) : u128{0};
        }
        const auto weight = weigh(factors);
        if constexpr (monotone_weight<WeightPolicy>) {
            const auto unit = records.counters().ceilings.unit;
            return weight.is_zero() || unit.is_zero() ? weight : at_stake_root_ceiling(weight, stake_root_max, unit);
        } else {
            return weight;
        }
    }

    /// The reason why eligibility does not admit a node to a task, apart from its class; `none` if it does.
    [[nodiscard]] auto admits(const Record& record, const Task& task) const -> Reason {
        return admits(record, task, records.fits().value(task.requirement));
    }

    /// The same for a requirement that need not be interned.
    [[nodiscard]] auto admits(const Record& record, const Task& task, const Requirement& requirement) const -> Reason {
        return eligibility.admits(record.node, task, situation(record, task, requirement));
    }

    /// The greatest fee of a task that is not pinned.
    [[nodiscard]] auto fee_max() const -> Amount {
        if constexpr (has_fee_max<typename Below::Types::Eligibility>) {
            return eligibility.fee_max();
        } else {
            return (u128{1} << 96) - u128{1};
        }
    }

    /// The least stake of a node that may run a task; 0 if the policy does not tell.
    [[nodiscard]] auto stake_min([[maybe_unused]] const Task& task) const -> Amount {
        if constexpr (has_stake_min<typename Below::Types::Eligibility>) {
            return eligibility.stake_min(task.fee);
        } else {
            return {};
        }
    }

    /// The Situation of a node and a task, as policies get it.
    /// @param is_member true if the node is known to be a member of the task's group.
    [[nodiscard]] auto situation(const Record& record, const Task& task, const Requirement& requirement,
                                 bool is_member = false) const -> Situation {
        const auto& node = record.node;
        auto same_operator = is_member;
        if (!is_member && task.group != no_handle<GroupHandle>) {
            const auto& members = records.groups()[task.group].members;
            same_operator = std::any_of(members.begin(), members.end(), [&](const auto& member) {
                return member.node == node.id || member.operator_id == node.operator_id();
            });
        }
        const auto nodes = task.avoided();
        const auto avoided = std::any_of(nodes.begin(), nodes.end(), [&](const NodeId& id) { return id == node.id; });
        return {records.counters().now, records.fits().value(node.node_class), requirement, avoided, same_operator,
                proven(record)};
    }

    /// True if the class of a present node fits the requirement of a task.
    /// @param known As `requirement_known` returns it.
    /// @complexity O(classes), a 64th of it if the requirement is known.
    [[nodiscard]] auto fits_somebody(const TaskSpec& spec, std::optional<RequirementId> known) const -> bool {
        if (known) { return records.fits().fits_any(*known); }
        const auto requirement = requirement_of(spec);
        const auto all = records.fits().all_classes();
        return std::any_of(all.begin(), all.end(),
                           [&](ClassId id) { return fitness(id, requirement) == Reason::none; });
    }

    /// True if a node counts for the share of the queue that a requirement has: it has not left, and has weight with
    /// the best score and the largest stake. It depends on the record and the weight's parameters alone.
    [[nodiscard]] auto has_share_of_queue(const Record& record) const -> bool {
        if (!record.node.present()) { return false; }
        if constexpr (has_weight_max<WeightPolicy> || has_weight<WeightPolicy>) {
            const auto root = record.node.stake_root();
            return !greatest_weight(record.node, {root, root, Score::one(), 1, 1, record.node.stake.units}).is_zero();
        } else {
            return true;
        }
    }

    /// Number of tasks of a requirement that wait in the queue.
    [[nodiscard]] auto waiting_of(RequirementId requirement) const -> std::uint32_t {
        return records.fits().count(requirement) - records.fits().staying(requirement);
    }

    /// True if the share of a requirement exceeds so many waiting tasks; true if the queue has no shares. A task that
    /// starts over finds one place more for each node: those from which tasks come back.
    /// @complexity O(classes that fit); it stops at the class that decides.
    [[nodiscard]] auto share_exceeds(RequirementId requirement, std::uint32_t waiting, bool starts_over = false) const
        -> bool {
        const auto classes = records.fits().classes_of(requirement);
        return share_exceeds(
            classes, waiting, [](ClassId) { return true; }, starts_over);
    }

    /// The same for a requirement that need not be interned, of which no task waits.
    /// @complexity O(classes).
    [[nodiscard]] auto share_exceeds(const Requirement& requirement) const -> bool {
        return share_exceeds(records.fits().all_classes(), 0,
                             [&](ClassId id) { return fitness(id, requirement) == Reason::none; });
    }

    /// The part of the room for waiting tasks that is taken, at most 1: that of the whole queue, or that of the share
    /// of the task's requirement if this is larger.
    /// @complexity O(classes that fit).
    [[nodiscard]] auto crowding(const Task& task) const -> Ratio {
        const auto part = [](std::uint32_t waiting, std::uint32_t room) {
            return Ratio{std::min(waiting, room), std::max(room, std::uint32_t{1})};
        };
        const auto whole = part(queue.size(), queue.capacity(records.present()));
        if constexpr (has_share<typename Below::Types::TaskQueue>) {
            auto nodes = std::uint32_t{0};
            for (const auto id : records.fits().classes_of(task.requirement)) { nodes += shared.count(id); }
            const auto own = part(waiting_of(task.requirement), queue.share(nodes));
            return std::uint64_t{whole.num} * own.den < std::uint64_t{own.num} * whole.den ? own : whole;
        } else {
            return whole;
        }
    }

    /// The part of its fee that a task forfeits if it ends so now; 0 if the terms have no forfeits. A pinned task is
    /// the network's own.
    /// @pre if it runs, it has a lease.
    /// @complexity that of `crowding`, and O(1) for a task that its first failure ends: one node's report has no price,
    /// so the room that is taken decides nothing.
    [[nodiscard]] auto forfeit(const Task& task, Ending ending) const -> Amount {
        if constexpr (has_forfeit<typename Below::Terms>) {
            if (task.pinned()) { return {}; }
            const auto runs = task.state == TaskState::running;
            const auto held =
                runs ? std::max(Duration{1}, this->now() - records.leases()[task.lease].started_at) : Duration{0};
            const auto crowded = ending == Ending::cancelled || task.strikes > 0 ? crowding(task) : Ratio{};
            return std::min(task.fee, this->terms.forfeit(task, ending, held, crowded));
        } else {
            return {};
        }
    }

    /// The payment to the nodes of a task that is done: its fee, unless the terms say less. A pinned task is the
    /// network's own.
    [[nodiscard]] auto paid(const Task& task) const -> Amount {
        if constexpr (has_paid<typename Below::Terms>) {
            return task.pinned() ? task.fee : std::min(task.fee, this->terms.paid(task));
        } else {
            return task.fee;
        }
    }

    /// The reason why a class does not fit a requirement: first hardware and software, then the number of its nodes.
    [[nodiscard]] auto fitness(ClassId node_class, const Requirement& requirement) const -> Reason {
        const auto reason = eligibility.fits(records.fits().value(node_class), requirement);
        return reason == Reason::none && !records.fits().open(node_class) ? Reason::name_policy : reason;
    }

    /// True if a node has zero weight for every task, regardless of its models. A weight with bounds depends on a task
    /// only through the boost.
    [[nodiscard]] auto runs_nothing(NodeHandle n) const -> bool {
        if constexpr (monotone_weight<WeightPolicy>) {
            return weight_at_most(records.nodes()[n], best_boost()).is_zero();
        } else {
            return false;
        }
    }

    /// True if a node whose class fits may run a task: it is admitted, has a positive weight, and passes the gate.
    [[nodiscard]] auto can_run(NodeHandle n, const Task& task) const -> bool {
        const auto& record = records.nodes()[n];
        return admits(record, task) == Reason::none && (holders_to_narrow(task) != 0U || narrows_to(n, task)) &&
               !weight_now(record, task, boost(n, task)).is_zero();
    }

    /// The weight of a node that may be asked for a copy. It is zero for a node that holds the model, was asked
    /// recently or departs.
    [[nodiscard]] auto fetch_weight(NodeHandle n, const Task& task, ModelId model) const -> Weight {
        const auto& record = records.nodes()[n];
        const auto asked = !record.node.departs() && !has_or_wants(n, model) && admits(record, task) == Reason::none;
        return asked ? weight_now(record, task, {}) : Weight::zero();
    }

    /// True if a node has a model on its disk, or was asked recently to fetch it.
    [[nodiscard]] auto has_or_wants(NodeHandle n, ModelId model) const -> bool {
        if (holds(n, model) != nullptr) { return true; }
        const auto& wishes = records.wishes(n);
        const auto* wish = find_model(wishes, model);
        return wish != nullptr && wishes.until(wish) > records.counters().now;
    }

    /// Weight of a present node for a task, assuming this QoS score. Eligibility is not checked. `requirement` is the
    /// task's.
    [[nodiscard]] auto weight_at_score(NodeHandle node, const Task& task, const Requirement& requirement,
                                       Score score) const -> Weight {
        return weight_with(records.nodes()[node], task, &requirement, boost(node, task), score);
    }

    /// True if a present node of this QoS score has zero weight for a task. `requirement` is the task's.
    [[nodiscard]] auto has_no_weight(NodeHandle node, const Task& task, const Requirement& requirement,
                                     Score score) const -> bool {
        if constexpr (has_is_zero<WeightPolicy>) {
            return weight_policy.is_zero(records.nodes()[node].node, score);
        } else {
            return weight_at_score(node, task, requirement, score).is_zero();
        }
    }

    /// The reason why eligibility does not admit this present node to this task, apart from its class. `requirement` is
    /// the task's.
    [[nodiscard]] auto admission(NodeHandle node, const Task& task, const Requirement& requirement) const -> Reason {
        return admits(records.nodes()[node], task, requirement);
    }

    /// True if a task's candidates can be narrowed to this node: it holds one of the task's models, or all, as the
    /// rules say. False for a task without models.
    [[nodiscard]] auto narrows_to(NodeHandle node, const Task& task) const -> bool {
        if (rules->narrowing == Narrowing::none) { return false; }
        const auto models = task.models();
        if (models.empty() || rules->narrowing != Narrowing::any) { return !models.empty() && holds_all(node, models); }
        return std::any_of(models.begin(), models.end(), [&](ModelId model) { return holds(node, model) != nullptr; });
    }

    /// Number of nodes with `narrows_to` that are needed to leave out the other nodes. 0: the others are left out in
    /// any case. None: models leave out no node.
    [[nodiscard]] auto holders_to_narrow(const Task& task) const -> std::optional<std::uint32_t> {
        if (task.models().empty() || task.pinned() || rules->narrowing == Narrowing::none) { return std::nullopt; }
        return rules->narrowing == Narrowing::gate ? 0 : rules->narrow_from;
    }

private:
    template <class Fits>
    [[nodiscard]] auto share_exceeds([[maybe_unused]] std::span<const ClassId> classes,
                                     [[maybe_unused]] std::uint32_t waiting, [[maybe_unused]] const Fits& fits,
                                     [[maybe_unused]] bool starts_over = false) const -> bool {
        if constexpr (has_share<typename Below::Types::TaskQueue>) {
            auto nodes = std::uint32_t{0};
            return std::any_of(classes.begin(), classes.end(), [&](ClassId id) {
                const auto more = fits(id) ? shared.count(id) : 0;
                nodes += more;
                return more > 0 && queue.share(nodes) + std::uint64_t{starts_over ? nodes : 0U} > waiting;
            });
        } else {
            return true;
        }
    }
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include <allot/core/ageing.hpp>
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

    [[nodiscard]] auto open(std::uint32_t active) const -> bool { return active >= hub.rules_->class_nodes_min; }

    void node_changed(NodeHandle h, const Record* before, const Record* after) {
        if constexpr (has_by_operator<WeightPolicy>) {
            if (after != nullptr && after->node.present()) {
                hub.operators_.set(h, after->node.operator_id, after->node.stake.units);
            } else {
                hub.operators_.set(h, OperatorId::null(), u128{0});
            }
        }
        const auto was = before != nullptr && is_candidate(*before);
        const auto is = after != nullptr && is_candidate(*after);
        if (was || is) {
            const auto& models = hub.state_.holdings(h);
            hub.pool_.changed(hub.place_before(h, was ? before : nullptr, models), hub.place(h, is ? after : nullptr, models));
        }
    }

    void models_changed(NodeHandle h, const HeldModels& before, const HeldModels& after) {
        const auto& record = hub.state_.nodes()[h];
        if (is_candidate(record)) {
            hub.pool_.changed(hub.place_before(h, &record, before), hub.place(h, &record, after));
        }
    }

    void task_changed(TaskHandle h, const Task* before, const Task* after) {
        hub.tally(h, before, after);
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
        const auto& was = before.ceilings;
        const auto& is = after.ceilings;
        if (was.renewed != is.renewed && was.from == is.from && was.to == is.to) {
            hub.rebuild(std::min(was.renewed, is.renewed), std::max(was.renewed, is.renewed));
        }  // else a renewal begins or is complete, and no bound changes by that
    }

    void configured(const Configuration& configuration) { hub.configured(configuration); }
};

template <class... Ps>
auto Dispatcher<Ps...>::is_candidate(const Record& record) -> bool {
    return record.node.state == NodeState::available && !record.node.excluded && record.node.held == no_handle<TaskHandle>;
}

/// Upper bounds of a candidate's weight: the best score it can reach before the next verdict, and the best locality the frame
/// allows, made for a ceiling of the largest stake (`Ceilings`).
template <class... Ps>
auto Dispatcher<Ps...>::bounds(NodeHandle h, const Record& record, bool holds_models) const -> Bounds {
    if constexpr (!monotone_weight<WeightPolicy>) {
        return {1, 1};  // only says "a candidate": without bounds every draw is an exact scan
    } else {
        const auto ceiling = state_.counters().ceilings.of(h, record.node.stake_root);
        const auto score = qos_.score_max(record.qos);
        const auto bound = [&](Boost boost) {
            const auto factors = Factors{record.node.stake_root, ceiling, score, boost.num, boost.den, record.node.stake.units};
            return bound_of(greatest_weight(record.node, factors));
        };
        if (!holds_models) {
            const auto plain = bound({});
            return {plain, plain};
        }
        const auto local = bound(best_boost());
        // Whoever holds a model stands in the narrowed frame; beside it M = 1, unless only holders of all models count there, there
        // is none, or too few holders do not narrow.
        const auto anywhere = rules_->narrowing == Narrowing::all || rules_->narrowing == Narrowing::none || rules_->narrow_from > 1;
        const auto plain = anywhere ? local : bound({});
        return {plain, local};
    }
}

/// Where a node stands, and its bounds if it is a candidate.
template <class... Ps>
auto Dispatcher<Ps...>::place(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace {
    auto place = place_before(h, record, models);
    if (record != nullptr) {
        const auto bound = bounds(h, *record, !models.empty());
        place.bound = bound.plain;
        place.bound_local = bound.local;
    }
    return place;
}

/// Where a node stood. What it weighed there is nobody's business any more.
template <class... Ps>
auto Dispatcher<Ps...>::place_before(NodeHandle h, const Record* record, const HeldModels& models) const -> NodePlace {
    const auto& node = record != nullptr ? record->node : state_.nodes()[h].node;
    const auto bound = record != nullptr ? 1U : 0U;
    return {h, node.node_class, node.slot, bound, bound, span_of(models)};
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

/// The weight now, rescaled to the unit of the stored bounds.
template <class... Ps>
auto Dispatcher<Ps...>::weight_now(const Record& record, const Task& task, Boost boost) const -> Weight {
    const auto score = qos_.score(record.qos, state_.counters().now);
    const auto* requirement = has_weight_in_situation<WeightPolicy> ? &state_.fits().value(task.requirement) : nullptr;
    return weight_with(record, task, requirement, boost, score);
}

/// The same for a node that has some other score. @pre the requirement is there if the weight takes a Situation.
template <class... Ps>
auto Dispatcher<Ps...>::weight_with(const Record& record, const Task& task,
                                    [[maybe_unused]] const Requirement* requirement, Boost boost, Score score) const -> Weight {
    return weighed(record, boost, score, [&](const Factors& factors) {
        if constexpr (has_weight_in_situation<WeightPolicy>) {
            return weight_.weight(record.node, task, factors, situation(record, task, *requirement));
        } else {
            return weight_.weight(record.node, task, factors);
        }
    });
}

/// The greatest weight of a node for any task, whatever its models.
template <class... Ps>
auto Dispatcher<Ps...>::weight_at_most(const Record& record, Boost boost) const -> Weight {
    const auto score = qos_.score(record.qos, state_.counters().now);
    return weighed(record, boost, score, [&](const Factors& factors) { return greatest_weight(record.node, factors); });
}

template <class... Ps>
auto Dispatcher<Ps...>::greatest_weight(const Node& node, const Factors& factors) const -> Weight {
    if constexpr (has_weight_max<WeightPolicy>) {
        return weight_.weight_max(node, factors);
    } else if constexpr (has_weight<WeightPolicy>) {
        return weight_.weight(node, blank_, factors);
    } else {
        return Weight::zero();  // nobody asks: there are no bounds
    }
}

/// `weigh(factors)` with the factors of now.
template <class... Ps>
template <class F>
auto Dispatcher<Ps...>::weighed(const Record& record, Boost boost, Score score, const F& weigh) const -> Weight {
    auto stake_root_max = state_.stake_root_max();
    if constexpr (monotone_weight<WeightPolicy>) {
        // Without any stake a weight is what it would be beside the largest that the bounds are made for.
        stake_root_max = stake_root_max.is_zero() ? state_.counters().ceilings.unit : stake_root_max;
    }
    auto factors = Factors{record.node.stake_root, stake_root_max, score, boost.num, boost.den};
    if constexpr (has_by_operator<WeightPolicy>) {
        factors.operator_stake = weight_.by_operator() ? operators_.of(record.node.operator_id) : u128{0};
    }
    const auto weight = weigh(factors);
    if constexpr (monotone_weight<WeightPolicy>) {
        const auto unit = state_.counters().ceilings.unit;
        return weight.is_zero() || unit.is_zero() ? weight : at_stake_root_ceiling(weight, stake_root_max, unit);
    } else {
        return weight;
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::admits(const Record& record, const Task& task) const -> Reason {
    return admits(record, task, state_.fits().value(task.requirement));
}

template <class... Ps>
auto Dispatcher<Ps...>::admits(const Record& record, const Task& task, const Requirement& requirement) const -> Reason {
    return eligibility_.admits(record.node, task, situation(record, task, requirement));
}

template <class... Ps>
auto Dispatcher<Ps...>::situation(const Record& record, const Task& task, const Requirement& requirement) const -> Situation {
    const auto& node = record.node;
    auto same_operator = false;
    if (task.group != no_handle<GroupHandle>) {
        for (const auto& member : state_.groups()[task.group].members) {
            same_operator = same_operator || member.node == node.id || member.operator_id == node.operator_id;
        }
    }
    const auto avoided = std::any_of(task.avoided.begin(), task.avoided.end(), [&](const NodeId& id) { return id == node.id; });
    return {state_.counters().now, state_.fits().value(node.node_class), requirement, avoided, same_operator, proven(record)};
}

template <class... Ps>
auto Dispatcher<Ps...>::proven(const Record& record) const -> bool {
    if constexpr (has_proven<QoSTracker>) {
        return qos_.proven(record.qos);
    } else {
        return true;
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::attributed(const Task& task, OutcomeKind outcome) const -> OutcomeKind {
    if constexpr (has_blames<Terms>) {
        return terms_.blames(task, outcome) ? outcome : OutcomeKind::cancelled;
    } else {
        return outcome;
    }
}

/// Whether the class of a node that has not left fits what a task asks.
template <class... Ps>
auto Dispatcher<Ps...>::fits_somebody(const TaskSpec& spec) const -> bool {
    if (const auto known = requirement_known(spec)) {
        return !state_.fits().classes_of(*known).empty();
    }
    const auto requirement = requirement_of(spec);
    const auto all = state_.fits().all_classes();
    return std::any_of(all.begin(), all.end(), [&](ClassId id) { return fitness(id, requirement) == Reason::none; });
}

/// What keeps a class from a requirement: its hardware and software first, then how many such nodes there are.
template <class... Ps>
auto Dispatcher<Ps...>::fitness(ClassId node_class, const Requirement& requirement) const -> Reason {
    const auto reason = eligibility_.fits(state_.fits().value(node_class), requirement);
    return reason == Reason::none && !state_.fits().open(node_class) ? Reason::name_policy : reason;
}

/// Counts a task with its owner's, where there is a quota.
template <class... Ps>
void Dispatcher<Ps...>::tally(TaskHandle h, const Task* before, const Task* after) {
    if (!has_quota(rules_.parameters())) {
        return;
    }
    if (after != nullptr) {
        owners_.add(h, after->owner);
    } else if (before != nullptr) {
        owners_.remove(h, before->owner);
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::outbids(const Task& newcomer, const Task& worst) const -> bool {
    const auto by = rules_->outbid_by;
    if (rules_->value_doubles_in == Duration{0}) {
        return at_least(newcomer.value, by, worst.value);
    }
    const auto margin = log2_of(by.num, by.den) - log2_of(1, 1);
    constexpr auto any = no_handle<TaskHandle>;
    return entry_of(any, newcomer).value.num() >= entry_of(any, worst).value.num() + u128{margin};
}

/// The requirement whose dearest waiting task is worth least, if a newcomer outbids that. None of its tasks runs, for these cannot
/// make way. @complexity O(requirements).
template <class... Ps>
auto Dispatcher<Ps...>::poorest_requirement(const Task& newcomer) const -> std::optional<RequirementId> {
    const auto beats = [&](TaskHandle t) {
        const auto& task = state_.tasks()[t];
        return goes_before(entry_of(no_handle<TaskHandle>, newcomer), entry_of(t, task)) && outbids(newcomer, task);
    };
    const auto worst = queue_.worst();
    if (!worst || !beats(*worst)) {
        return std::nullopt;
    }
    auto poorest = std::optional<QueueEntry>{};
    state_.fits().requirements().for_each([&](std::uint32_t r, const Requirement&) {
        const auto group = RequirementId{r};
        const auto idle = state_.fits().staying(group) == 0;
        if (const auto best = queue_.best({&group, idle ? 1U : 0U}, [](TaskHandle) { return true; })) {
            const auto entry = entry_of(*best, state_.tasks()[*best]);
            poorest = poorest && goes_before(entry, *poorest) ? poorest : entry;
        }
    });
    return poorest && beats(poorest->task) ? std::optional{poorest->group} : std::nullopt;
}

/// The class whose greatest stake is least, if a stake is greater; but not one of a node at work, or of more nodes than a command
/// may send away. @complexity O(classes).
template <class... Ps>
auto Dispatcher<Ps...>::poorest_class(Amount stake, ClassId but) const -> std::optional<ClassId> {
    auto poorest = std::optional<ClassId>{};
    if (stake == Amount{0}) {
        return poorest;
    }
    for (const auto c : state_.fits().all_classes()) {
        if (c == but || state_.fits().count(c) > rules_->evictions_max) {
            continue;
        }
        auto greatest = Amount{0};
        auto idle = true;
        state_.fits().each_node(c, [&](NodeHandle n) {
            const auto& node = state_.nodes()[n].node;
            greatest = std::max(greatest, node.stake);
            idle = idle && !node.leased();
        });
        if (idle && greatest < stake) {
            poorest = c;
            stake = greatest;
        }
    }
    return poorest;
}

/// The node of least stake, one that left before one that is there, if a stake is greater, or as great as that of one that left;
/// but not one at work. @complexity O(nodes).
template <class... Ps>
auto Dispatcher<Ps...>::poorest_node(Amount stake) const -> std::optional<NodeHandle> {
    auto poorest = std::optional<NodeHandle>{};
    auto least = std::pair{stake, true};
    state_.nodes().for_each([&](NodeHandle h, const Record& record) {
        const auto worth = std::pair{record.node.stake, record.node.present()};
        if (!record.node.leased() && worth < least) {
            poorest = h;
            least = worth;
        }
    });
    return poorest;
}

/// The node of least stake for what it takes of the table of models, if a stake for such a part is more; but not one at work. Of
/// nodes without stake the one that takes most. @complexity O(nodes x models a node).
template <class... Ps>
auto Dispatcher<Ps...>::poorest_holder(Amount stake, std::uint64_t part, std::optional<NodeHandle> but) const
    -> std::optional<NodeHandle> {
    auto poorest = std::optional<NodeHandle>{};
    state_.nodes().for_each([&](NodeHandle h, const Record& record) {
        if (h == but || record.node.leased()) {
            return;
        }
        const auto its = models_part(state_.holdings(h));
        // Both products fit: stakes are below 2^96, and a node takes at most 2^16 whole parts of 2^14.
        const auto left = record.node.stake.units * u128{part};
        const auto right = stake.units * u128{its};
        if (left < right || (poorest && left == right && part < its)) {
            poorest = h;
            stake = record.node.stake;
            part = its;
        }
    });
    return poorest;
}

/// What a node takes of the table of models: a part of each model on its disk.
template <class... Ps>
auto Dispatcher<Ps...>::models_part(const HeldModels& held) const -> std::uint64_t {
    return std::accumulate(held.begin(), held.end(), std::uint64_t{0}, [&](std::uint64_t sum, const HeldModel& one) {
        return sum + (one.on_disk() ? ModelTable::part(state_.models().holders(one.model)) : 0U);
    });
}

/// How many more models there is room for on the disks, beside those that some node has; negative where there are too many. A node
/// that reports its inventory gives up what it does not list, and so makes room for what it lists. Who lists nothing new needs none.
template <class... Ps>
auto Dispatcher<Ps...>::room_beside(const std::vector<std::string>& models, NodeHandle inventory) const -> std::int64_t {
    const auto& known = state_.models();
    auto room = std::int64_t{rules_->models_max} - std::int64_t{known.held()};
    auto fresh = std::int64_t{0};
    auto listed = std::vector<ModelId>{};
    for (const auto& name : models) {
        const auto id = known.find(name);
        fresh += id && known.held(*id) ? 0 : 1;
        listed.push_back(id.value_or(no_handle<ModelId>));
    }
    if (inventory != no_handle<NodeHandle>) {
        std::sort(listed.begin(), listed.end());
        for (const auto& held : state_.holdings(inventory)) {
            const auto alone = held.on_disk() && known.holders(held.model) == 1;
            room += alone && !std::binary_search(listed.begin(), listed.end(), held.model) ? 1 : 0;
        }
    }
    return fresh == 0 ? 0 : room - fresh;
}

template <class... Ps>
auto Dispatcher<Ps...>::holds(NodeHandle h, ModelId model) const -> const HeldModel* {
    const auto& held = state_.holdings(h);
    const auto found = std::lower_bound(held.begin(), held.end(), model,
                                        [](const HeldModel& a, ModelId b) { return a.model < b; });
    return found != held.end() && found->model == model ? &*found : nullptr;
}

/// How many of a node's models it has, wishes aside.
template <class... Ps>
auto Dispatcher<Ps...>::on_disk(const HeldModels& models) -> std::uint32_t {
    return static_cast<std::uint32_t>(std::count_if(models.begin(), models.end(), [](const HeldModel& m) { return m.on_disk(); }));
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
    const auto doubling = rules_->value_doubles_in;
    const auto value = doubling == Duration{0} ? task.value : aged(task.value, task.submitted_at, doubling);
    return {h, task.requirement, value, task.sequence};
}

/// What a new task's record takes over from its spec.
template <class... Ps>
auto Dispatcher<Ps...>::task_of(const TaskSpec& spec) const -> Task {
    auto task = Task{};
    task.id = spec.id;
    task.owner = spec.owner.value_or(OwnerId::null());
    task.fee = spec.fee;
    task.duration_estimate = spec.duration_estimate;
    task.labels.assign(spec.labels.begin(), spec.labels.end());
    task.submitted_at = state_.counters().now;
    task.sequence = state_.counters().sequence_next;
    task.pinned_to = spec.node ? state_.nodes().find(*spec.node).value_or(no_handle<NodeHandle>) : no_handle<NodeHandle>;
    return task;
}

template <class... Ps>
auto Dispatcher<Ps...>::requirement_of(const TaskSpec& spec) const -> Requirement {
    auto requirement = Requirement{vram_asked(spec), spec.gpus,      spec.platforms, spec.platforms_refused,
                                   spec.software,    spec.gang_size, spec.same_card};
    const auto canonical = [](auto& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    canonical(requirement.gpus);
    canonical(requirement.platforms);
    canonical(requirement.platforms_refused);
    if (!requirement.platforms.empty()) {  // what is accepted says it all
        std::erase_if(requirement.platforms, [&](const std::string& platform) {
            return std::binary_search(requirement.platforms_refused.begin(), requirement.platforms_refused.end(), platform);
        });
        requirement.platforms_refused.clear();
    }
    return requirement;
}

/// The same, if it is known already and the spec has it in canonical form: then nothing is copied.
template <class... Ps>
auto Dispatcher<Ps...>::requirement_known(const TaskSpec& spec) const -> std::optional<RequirementId> {
    const auto canonical = [](const auto& list) {
        return std::adjacent_find(list.begin(), list.end(), [](const auto& a, const auto& b) { return !(a < b); }) == list.end();
    };
    if (!canonical(spec.gpus) || !canonical(spec.platforms) || !canonical(spec.platforms_refused) ||
        (!spec.platforms.empty() && !spec.platforms_refused.empty())) {
        return std::nullopt;
    }
    const auto id = state_.fits().requirements().find(RequirementView{
        vram_asked(spec), spec.gpus, spec.platforms, spec.platforms_refused, spec.software, spec.gang_size, spec.same_card});
    return id ? std::optional{RequirementId{*id}} : std::nullopt;
}

/// Exact cards overrule the least VRAM, so it must not split their group.
template <class... Ps>
auto Dispatcher<Ps...>::vram_asked(const TaskSpec& spec) -> Gibibytes {
    const auto by_name_only = [](const GpuChoice& choice) { return choice.vram == Gibibytes{}; };
    const auto exact = !spec.gpus.empty() && std::none_of(spec.gpus.begin(), spec.gpus.end(), by_name_only);
    return exact ? Gibibytes{} : spec.vram_min;
}

template <class... Ps>
auto Dispatcher<Ps...>::lease_value(LeaseHandle h) const -> Lease {
    const auto& record = state_.leases()[h];
    return {state_.tasks()[record.task].id, state_.nodes()[record.node].node.id, record.token, record.member, record.of,
            record.deadline};
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
auto Dispatcher<Ps...>::ended(TaskId id) const -> std::optional<TaskEnd> {
    const auto h = state_.ended_tasks().find(id);
    if (!h) {
        return std::nullopt;
    }
    const auto& task = state_.ended_tasks()[*h];
    const auto by_node = task.node != no_handle<NodeNameId>;
    return TaskEnd{task.ending, task.cause, by_node ? std::optional{state_.node_names().value(task.node.value)} : std::nullopt};
}

template <class... Ps>
auto Dispatcher<Ps...>::lease(TaskId task, std::uint32_t member) const -> std::optional<Lease> {
    auto found = std::optional<Lease>{};
    each_lease_of(task, [&](const Lease& lease) {
        if (lease.member == member) {
            found = lease;
        }
    });
    return found;
}

template <class... Ps>
auto Dispatcher<Ps...>::lease_of(NodeId node) const -> std::optional<Lease> {
    const auto n = present_node(node);
    return n && state_.nodes()[*n].node.leased() ? std::optional{lease_value(state_.nodes()[*n].node.lease)} : std::nullopt;
}

template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_lease_of(TaskId task, F&& f) const {
    if (const auto t = state_.tasks().find(task); t && state_.tasks()[*t].state == TaskState::running) {
        each_member(*t, [&](LeaseHandle l) { f(lease_value(l)); });
    }
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

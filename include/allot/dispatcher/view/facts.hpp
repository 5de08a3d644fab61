#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/ageing.hpp>
#include <allot/core/each_once.hpp>
#include <allot/core/lease.hpp>
#include <allot/dispatcher/parts.hpp>

namespace allot { inline namespace v0 {

/// Number of models on its disk for which a node counts once more among those settled or renewed in one command.
inline constexpr std::uint32_t models_per_effort = 32;
/// Number of models that nodes which leave give up in one command, and of those that are given up at once when they are
/// due. Each `models_per_effort_gone` of these count as one unit of `due_max`, and so do as many as
/// `models_per_effort_kept` that the node had, because its list is copied. Part of the rules version.
inline constexpr std::uint32_t models_gone_max = 128;
inline constexpr std::uint32_t models_gone_due = 512;
inline constexpr std::uint32_t models_per_effort_gone = 4;
inline constexpr std::uint32_t models_per_effort_kept = 256;

/// Answers questions that the records alone decide: look-ups, leases, the order of the queue, and the requirements of a
/// task.
///
/// @complexity unless stated: O(1), or linear in the models, names and leases of the one node or task.
template <class... Ps>
class Facts : public Parts<Ps...> {
    using Below = Parts<Ps...>;

public:
    using typename Below::Types;
    using Record = typename Types::Record;
    using NodeData = typename Types::NodeData;
    using State = typename Types::State;
    using Configuration = typename Types::Configuration;
    using Command = typename Types::Command;
    using WeightPolicy = typename Types::WeightPolicy;
    using QoSTracker = typename Types::QoSTracker;
    using Terms = typename Types::Terms;
    using Valuation = typename Types::Valuation;

    /// All parts in their first state. Throws as `Parts` does.
    explicit Facts(const typename Types::Pack::All& all) : Below{all} {}

    using Below::records, Below::rules, Below::qos, Below::valuation, Below::terms, Below::placement;

    /// The time of the last command.
    [[nodiscard]] auto now() const noexcept -> TimePoint { return records.counters().now; }

    /// True if a draw eliminates the nodes that it rejects, so that it needs no scan (rule 12).
    [[nodiscard]] auto eliminates() const noexcept -> bool { return records.counters().rules_version >= 2; }

    /// True if a node that lacks a model of a task never gets the task.
    [[nodiscard]] auto gates() const noexcept -> bool { return rules->narrowing == Narrowing::gate; }

    /// True if the rules bound the tasks of one owner, so that tasks have to be counted.
    [[nodiscard]] static auto has_quota(const RulesParameters& rules) -> bool {
        return rules.tasks_per_owner_max != 0xFFFF'FFFFU;
    }

    /// Calls `f(policy)` for each policy, in the order of the roles.
    template <class F>
    void each_policy(F&& f) const {
        Parts<Ps...>::each_of(*this, f);
    }

    /// True if a node can be drawn: it is available, not excluded, and no pinned task waits for it.
    [[nodiscard]] static auto is_candidate(const NodeStanding& node) -> bool {
        return node.state == NodeState::available && !node.excluded && node.held == no_handle<TaskHandle>;
    }
    [[nodiscard]] static auto is_candidate(const Record& record) -> bool {
        return is_candidate(standing_of(record.node));
    }

    /// True if the pool lists a node: it can be drawn, or could when it left and still has models.
    [[nodiscard]] static auto is_listed(const NodeStanding& node) -> bool {
        return is_candidate(node) || node.state == NodeState::departing_free;
    }
    [[nodiscard]] static auto is_listed(const Record& record) -> bool { return is_listed(standing_of(record.node)); }

    /// True if the QoS tracker calls the node proven, or does not distinguish proven nodes.
    [[nodiscard]] auto proven(const Record& record) const -> bool {
        if constexpr (has_proven<QoSTracker>) {
            return qos.proven(record.qos);
        } else {
            return true;
        }
    }

    /// Stake that was taken away from a node and can still be forfeited; 0 if the tracker knows none.
    [[nodiscard]] auto unbonding(const Record& record) const -> Amount {
        if constexpr (has_unbonding<QoSTracker>) {
            const auto stake = qos.unbonding(record.qos);
            return stake.until > now() ? stake.stake : Amount{};
        } else {
            return {};
        }
    }

    /// True if the node that failed a task is not blamed before another one has finished it.
    [[nodiscard]] auto waits_for_evidence(const Task& task, OutcomeKind outcome) const -> bool {
        if constexpr (has_evidence<Terms>) {
            return !task.pinned() && gang_size(task) == 1 && terms.waits_for_evidence(outcome);
        } else {
            return false;
        }
    }

    /// The nodes that failed a task and wait for evidence: the last ones that it avoids, one for each strike.
    [[nodiscard]] auto suspects(const Task& task) const -> std::span<const NodeId> {
        if (!waits_for_evidence(task, OutcomeKind::timeout)) { return {}; }
        const auto all = task.avoided();
        return all.last(std::min<std::size_t>(task.strikes, all.size()));
    }

    /// Those of them that are to blame, as a node has finished the task: all but the ones of its own operator.
    [[nodiscard]] auto convicted(const Task& task, NodeHandle by) const -> std::vector<NodeHandle> {
        auto found = std::vector<NodeHandle>{};
        if constexpr (has_evidence<Terms>) {
            for (const auto& id : suspects(task)) {
                const auto n = records.nodes().find(id);
                if (n && records.nodes()[*n].node.operator_id() != records.nodes()[by].node.operator_id()) {
                    found.push_back(*n);
                }
            }
        }
        return found;
    }

    /// The outcome that the QoS tracker gets for a node when a task fails on it: `cancelled` if the terms do not blame
    /// the node, or not yet.
    [[nodiscard]] auto attributed(const Task& task, OutcomeKind outcome) const -> OutcomeKind {
        if (waits_for_evidence(task, outcome)) { return OutcomeKind::cancelled; }
        if constexpr (has_blames<Terms>) {
            return terms.blames(task, outcome) ? outcome : OutcomeKind::cancelled;
        } else {
            return outcome;
        }
    }

    /// True if a newcomer to a full queue exceeds the worst task by as much as the rules ask (`Rules::outbid_by`).
    [[nodiscard]] auto outbids(const Task& newcomer, const Task& worst) const -> bool {
        const auto by = rules->outbid_by;
        if (rules->value_doubles_in == Duration{0}) { return at_least(newcomer.value, by, worst.value); }
        const auto margin = log2_of(by.num, by.den) - log2_of(1, 1);
        constexpr auto any = no_handle<TaskHandle>;
        return entry_of(any, newcomer).value.num() >= entry_of(any, worst).value.num() + u128{margin};
    }

    /// The node's entry for a model on its disk; null if there is none.
    [[nodiscard]] auto holds(NodeHandle h, ModelId model) const -> const HeldModel* {
        return find_model(records.holdings(h), model);
    }

    /// How many units of `due_max` or `renewals_max` a node takes, because each of its models has a sum to be changed.
    /// From rules version 2 on it is one more for each 32 models on its disk (rules 5 and 12).
    [[nodiscard]] auto effort(NodeHandle h) const -> std::uint32_t {
        return eliminates() ? 1 + static_cast<std::uint32_t>(records.holdings(h).size() / models_per_effort) : 1;
    }

    /// How many units of `due_max` a node takes when it is due. If it departs, those of `effort_of`.
    [[nodiscard]] auto effort_due(NodeHandle h) const -> std::uint32_t {
        const auto has = records.holdings(h).size();
        return records.nodes()[h].node.departs() ? effort_of(has, has) : effort(h);
    }
    /// How many units of `due_max` a node takes that has so many models, of which so many are to go.
    [[nodiscard]] static auto effort_of(std::size_t goes, std::size_t has) -> std::uint32_t {
        const auto gone = std::min<std::size_t>(goes, models_gone_due);
        return 1 + static_cast<std::uint32_t>(gone / models_per_effort_gone + has / models_per_effort_kept);
    }

    /// How long a model on a node's disk counts without being run or reported; 0 for good (rule 51).
    [[nodiscard]] auto held_for() const -> Duration {
        if constexpr (has_held_for<typename Types::Placement>) {
            return std::clamp(placement.held_for(), Duration{0}, duration_max);
        } else {
            return Duration{0};
        }
    }

    /// True if the time of a request or of a holding is over. @pre `at` points to an entry of `models`.
    [[nodiscard]] auto is_over(const HeldModels& models, const HeldModel* at) const -> bool {
        return models.expires(at) && models.until(at) <= records.counters().now;
    }
    /// Number of models on a node's disk whose time is over.
    /// @complexity linear in the models.
    [[nodiscard]] auto models_over(NodeHandle h) const -> std::size_t {
        const auto& held = records.holdings(h);
        return static_cast<std::size_t>(
            std::count_if(held.begin(), held.end(), [&](const HeldModel& model) { return is_over(held, &model); }));
    }
    /// How many units of `due_max` a node takes whose requests or models expire.
    /// @complexity linear in the models.
    [[nodiscard]] auto effort_expiring(NodeHandle h) const -> std::uint32_t {
        const auto over = models_over(h);
        return over == 0 ? 1 : effort_of(over, records.holdings(h).size());
    }

    /// The node's request to fetch a model, also one that is over; null if there is none.
    [[nodiscard]] auto wish_for(NodeHandle h, ModelId model) const -> const HeldModel* {
        return find_model(records.wishes(h), model);
    }

    /// The model that is on the fewest disks, the first of these models among equals.
    /// @pre there is a model.
    [[nodiscard]] auto rarest(std::span<const ModelId> models) const -> ModelId {
        const auto& known = records.models();
        return *std::min_element(models.begin(), models.end(),
                                 [&](ModelId a, ModelId b) { return known.holders(a) < known.holders(b); });
    }

    /// True if all models of a task are on the node's disk.
    [[nodiscard]] auto holds_all(NodeHandle h, std::span<const ModelId> models) const -> bool {
        return std::all_of(models.begin(), models.end(), [&](ModelId model) { return holds(h, model) != nullptr; });
    }
    [[nodiscard]] auto holds_all(NodeHandle h, const Task& task) const -> bool { return holds_all(h, task.models()); }

    /// The entry of a task in the queue's order, also of one that is not queued: its value is aged as the rules say.
    [[nodiscard]] auto entry_of(TaskHandle h, const Task& task) const -> QueueEntry {
        const auto doubling = rules->value_doubles_in;
        const auto value = doubling == Duration{0} ? task.value : aged(task.value, task.submitted_at, doubling);
        return {h, task.requirement, value, task.sequence};
    }

    /// The answers of the terms about times, which may be too long for a sum or not positive.
    [[nodiscard]] auto lease_length(const Node& node, const Task& task) const -> Duration {
        return std::clamp(terms.length(node, task), Duration{1}, duration_max);
    }
    [[nodiscard]] auto lease_length_max(const Node& node, const Task& task) const -> Duration {
        return std::clamp(terms.length_max(node, task), Duration{1}, duration_max);
    }
    [[nodiscard]] auto patience(const Task& task) const -> Duration {
        return std::clamp(terms.patience(task), Duration{1}, duration_max);
    }

    /// The value of a new task. A lease is given to no node yet, so terms that look at the node see one without facts.
    [[nodiscard]] auto value_of(const Task& task, const Requirement& requirement) const -> Value {
        if constexpr (has_value_of_reserved<Valuation>) {
            return valuation.value(task, requirement, lease_length(Node{}, task));
        } else {
            return valuation.value(task, requirement);
        }
    }

    /// The least fee of a task with this spec; 0 if the terms have none.
    [[nodiscard]] auto fee_min(const TaskSpec& spec) const -> Amount {
        if constexpr (has_fee_min<Terms>) {
            const auto length = lease_length(Node{}, task_of(spec));
            if (!spec.node) { return terms.fee_min(length * std::int64_t{spec.gang_size}); }
        }
        return {};
    }

    /// True if `match` alone draws.
    [[nodiscard]] auto draws_in_rounds() const -> bool {
        if constexpr (has_rounds<Terms>) {
            return terms.draws_in_rounds();
        } else {
            return false;
        }
    }

    /// The latest time at which a task may have begun to wait that a match at this moment draws; none if the terms
    /// refuse the match.
    [[nodiscard]] auto drawn_until(const Moment& moment) const -> std::optional<TimePoint> {
        if constexpr (has_rounds<Terms>) {
            if (terms.draws_in_rounds()) { return terms.drawn_until(moment); }
        }
        return moment.time;
    }

    /// The time at which a waiting task was submitted or started over, the later one. It follows from the end of
    /// its patience; where that would lie in the future because parameters have changed, it is the submission.
    [[nodiscard]] auto waits_since(const Task& task) const -> TimePoint {
        const auto since = task.due_at - patience(task);
        return since > now() ? task.submitted_at : std::max(since, task.submitted_at);
    }

    /// True if a node that runs a task of this group started it after a time.
    /// @complexity O(members).
    [[nodiscard]] auto started_after(GroupHandle group, TimePoint time) const -> bool {
        const auto& members = records.groups()[group].members;
        return std::any_of(members.begin(), members.end(), [&](const GroupRecord::Member& member) {
            const auto n = records.nodes().find(member.node);
            if (!n || !records.nodes()[*n].node.leased()) { return false; }
            const auto& lease = records.leases()[records.nodes()[*n].node.lease];
            return lease.started_at > time && records.tasks()[lease.task].group == group;
        });
    }

    /// A new task's record, still without models, requirement, value and group.
    [[nodiscard]] auto task_of(const TaskSpec& spec) const -> Task {
        auto task = Task{};
        describe(task, spec);
        return task;
    }
    /// The same in a blank record, which may have a blank rest.
    void describe(Task& task, const TaskSpec& spec) const {
        task.id = spec.id;
        if (spec.owner) { task.rest.made().owner = *spec.owner; }
        task.fee = spec.fee;
        task.duration_estimate = spec.duration_estimate;
        if (!spec.labels.empty()) { task.rest.made().labels.assign(spec.labels.begin(), spec.labels.end()); }
        task.submitted_at = records.counters().now;
        task.sequence = records.counters().sequence_next;
        task.pinned_to =
            spec.node ? records.nodes().find(*spec.node).value_or(no_handle<NodeHandle>) : no_handle<NodeHandle>;
    }

    /// The requirement of a task for a node's class, in canonical form.
    [[nodiscard]] auto requirement_of(const TaskSpec& spec) const -> Requirement {
        auto requirement = Requirement{vram_asked(spec), spec.gpus,      spec.platforms, spec.platforms_refused,
                                       spec.software,    spec.gang_size, spec.same_card};
        canonical(requirement.gpus);
        canonical(requirement.platforms);
        canonical(requirement.platforms_refused);
        if (!requirement.platforms.empty()) {  // the accepted ones say it all
            std::erase_if(requirement.platforms, [&](const std::string& platform) {
                return std::binary_search(requirement.platforms_refused.begin(), requirement.platforms_refused.end(),
                                          platform);
            });
            requirement.platforms_refused.clear();
        }
        return requirement;
    }

    /// The id of the same requirement, if it is known and the spec has it in canonical form. It copies nothing.
    [[nodiscard]] auto requirement_known(const TaskSpec& spec) const -> std::optional<RequirementId> {
        const auto canonical = [](const auto& list) {
            return std::adjacent_find(list.begin(), list.end(),
                                      [](const auto& a, const auto& b) { return !(a < b); }) == list.end();
        };
        if (!canonical(spec.gpus) || !canonical(spec.platforms) || !canonical(spec.platforms_refused) ||
            (!spec.platforms.empty() && !spec.platforms_refused.empty())) {
            return std::nullopt;
        }
        const auto id = records.fits().requirements().find(RequirementView{vram_asked(spec), spec.gpus, spec.platforms,
                                                                           spec.platforms_refused, spec.software,
                                                                           spec.gang_size, spec.same_card});
        return id ? std::optional{RequirementId{*id}} : std::nullopt;
    }

    /// The least VRAM of the requirement. It is zero for exact cards: they overrule it, so it must not split their
    /// group.
    [[nodiscard]] static auto vram_asked(const TaskSpec& spec) -> Gibibytes {
        const auto by_name_only = [](const GpuChoice& choice) { return choice.vram == Gibibytes{}; };
        const auto exact = !spec.gpus.empty() && std::none_of(spec.gpus.begin(), spec.gpus.end(), by_name_only);
        return exact ? Gibibytes{} : spec.vram_min;
    }

    /// The lease as a value, as events have it.
    [[nodiscard]] auto lease_value(LeaseHandle h) const -> Lease {
        const auto& record = records.leases()[h];
        return {records.tasks()[record.task].id,
                records.nodes()[record.node].node.id,
                record.token,
                record.member,
                record.of,
                record.deadline,
                {record.task, h, record.node}};
    }

    /// The deadline that a renewal would set: a new length from now, up to the longest life of the lease (rule 6).
    [[nodiscard]] auto renewed_until(LeaseHandle h) const -> TimePoint {
        const auto& lease = records.leases()[h];
        const auto& node = records.nodes()[lease.node].node;
        const auto& task = records.tasks()[lease.task];
        return std::min(records.counters().now + lease_length(node, task),
                        lease.started_at + lease_length_max(node, task) + lease.postponed);
    }

    /// The handle of a node that has not left; none for other ids.
    [[nodiscard]] auto present_node(NodeId id) const -> std::optional<NodeHandle> {
        const auto h = records.nodes().find(id);
        return h && records.nodes()[*h].node.present() ? h : std::nullopt;
    }

    /// The record of a node that has not been forgotten, or null.
    [[nodiscard]] auto node(NodeId id) const -> const Record* {
        const auto h = records.nodes().find(id);
        return h ? &records.nodes()[*h] : nullptr;
    }

    /// The record of a task that has not ended, or null.
    [[nodiscard]] auto task(TaskId id) const -> const Task* {
        const auto h = records.tasks().find(id);
        return h ? &records.tasks()[*h] : nullptr;
    }

    /// The end of a task; none if it has not ended, or is forgotten (`Rules::forget_tasks_after`).
    [[nodiscard]] auto ended(TaskId id) const -> std::optional<TaskEnd> {
        const auto h = records.ended_tasks().find(id);
        if (!h) { return std::nullopt; }
        const auto& task = records.ended_tasks()[*h];
        const auto by_node = task.node != no_handle<NodeNameId>;
        return TaskEnd{task.ending, task.cause,
                       by_node ? std::optional{records.node_names().value(task.node.value)} : std::nullopt};
    }

    /// The lease under which a task runs on one of its nodes; none if it does not run. Verbs that take a lease read
    /// only its task, node and token.
    [[nodiscard]] auto lease(TaskId task, std::uint32_t member) const -> std::optional<Lease> {
        auto found = std::optional<Lease>{};
        each_lease_of(task, [&](const Lease& lease) {
            if (lease.member == member) { found = lease; }
        });
        return found;
    }

    /// The lease that a node has; none if it has no task.
    [[nodiscard]] auto lease_of(NodeId node) const -> std::optional<Lease> {
        const auto n = present_node(node);
        return n && records.nodes()[*n].node.leased() ? std::optional{lease_value(records.nodes()[*n].node.lease)}
                                                      : std::nullopt;
    }

    /// Calls `f(lease)` for each node of a running task, by member.
    template <class F>
    void each_lease_of(TaskId task, F&& f) const {
        if (const auto t = records.tasks().find(task); t && records.tasks()[*t].state == TaskState::running) {
            each_member(*t, [&](LeaseHandle l) { f(lease_value(l)); });
        }
    }

    /// The time at which something is due next; call `advance` then.
    [[nodiscard]] auto next_deadline() const noexcept -> std::optional<TimePoint> {
        const auto* due = records.due_first();
        return due == nullptr ? std::nullopt : std::optional{TimePoint{Duration{due->time}}};
    }

    /// Number of nodes that a task needs.
    [[nodiscard]] auto gang_size(const Task& task) const -> std::uint32_t {
        return records.fits().value(task.requirement).gang_size;
    }

    /// The latest end of a lease that is not renewed: its deadline or, if it is completed, the last deadline of its
    /// gang.
    [[nodiscard]] auto ends_by(LeaseHandle lease) const -> TimePoint {
        auto last = records.leases()[lease].deadline;
        if (records.leases()[lease].phase == LeasePhase::completed) {
            last = TimePoint{};
            each_member(records.leases()[lease].task, [&](LeaseHandle l) {
                if (records.leases()[l].phase != LeasePhase::completed) {
                    last = std::max(last, records.leases()[l].deadline);
                }
            });
        }
        return last;
    }

    /// The record that a task would have if it were queued now. A model or requirement that no record has yet has no
    /// id.
    /// @pre `check` does not refuse it.
    [[nodiscard]] auto record_of(const TaskSpec& spec) const -> Task {
        auto task = task_of(spec);
        const auto requirement = requirement_of(spec);
        const auto known = records.fits().requirements().find(requirement);
        task.requirement = known ? RequirementId{*known} : no_handle<RequirementId>;
        for (const auto name : each_once(spec.models)) {
            task.rest.made().models.push_back(records.models().find(name).value_or(no_handle<ModelId>));
        }
        task.value = value_of(task, requirement);
        if (spec.group) { task.group = records.groups().find(*spec.group).value_or(no_handle<GroupHandle>); }
        task.state = TaskState::queued;
        task.due_at = records.counters().now + patience(task);
        return task;
    }

    /// The next step for a task whose lease ended with this outcome. A pinned task ends, because no other node can run
    /// it.
    [[nodiscard]] auto after(const Task& task, OutcomeKind outcome) const -> Next {
        return task.pinned() ? Next::end : terms.after(task, outcome);
    }

    /// Calls `f(handle of the lease)` for each node of a running task, by member.
    template <class F>
    void each_member(TaskHandle t, F&& f) const {
        for (auto l = records.tasks()[t].lease; l != no_handle<LeaseHandle>; l = records.leases()[l].next) { f(l); }
    }

    /// True if the task of a lease has other leases.
    [[nodiscard]] auto has_others(LeaseHandle l) const -> bool {
        const auto& lease = records.leases()[l];
        return records.tasks()[lease.task].lease != l || lease.next != no_handle<LeaseHandle>;
    }
};

}}  // namespace allot::v0

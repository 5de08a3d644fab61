#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <allot/core/error.hpp>
#include <allot/dispatcher/view/view.hpp>

namespace allot { inline namespace v0 {

/// The handles that `Check` looked up, so that the execution of an accepted command does not look them up again.
struct Found {
    std::optional<NodeHandle> node{};
    std::optional<TaskHandle> task{};
    std::optional<LeaseHandle> lease{};
    std::optional<RequirementId> requirement{};  ///< That of a new task, if its spec is in canonical form and it is
                                                 ///< known.
    std::optional<RequirementId> poorest{};      ///< The requirement that makes way for that of a new task.
    std::optional<ClassId> poorest_class{};      ///< The class that makes way for that of a node.
    std::optional<NodeHandle> poorest_node{};    ///< The node that makes way for a new one.
    std::optional<NodeHandle> holder{};          ///< The node that makes way for the models of another one.
    std::uint64_t crowded_by = 0;                ///< Part of the models' table that the node asks for, if other nodes
                                                 ///< have to make way for it.
};

/// The error of a command, if it has one: one overload per command, none of which changes the state. Handles that it
/// looks up stay in `found`, so that the execution of an accepted command does not look them up again.
///
/// @complexity of one call: that of the command in `Dispatcher`; more only where a table is full.
template <class... Ps>
class Check {
public:
    using Verdict = std::optional<Error>;

    using Configuration = typename View<Ps...>::Configuration;

    const View<Ps...>& view;
    Found& found;

    auto operator()(const command::Join& c) const -> Verdict {
        const auto& node = c.node;
        if (node.id.is_null() || (node.operator_id && node.operator_id->is_null())) { return Error::id_invalid; }
        found.node = view.records.nodes().find(node.id);
        if (found.node && view.records.nodes()[*found.node].node.present()) { return Error::node_duplicate; }
        if (!node.stake.admitted()) { return Error::amount_overflow; }
        if (!found.node && view.records.nodes().size() >= view.rules->nodes_max) {
            found.poorest_node = view.poorest_node(node.stake);
            if (!found.poorest_node) { return Error::too_many_nodes; }
        }
        if (const auto error = names(node.models, view.rules->models_per_node_max)) { return error; }
        if (const auto error = room_for(node.models, node.stake, found.node, true)) { return error; }
        if (const auto error = names(node.labels, view.rules->labels_max)) { return error; }
        const auto left =
            found.poorest_node ? view.records.nodes()[*found.poorest_node].node.node_class : no_handle<ClassId>;
        return node_class(NodeClass{node.gpu, node.vram, node.platform, node.software}, node.stake, left,
                          no_handle<ClassId>);
    }

    auto operator()(const command::Update& c) const -> Verdict {
        const auto& change = c.change;
        const auto n = found.node = view.present_node(change.id);
        if (!n) { return Error::node_unknown; }
        if (!change.gpu && !change.vram && !change.stake && !change.platform && !change.software &&
            !change.operator_id && !change.labels) {
            return Error::update_empty;
        }
        if (change.stake && !change.stake->admitted()) { return Error::amount_overflow; }
        if (change.operator_id && change.operator_id->is_null()) { return Error::id_invalid; }
        if (change.labels) {
            if (const auto error = names(*change.labels, view.rules->labels_max)) { return error; }
        }
        const auto& node = view.records.nodes()[*n].node;
        const auto& was = view.records.fits().value(node.node_class);
        const auto is = changed_class(was, change);
        if (is == was) { return std::nullopt; }  // also if it would be refused today
        return node_class(is, change.stake.value_or(node.stake), node.node_class, node.node_class);
    }

    auto operator()(const command::Pause& c) const -> Verdict {
        const auto n = found.node = view.present_node(c.node);
        if (!n) { return Error::node_unknown; }
        switch (view.records.nodes()[*n].node.state) {
            case NodeState::pending_leave: return Error::already_leaving;
            case NodeState::paused:
            case NodeState::pending_pause: return Error::already_paused;
            default: return std::nullopt;
        }
    }

    auto operator()(const command::Resume& c) const -> Verdict {
        const auto n = found.node = view.present_node(c.node);
        if (!n) { return Error::node_unknown; }
        switch (view.records.nodes()[*n].node.state) {
            case NodeState::paused:
            case NodeState::pending_pause: return std::nullopt;
            case NodeState::pending_leave: return Error::already_leaving;
            default: return Error::not_paused;
        }
    }

    auto operator()(const command::Leave& c) const -> Verdict {
        const auto n = found.node = view.present_node(c.node);
        if (!n) { return Error::node_unknown; }
        return view.records.nodes()[*n].node.state == NodeState::pending_leave ? Verdict{Error::already_leaving}
                                                                               : std::nullopt;
    }

    auto operator()(const command::ReportModel& c) const -> Verdict {
        const auto n = found.node = view.present_node(c.node);
        if (!n) { return Error::node_unknown; }
        if (c.models.empty() && c.report != command::Report::inventory) { return Error::update_empty; }
        if (const auto error = names(c.models, view.rules->models_per_node_max)) { return error; }
        auto fresh = std::size_t{0};
        for (const auto name : each_once(c.models)) {
            const auto model = view.records.models().find(name);
            if (model && view.holds(*n, *model) != nullptr) { continue; }
            ++fresh;
            const auto wanted = model && view.wish_for(*n, *model) != nullptr;
            if (!wanted && (c.report == command::Report::remove || c.report == command::Report::unload)) {
                return Error::model_unknown;
            }
            if (c.report == command::Report::load) { return Error::model_not_on_disk; }
        }
        const auto adds = c.report == command::Report::add;
        if (adds && view.records.holdings(*n).size() + fresh > view.rules->models_per_node_max) {
            return Error::too_many_names;
        }
        const auto inventory = c.report == command::Report::inventory;
        return adds || inventory ? room_for(c.models, view.records.nodes()[*n].node.stake, n, inventory) : std::nullopt;
    }

    auto operator()(const command::Observe& c) const -> Verdict {
        found.node = view.records.nodes().find(c.node);
        if (!found.node) { return Error::node_unknown; }
        return c.outcome == OutcomeKind::scored ? Verdict{Error::points_out_of_range} : std::nullopt;
    }

    auto operator()(const command::Score& c) const -> Verdict {
        found.node = view.records.nodes().find(c.node);
        if (!found.node) { return Error::node_unknown; }
        return c.points > view.qos.points_max() ? Verdict{Error::points_out_of_range} : std::nullopt;
    }

    auto operator()(const command::Slash& c) const -> Verdict {
        found.node = view.records.nodes().find(c.node);
        if (!found.node) { return Error::node_unknown; }
        const auto& record = view.records.nodes()[*found.node];
        return record.node.present() || view.unbonding(record) > Amount{} ? std::nullopt : Verdict{Error::node_unknown};
    }

    /// A duplicate is told before all errors but those of ids, and looked for last: the place of the id is on its way
    /// from memory while the rest is checked.
    auto operator()(const command::Submit& c) const -> Verdict {
        const auto& task = c.task;
        if (task.id.is_null() || (task.owner && task.owner->is_null()) || (task.group && task.group->is_null())) {
            return Error::id_invalid;
        }
        const auto error = fresh(task);
        return view.records.tasks().find(task.id) || view.records.ended_tasks().find(task.id)
                   ? Verdict{Error::task_duplicate}
                   : error;
    }

    auto operator()(const command::Cancel& c) const -> Verdict {
        found.task = view.records.tasks().find(c.task);
        return found.task ? std::nullopt : Verdict{no_such(c.task)};
    }

    auto operator()(const command::Commit& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) { return error; }
        return phase() == LeasePhase::started ? std::nullopt : Verdict{Error::lease_already_committed};
    }
    auto operator()(const command::Disclose& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) { return error; }
        if (phase() == LeasePhase::started) { return Error::lease_not_committed; }
        return phase() == LeasePhase::disclosed ? Verdict{Error::lease_already_disclosed} : std::nullopt;
    }
    auto operator()(const command::Complete& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Fail& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Decline& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Renew& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) { return error; }
        const auto l = *found.lease;
        return view.renewed_until(l) <= view.records.leases()[l].deadline ? Verdict{Error::lease_renewal_capped}
                                                                          : std::nullopt;
    }

    auto operator()(const command::Advance&) const -> Verdict { return std::nullopt; }
    auto operator()(const command::Match&) const -> Verdict { return std::nullopt; }  // entropy comes with the Moment

    auto operator()(const command::Postpone& c) const -> Verdict {
        return c.by > Duration{0} && c.by < Duration{std::int64_t{1} << 32} ? std::nullopt
                                                                            : Verdict{Error::duration_invalid};
    }

    auto operator()(const command::Configure<Configuration>& c) const -> Verdict {
        const auto* fault =
            std::visit([](const auto& parameters) { return detail::parameter_fault(parameters); }, c.parameters);
        return fault == nullptr ? std::nullopt : Verdict{Error::parameter_invalid};
    }

    /// A class with an update's changes.
    [[nodiscard]] static auto changed_class(NodeClass value, const NodeUpdate& change) -> NodeClass {
        value.gpu = change.gpu.value_or(value.gpu);
        value.vram = change.vram.value_or(value.vram);
        value.platform = change.platform.value_or(value.platform);
        value.software = change.software.value_or(value.software);
        return value;
    }

private:
    [[nodiscard]] auto names(const std::vector<std::string>& list, std::uint32_t count_max) const -> Verdict {
        if (list.size() > count_max) { return Error::too_many_names; }
        for (const auto& name : list) {
            if (const auto error = one_name(name)) { return error; }
        }
        return std::nullopt;
    }
    /// The error if there is no room for the models that a node reports. A node with less stake for its part of the
    /// table may have to make way.
    /// @param own the node, if it is known.
    /// @param all true if the node has no models but these.
    [[nodiscard]] auto room_for(const std::vector<std::string>& models, Amount stake, std::optional<NodeHandle> own,
                                bool all) const -> Verdict {
        if (view.room_beside(models, own && all ? *own : no_handle<NodeHandle>) >= 0) { return std::nullopt; }
        const auto& known = view.records.models();
        auto part = own && !all ? view.models_part(view.records.holdings(*own)) : 0U;
        for (const auto name : each_once(models)) {
            const auto id = known.find(name);
            const auto has = id && own && view.holds(*own, *id) != nullptr;
            if (all || !has) { part += ModelTable::part((id ? known.holders(*id) : 0U) + (has ? 0U : 1U)); }
        }
        found.crowded_by = part;
        found.holder = view.poorest_holder(stake, part, own);
        return found.holder ? std::nullopt : Verdict{Error::too_many_models};
    }
    [[nodiscard]] auto one_name(const std::string& name) const -> Verdict {
        if (name.empty()) { return Error::name_empty; }
        return name.size() > view.rules->name_bytes_max ? Verdict{Error::name_too_long} : std::nullopt;
    }
    [[nodiscard]] auto cards(const TaskSpec& task) const -> Verdict {
        if (task.gpus.empty()) { return task.vram_min == Gibibytes{} ? Verdict{Error::vram_zero} : std::nullopt; }
        if (task.gpus.size() > view.rules->choices_max) { return Error::too_many_names; }
        for (const auto& choice : task.gpus) {
            if (const auto error = one_name(choice.name)) { return error; }
            if (choice.vram == Gibibytes{} && task.vram_min == Gibibytes{}) { return Error::vram_zero; }
        }
        return std::nullopt;
    }
    [[nodiscard]] auto platforms(const TaskSpec& task) const -> Verdict {
        for (const auto* list : {&task.platforms, &task.platforms_refused}) {
            if (const auto error = names(*list, view.rules->choices_max)) { return error; }
        }
        const auto& refused = task.platforms_refused;
        const auto none_left =
            !task.platforms.empty() && !refused.empty() &&
            std::all_of(task.platforms.begin(), task.platforms.end(), [&](const std::string& platform) {
                return std::find(refused.begin(), refused.end(), platform) != refused.end();
            });
        return none_left ? Verdict{Error::task_unrunnable} : std::nullopt;
    }
    /// The error if no more tasks of a requirement may wait: no node that fits has weight; or its share of the queue is
    /// full, and the task does not outbid the worst of those that wait. A pinned task waits elsewhere.
    [[nodiscard]] auto share(const TaskSpec& task) const -> Verdict {
        if (!has_share<typename View<Ps...>::Types::TaskQueue> || task.node) { return std::nullopt; }
        auto known = found.requirement;
        if (!known) {
            const auto requirement = view.requirement_of(task);
            if (!view.share_exceeds(requirement)) { return Error::task_unrunnable; }
            if (const auto id = view.records.fits().requirements().find(requirement)) { known = RequirementId{*id}; }
        }
        if (!known || view.share_exceeds(*known, view.waiting_of(*known))) { return std::nullopt; }
        if (!view.share_exceeds(*known, 0)) { return Error::task_unrunnable; }
        const auto& worst = view.records.tasks()[*view.queue.worst_of(*known)];
        return view.outbids(view.record_of(task), worst) ? std::nullopt : Verdict{Error::requirement_full};
    }
    /// The error if a task cannot be pinned to the node that it names.
    [[nodiscard]] auto pin(const TaskSpec& task) const -> Verdict {
        if (task.owner || task.group || task.gang_size > 1) { return Error::pinned_shared; }
        const auto n = view.present_node(*task.node);
        if (!n) { return task.node->is_null() ? Error::id_invalid : Error::node_unknown; }
        const auto& node = view.records.nodes()[*n].node;
        if (node.state == NodeState::pending_leave || node.kicked_out) { return Error::already_leaving; }
        if (view.fitness(node.node_class, view.requirement_of(task)) != Reason::none) { return Error::task_unrunnable; }
        return node.held != no_handle<TaskHandle> ? Verdict{Error::node_holds_task} : std::nullopt;
    }
    /// The error of a node's class.
    /// @param left the class that a node leaves, which goes if that is its last node.
    /// @param own the class that may not make way.
    [[nodiscard]] auto node_class(const NodeClass& value, Amount stake, ClassId left, ClassId own) const -> Verdict {
        if (value.gpu.empty()) { return Error::gpu_empty; }
        if (value.gpu.size() > view.rules->name_bytes_max || value.platform.size() > view.rules->name_bytes_max) {
            return Error::name_too_long;
        }
        if (value.vram == Gibibytes{}) { return Error::vram_zero; }
        const auto& fits = view.records.fits();
        const auto one_goes = left != no_handle<ClassId> && fits.count(left) == 1;
        if (fits.classes().size() < view.rules->classes_max || one_goes || fits.classes().find(value)) {
            return std::nullopt;
        }
        found.poorest_class = view.poorest_class(stake, own);
        return found.poorest_class ? std::nullopt : Verdict{Error::too_many_classes};
    }

    /// The error of a task that is no duplicate.
    [[nodiscard]] auto fresh(const TaskSpec& task) const -> Verdict {
        const auto& rules = view.rules.parameters();
        if (view.records.tasks().size() + view.records.ended_tasks().size() >= rules.tasks_max) {
            return Error::too_many_tasks;
        }
        if (!task.fee.admitted()) { return Error::amount_overflow; }
        if (task.duration_estimate <= Duration{0} || task.duration_estimate >= Duration{std::int64_t{1} << 32}) {
            return Error::duration_invalid;
        }
        if (task.gang_size < 1 || task.gang_size > rules.gang_max || (task.same_card && task.gang_size == 1)) {
            return Error::gang_size_invalid;
        }
        if (task.fee < view.fee_min(task)) { return Error::fee_too_low; }
        if (!task.node && task.fee > view.fee_max()) { return Error::fee_too_high; }
        if (const auto error = cards(task)) { return error; }
        if (const auto error = platforms(task)) { return error; }
        if (const auto error = names(task.models, rules.models_per_task_max)) { return error; }
        if (const auto error = names(task.labels, rules.labels_max)) { return error; }
        if (task.node) {
            if (const auto error = pin(task)) { return error; }
        }
        if (task.group) {
            const auto g = view.records.groups().find(*task.group);
            if (g && view.records.groups()[*g].tasks >= rules.group_members_max) { return Error::group_full; }
        }
        found.requirement = view.requirement_known(task);
        const auto& requirements = view.records.fits().requirements();
        if (!found.requirement && requirements.size() >= rules.requirements_max &&
            !requirements.find(view.requirement_of(task))) {
            found.poorest = view.poorest_requirement(view.record_of(task));
            if (!found.poorest) { return Error::too_many_requirements; }
        }
        if (rules.refuse_unrunnable && !view.fits_somebody(task, found.requirement)) { return Error::task_unrunnable; }
        if (const auto error = share(task)) { return error; }
        return task.owner && view.owners.count(*task.owner) >= rules.tasks_per_owner_max
                   ? Verdict{Error::owner_quota_reached}
                   : std::nullopt;
    }
    /// The error if a lease is not accepted. Accepted is a current lease of its task, with the same node and token,
    /// that is not completed.
    [[nodiscard]] auto refusal(const Lease& lease) const -> Verdict {
        const auto t = view.records.tasks().find(lease.task);
        if (!t) { return no_such(lease.task); }
        const auto& task = view.records.tasks()[*t];
        if (task.state != TaskState::running) { return Error::task_not_leased; }
        for (auto l = task.lease; l != no_handle<LeaseHandle>; l = view.records.leases()[l].next) {
            const auto& current = view.records.leases()[l];
            if (current.token == lease.token && view.records.nodes()[current.node].node.id == lease.node) {
                found.lease = l;
                return current.phase == LeasePhase::completed ? Verdict{Error::lease_completed} : std::nullopt;
            }
        }
        return Error::lease_stale;
    }
    /// The error for a task that is not there.
    [[nodiscard]] auto no_such(const TaskId& id) const -> Error {
        return view.records.ended_tasks().find(id) ? Error::task_ended : Error::task_unknown;
    }
    [[nodiscard]] auto phase() const -> LeasePhase { return view.records.leases()[*found.lease].phase; }
};

}}  // namespace allot::v0

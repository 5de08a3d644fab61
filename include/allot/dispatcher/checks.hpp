#pragma once

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// Says why a command would be refused: one overload a command, none of which changes anything. What was looked up on the way
/// stays in `found`, so that an accepted command looks nothing up twice.
template <class... Ps>
struct Dispatcher<Ps...>::Checker {
    using Verdict = std::optional<Error>;

    const Dispatcher& hub;
    Found& found;

    auto operator()(const command::Join& c) const -> Verdict {
        const auto& node = c.node;
        if (node.id.is_null() || (node.operator_id && node.operator_id->is_null())) {
            return Error::id_invalid;
        }
        found.node = hub.state_.nodes().find(node.id);
        if (found.node && hub.state_.nodes()[*found.node].node.present()) {
            return Error::node_duplicate;
        }
        if (!node.stake.admitted()) {
            return Error::amount_overflow;
        }
        if (!found.node && hub.state_.nodes().size() >= hub.rules_->nodes_max) {
            found.poorest_node = hub.poorest_node(node.stake);
            if (!found.poorest_node) {
                return Error::too_many_nodes;
            }
        }
        if (const auto error = names(node.models, hub.rules_->models_per_node_max)) {
            return error;
        }
        if (const auto error = room_for(node.models, node.stake, found.node, true)) {
            return error;
        }
        if (const auto error = names(node.labels, hub.rules_->labels_max)) {
            return error;
        }
        const auto left = found.poorest_node ? hub.state_.nodes()[*found.poorest_node].node.node_class : no_handle<ClassId>;
        return node_class(NodeClass{node.gpu, node.vram, node.platform, node.software}, node.stake, left, no_handle<ClassId>);
    }

    auto operator()(const command::Update& c) const -> Verdict {
        const auto& change = c.change;
        const auto n = found.node = hub.present_node(change.id);
        if (!n) {
            return Error::node_unknown;
        }
        if (!change.gpu && !change.vram && !change.stake && !change.platform && !change.software && !change.operator_id &&
            !change.labels) {
            return Error::update_empty;
        }
        if (change.stake && !change.stake->admitted()) {
            return Error::amount_overflow;
        }
        if (change.operator_id && change.operator_id->is_null()) {
            return Error::id_invalid;
        }
        if (change.labels) {
            if (const auto error = names(*change.labels, hub.rules_->labels_max)) {
                return error;
            }
        }
        const auto& node = hub.state_.nodes()[*n].node;
        return node_class(changed_class(hub.state_.fits().value(node.node_class), change), change.stake.value_or(node.stake),
                          node.node_class, node.node_class);
    }

    auto operator()(const command::Pause& c) const -> Verdict {
        const auto n = found.node = hub.present_node(c.node);
        if (!n) {
            return Error::node_unknown;
        }
        switch (hub.state_.nodes()[*n].node.state) {
            case NodeState::pending_leave: return Error::already_leaving;
            case NodeState::paused:
            case NodeState::pending_pause: return Error::already_paused;
            default: return std::nullopt;
        }
    }

    auto operator()(const command::Resume& c) const -> Verdict {
        const auto n = found.node = hub.present_node(c.node);
        if (!n) {
            return Error::node_unknown;
        }
        switch (hub.state_.nodes()[*n].node.state) {
            case NodeState::paused:
            case NodeState::pending_pause: return std::nullopt;
            case NodeState::pending_leave: return Error::already_leaving;
            default: return Error::not_paused;
        }
    }

    auto operator()(const command::Leave& c) const -> Verdict {
        const auto n = found.node = hub.present_node(c.node);
        if (!n) {
            return Error::node_unknown;
        }
        return hub.state_.nodes()[*n].node.state == NodeState::pending_leave ? Verdict{Error::already_leaving} : std::nullopt;
    }

    auto operator()(const command::ReportModel& c) const -> Verdict {
        const auto n = found.node = hub.present_node(c.node);
        if (!n) {
            return Error::node_unknown;
        }
        if (c.models.empty() && c.report != command::Report::inventory) {
            return Error::update_empty;
        }
        if (const auto error = names(c.models, hub.rules_->models_per_node_max)) {
            return error;
        }
        auto fresh = std::size_t{0};
        for (const auto& name : c.models) {
            const auto model = hub.state_.models().find(name);
            const auto* held = model ? hub.holds(*n, *model) : nullptr;
            if (held == nullptr || !held->on_disk()) {
                ++fresh;
            }
            if (held == nullptr && (c.report == command::Report::remove || c.report == command::Report::unload)) {
                return Error::model_unknown;
            }
            if ((held == nullptr || !held->on_disk()) && c.report == command::Report::load) {
                return Error::model_not_on_disk;
            }
        }
        const auto adds = c.report == command::Report::add;
        if (adds && on_disk(hub.state_.holdings(*n)) + fresh > hub.rules_->models_per_node_max) {
            return Error::too_many_names;
        }
        const auto inventory = c.report == command::Report::inventory;
        return adds || inventory ? room_for(c.models, hub.state_.nodes()[*n].node.stake, n, inventory) : std::nullopt;
    }

    auto operator()(const command::Observe& c) const -> Verdict {
        found.node = hub.state_.nodes().find(c.node);
        if (!found.node) {
            return Error::node_unknown;
        }
        return c.outcome == OutcomeKind::scored ? Verdict{Error::points_out_of_range} : std::nullopt;
    }

    auto operator()(const command::Score& c) const -> Verdict {
        found.node = hub.state_.nodes().find(c.node);
        if (!found.node) {
            return Error::node_unknown;
        }
        return c.points > hub.qos_.points_max() ? Verdict{Error::points_out_of_range} : std::nullopt;
    }

    auto operator()(const command::Slash& c) const -> Verdict {
        found.node = hub.present_node(c.node);
        return found.node ? std::nullopt : Verdict{Error::node_unknown};
    }

    auto operator()(const command::Submit& c) const -> Verdict {
        const auto& task = c.task;
        const auto& rules = *hub.rules_.operator->();
        if (task.id.is_null() || (task.owner && task.owner->is_null()) || (task.group && task.group->is_null())) {
            return Error::id_invalid;
        }
        if (hub.state_.tasks().find(task.id) || hub.state_.ended_tasks().find(task.id)) {
            return Error::task_duplicate;
        }
        if (hub.state_.tasks().size() + hub.state_.ended_tasks().size() >= rules.tasks_max) {
            return Error::too_many_tasks;
        }
        if (!task.fee.admitted()) {
            return Error::amount_overflow;
        }
        if (task.duration_estimate <= Duration{0} || task.duration_estimate >= Duration{std::int64_t{1} << 32}) {
            return Error::duration_invalid;
        }
        if (task.gang_size < 1 || task.gang_size > rules.gang_max || (task.same_card && task.gang_size == 1)) {
            return Error::gang_size_invalid;
        }
        if (const auto error = cards(task)) {
            return error;
        }
        if (const auto error = platforms(task)) {
            return error;
        }
        if (const auto error = names(task.models, rules.models_per_task_max)) {
            return error;
        }
        if (const auto error = names(task.labels, rules.labels_max)) {
            return error;
        }
        if (task.node) {
            if (const auto error = pin(task)) {
                return error;
            }
        }
        if (task.group) {
            const auto g = hub.state_.groups().find(*task.group);
            if (g && hub.state_.groups()[*g].tasks >= rules.group_members_max) {
                return Error::group_full;
            }
        }
        const auto& requirements = hub.state_.fits().requirements();
        if (requirements.size() >= rules.requirements_max && !requirements.find(hub.requirement_of(task))) {
            found.poorest = hub.poorest_requirement(hub.record_of(task));
            if (!found.poorest) {
                return Error::too_many_requirements;
            }
        }
        if (rules.refuse_unrunnable && !hub.fits_somebody(task)) {
            return Error::task_unrunnable;
        }
        return task.owner && hub.owners_.count(*task.owner) >= rules.tasks_per_owner_max ? Verdict{Error::owner_quota_reached}
                                                                                         : std::nullopt;
    }

    auto operator()(const command::Cancel& c) const -> Verdict {
        found.task = hub.state_.tasks().find(c.task);
        return found.task ? std::nullopt : Verdict{no_such(c.task)};
    }

    auto operator()(const command::Commit& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) {
            return error;
        }
        return phase() == LeasePhase::started ? std::nullopt : Verdict{Error::lease_already_committed};
    }
    auto operator()(const command::Disclose& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) {
            return error;
        }
        if (phase() == LeasePhase::started) {
            return Error::lease_not_committed;
        }
        return phase() == LeasePhase::disclosed ? Verdict{Error::lease_already_disclosed} : std::nullopt;
    }
    auto operator()(const command::Complete& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Fail& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Decline& c) const -> Verdict { return refusal(c.lease); }
    auto operator()(const command::Renew& c) const -> Verdict {
        if (const auto error = refusal(c.lease)) {
            return error;
        }
        const auto l = *found.lease;
        return hub.renewed_until(l) <= hub.state_.leases()[l].deadline ? Verdict{Error::lease_renewal_capped} : std::nullopt;
    }

    auto operator()(const command::Advance&) const -> Verdict { return std::nullopt; }
    auto operator()(const command::Match&) const -> Verdict { return std::nullopt; }  // entropy comes with the Moment

    auto operator()(const command::Configure<Configuration>& c) const -> Verdict {
        const auto* fault = std::visit([](const auto& parameters) { return detail::parameter_fault(parameters); }, c.parameters);
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
        if (list.size() > count_max) {
            return Error::too_many_names;
        }
        for (const auto& name : list) {
            if (const auto error = one_name(name)) {
                return error;
            }
        }
        return std::nullopt;
    }
    /// Whether models that a node says it has find room, if need be at the cost of a node with less stake for its part of the table.
    /// @param own the node, if it is known. @param all whether it has no others.
    [[nodiscard]] auto room_for(const std::vector<std::string>& models, Amount stake, std::optional<NodeHandle> own, bool all) const
        -> Verdict {
        if (hub.room_beside(models, own && all ? *own : no_handle<NodeHandle>) >= 0) {
            return std::nullopt;
        }
        const auto& known = hub.state_.models();
        auto part = own && !all ? hub.models_part(hub.state_.holdings(*own)) : 0U;
        for (const auto& name : models) {
            const auto id = known.find(name);
            const auto* held = id && own ? hub.holds(*own, *id) : nullptr;
            const auto has = held != nullptr && held->on_disk();
            if (all || !has) {
                part += ModelTable::part((id ? known.holders(*id) : 0U) + (has ? 0U : 1U));
            }
        }
        found.crowded_by = part;
        return hub.poorest_holder(stake, part, own) ? std::nullopt : Verdict{Error::too_many_models};
    }
    [[nodiscard]] auto one_name(const std::string& name) const -> Verdict {
        if (name.empty()) {
            return Error::name_empty;
        }
        return name.size() > hub.rules_->name_bytes_max ? Verdict{Error::name_too_long} : std::nullopt;
    }
    [[nodiscard]] auto cards(const TaskSpec& task) const -> Verdict {
        if (task.gpus.empty()) {
            return task.vram_min == Gibibytes{} ? Verdict{Error::vram_zero} : std::nullopt;
        }
        if (task.gpus.size() > hub.rules_->choices_max) {
            return Error::too_many_names;
        }
        for (const auto& choice : task.gpus) {
            if (const auto error = one_name(choice.name)) {
                return error;
            }
            if (choice.vram == Gibibytes{} && task.vram_min == Gibibytes{}) {
                return Error::vram_zero;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] auto platforms(const TaskSpec& task) const -> Verdict {
        for (const auto* list : {&task.platforms, &task.platforms_refused}) {
            if (const auto error = names(*list, hub.rules_->choices_max)) {
                return error;
            }
        }
        const auto& refused = task.platforms_refused;
        const auto none_left = !task.platforms.empty() && !refused.empty() &&
                               std::all_of(task.platforms.begin(), task.platforms.end(), [&](const std::string& platform) {
                                   return std::find(refused.begin(), refused.end(), platform) != refused.end();
                               });
        return none_left ? Verdict{Error::task_unrunnable} : std::nullopt;
    }
    /// Why a task may not be pinned to the node it names.
    [[nodiscard]] auto pin(const TaskSpec& task) const -> Verdict {
        if (task.owner || task.group || task.gang_size > 1) {
            return Error::pinned_shared;
        }
        const auto n = hub.present_node(*task.node);
        if (!n) {
            return task.node->is_null() ? Error::id_invalid : Error::node_unknown;
        }
        const auto& node = hub.state_.nodes()[*n].node;
        if (node.state == NodeState::pending_leave || node.kicked_out) {
            return Error::already_leaving;
        }
        if (hub.fitness(node.node_class, hub.requirement_of(task)) != Reason::none) {
            return Error::task_unrunnable;
        }
        return node.held != no_handle<TaskHandle> ? Verdict{Error::node_holds_task} : std::nullopt;
    }
    /// @param left the class that a node leaves, which goes if that is its last one. @param own the class that may not make way.
    [[nodiscard]] auto node_class(const NodeClass& value, Amount stake, ClassId left, ClassId own) const -> Verdict {
        if (value.gpu.empty()) {
            return Error::gpu_empty;
        }
        if (value.gpu.size() > hub.rules_->name_bytes_max || value.platform.size() > hub.rules_->name_bytes_max) {
            return Error::name_too_long;
        }
        if (value.vram == Gibibytes{}) {
            return Error::vram_zero;
        }
        const auto& fits = hub.state_.fits();
        const auto one_goes = left != no_handle<ClassId> && fits.count(left) == 1;
        if (fits.classes().size() < hub.rules_->classes_max || one_goes || fits.classes().find(value)) {
            return std::nullopt;
        }
        found.poorest_class = hub.poorest_class(stake, own);
        return found.poorest_class ? std::nullopt : Verdict{Error::too_many_classes};
    }

    /// Why a lease is not accepted; nothing when it is a current one of its task, same node, same token, and its work not done.
    [[nodiscard]] auto refusal(const Lease& lease) const -> Verdict {
        const auto t = hub.state_.tasks().find(lease.task);
        if (!t) {
            return no_such(lease.task);
        }
        const auto& task = hub.state_.tasks()[*t];
        if (task.state != TaskState::running) {
            return Error::task_not_leased;
        }
        for (auto l = task.lease; l != no_handle<LeaseHandle>; l = hub.state_.leases()[l].next) {
            const auto& current = hub.state_.leases()[l];
            if (current.token == lease.token && hub.state_.nodes()[current.node].node.id == lease.node) {
                found.lease = l;
                return current.phase == LeasePhase::completed ? Verdict{Error::lease_completed} : std::nullopt;
            }
        }
        return Error::lease_stale;
    }
    /// Why a task is not there.
    [[nodiscard]] auto no_such(const TaskId& id) const -> Error {
        return hub.state_.ended_tasks().find(id) ? Error::task_ended : Error::task_unknown;
    }
    [[nodiscard]] auto phase() const -> LeasePhase { return hub.state_.leases()[*found.lease].phase; }
};

template <class... Ps>
auto Dispatcher<Ps...>::check(const Command& command) const -> std::optional<Error> {
    auto found = Found{};
    return std::visit(Checker{*this, found}, command);
}

}}  // namespace allot::v0

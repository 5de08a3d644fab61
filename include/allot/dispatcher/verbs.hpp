#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// Carries out a command that was checked: one overload a command.
template <class... Ps>
struct Dispatcher<Ps...>::Applier {
    Dispatcher& hub;
    Step& step;
    const Found& found;
    Followers followers{hub};

    void operator()(const command::Join& c) {
        const auto& spec = c.node;
        const auto known = found.node;
        step.tell(event::NodeJoined{spec.id, known.has_value()});
        if (found.poorest_node) {
            make_room(*found.poorest_node);
        }
        const auto n = known ? *known : hub.state_.nodes().next();
        auto record = known ? hub.state_.nodes()[n] : Record{};
        auto& node = record.node;
        node.id = spec.id;
        node.operator_id = spec.operator_id ? *spec.operator_id : OperatorId{spec.id.bytes()};
        node.stake = spec.stake;
        node.stake_root = StakeRoot::from(spec.stake.units);
        node.labels.assign(spec.labels.begin(), spec.labels.end());
        node.state = NodeState::available;
        set_class(node, NodeClass{spec.gpu, spec.vram, spec.platform, spec.software});
        hub.qos_.joined(record.qos, now());
        const auto back_at = node.excluded ? hub.qos_.back_at(record.qos).value_or(never) : now();
        node.excluded = back_at > now();
        node.due_at = node.excluded ? back_at : never;
        hub.state_.put(n, std::move(record), followers);
        make_room();
        report(n, command::Report::add, found.crowded_by == 0 ? spec.models : admitted(n, spec.models, no_handle<NodeHandle>));
        became_candidate(n);
    }

    void operator()(const command::Update& c) {
        const auto& change = c.change;
        const auto n = *found.node;
        auto record = hub.state_.nodes()[n];
        auto& node = record.node;
        const auto weightless = weightless_now(record);
        if (change.stake) {
            node.stake = *change.stake;
            node.stake_root = StakeRoot::from(change.stake->units);
        }
        node.operator_id = change.operator_id.value_or(node.operator_id);
        if (change.labels) {
            node.labels.assign(change.labels->begin(), change.labels->end());
        }
        const auto& was = hub.state_.fits().value(node.node_class);
        const auto is = Checker::changed_class(was, change);
        const auto moves = !(was == is);
        if (moves) {  // places among the holders belong to a class: give them up and take new ones
            auto held = hub.state_.holdings(n);
            auto without_places = held;
            for (auto& model : without_places) {
                model.holding = Holding::wanted;  // not dropped: the last holder's models would be forgotten
            }
            hub.hold(n, std::move(without_places));
            set_class(node, is);
            hub.state_.put(n, std::move(record), followers);
            hub.hold(n, std::move(held));
        } else {
            hub.state_.put(n, std::move(record), followers);
        }
        step.tell(event::NodeUpdated{change.id});
        if (moves) {
            became_candidate(n);
            make_room();
        } else if (weightless || change.operator_id || change.labels) {
            step.freed.push_back(n);
        }
    }

    void operator()(const command::Pause& c) {
        const auto n = *found.node;
        if (hub.state_.nodes()[n].node.leased()) {
            set_state(n, NodeState::pending_pause);
            step.tell(event::NodePausePending{c.node});
        } else {
            set_state(n, NodeState::paused);
            step.tell(event::NodePaused{c.node});
        }
    }

    void operator()(const command::Resume& c) {
        const auto n = *found.node;
        const auto leased = hub.state_.nodes()[n].node.leased();
        set_state(n, leased ? NodeState::busy : NodeState::available);
        step.tell(event::NodeResumed{c.node});
        became_candidate(n);
    }

    void operator()(const command::Leave& c) {
        const auto n = *found.node;
        const auto record = hub.state_.nodes()[n];
        if (record.node.leased()) {
            set_state(n, NodeState::pending_leave);
            step.tell(event::NodeLeavePending{c.node});
        } else {
            step.tell(event::NodeLeft{c.node, record.node.stake});
            hub.depart(n, record, step);
        }
    }

    void operator()(const command::ReportModel& c) {
        const auto n = *found.node;
        step.tell(event::ModelsReported{c.node});
        const auto inventory = c.report == command::Report::inventory ? n : no_handle<NodeHandle>;
        report(n, c.report, found.crowded_by == 0 ? c.models : admitted(n, c.models, inventory));
        if (hub.rules_->narrowing == Narrowing::gate) {
            step.freed.push_back(n);  // what it holds decides what it may run
        }
    }

    void operator()(const command::Observe& c) { verdict(c.node, Outcome{c.outcome}); }
    void operator()(const command::Score& c) { verdict(c.node, Outcome{OutcomeKind::scored, c.points}); }

    /// The node goes at once. Its task is not to blame: it fails or starts over as the terms say.
    void operator()(const command::Slash& c) {
        const auto n = *found.node;
        auto record = hub.state_.nodes()[n];
        step.tell(event::NodeSlashed{c.node, record.node.stake});
        if (!record.node.leased()) {
            hub.depart(n, std::move(record), step);
            return;
        }
        const auto l = record.node.lease;
        const auto t = hub.state_.leases()[l].task;
        const auto next = hub.after(hub.state_.tasks()[t], OutcomeKind::incorrect_result);
        const auto others = hub.has_others(l);
        hub.tell_end(l, event::LeaseEnd::slashed, OutcomeKind::incorrect_result, step);
        if (others) {
            hub.unchain(l, {});
        }
        hub.state_.remove(l, followers);
        hub.depart(n, std::move(record), step);
        if (others) {
            hub.conclude(t, step);
            return;
        }
        const auto& task = hub.state_.tasks()[t];
        if (next == Next::end) {
            step.tell(event::TaskFailed{
                .task = task.id, .owner = task.notify_to(), .refunded = task.fee, .cause = FailCause::incorrect_result});
            hub.end(t, {Ending::failed, EndCause::incorrect_result, c.node});
        } else {
            step.tell(event::TaskRetried{task.id, task.notify_to(), OutcomeKind::incorrect_result});
            hub.start_over(t, std::nullopt, step);
        }
    }

    void operator()(const command::Submit& c) {
        const auto& spec = c.task;
        const auto t = hub.state_.tasks().next();
        auto task = hub.task_of(spec);
        hub.state_.edit([](Counters& counters) { ++counters.sequence_next; }, followers);
        const auto known = hub.requirement_known(spec);
        task.requirement = known ? *known : hub.state_.intern(hub.requirement_of(spec), followers);
        if (!spec.models.empty()) {
            task.models = interned(spec.models);
        }
        task.value = hub.valuation_.value(task, hub.state_.fits().value(task.requirement));
        if (spec.group) {
            task.group = entered(*spec.group);
        }
        if (found.poorest) {
            hub.displace(t, std::move(task), *found.poorest, step);
        } else {
            hub.dispatch(t, std::move(task), step);
        }
    }

    void operator()(const command::Cancel&) {
        const auto t = *found.task;
        const auto& task = hub.state_.tasks()[t];
        if (task.state == TaskState::running) {
            hub.each_member(t, [&](LeaseHandle l) { hub.tell_end(l, event::LeaseEnd::cancelled, OutcomeKind::cancelled, step); });
        }
        step.tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
        if (task.state == TaskState::running) {
            hub.release_all(t, {OutcomeKind::cancelled}, step);
        }
        hub.end(t, {.ending = Ending::cancelled});
    }

    void operator()(const command::Commit&) {
        enter(LeasePhase::committed);
        step.tell(event::TaskCommitted{hub.lease_value(*found.lease), owner()});
    }
    void operator()(const command::Disclose&) {
        enter(LeasePhase::disclosed);
        step.tell(event::TaskDisclosed{hub.lease_value(*found.lease), owner()});
    }

    void operator()(const command::Complete&) {
        const auto l = *found.lease;
        const auto t = hub.state_.leases()[l].task;
        if (hub.state_.leases()[l].of == 1) {
            hub.finish(t, step);
            return;
        }
        step.tell(event::LeaseCompleted{hub.lease_value(l), owner()});
        hub.state_.edit(l, [](LeaseRecord& lease) {
            lease.phase = LeasePhase::completed;
            lease.deadline = never;
        }, followers);
        hub.conclude(t, step);
    }

    void operator()(const command::Fail& c) {
        const auto l = *found.lease;
        const auto& task = hub.state_.tasks()[hub.state_.leases()[l].task];
        const auto ending =
            event::TaskFailed{.task = task.id, .owner = task.notify_to(), .refunded = task.fee, .cause = c.cause};
        hub.end_unsuccessfully(l, outcome_of(c.cause), {Ending::failed, event::cause_of(c.cause), c.lease.node}, ending, step);
    }

    /// Without one of its nodes a gang starts over, unless one has completed: then the others go on.
    void operator()(const command::Decline& c) {
        const auto l = *found.lease;
        const auto t = hub.state_.leases()[l].task;
        hub.tell_end(l, event::LeaseEnd::declined, OutcomeKind::declined, step);
        auto late = false;
        hub.each_member(t, [&](LeaseHandle m) { late = late || hub.state_.leases()[m].phase == LeasePhase::completed; });
        if (late) {
            hub.unchain(l, c.lease.node);
            hub.release(l, {OutcomeKind::declined}, step);
            hub.conclude(t, step);
            return;
        }
        if (hub.has_others(l)) {
            hub.unchain(l, {});
            hub.each_member(t, [&](LeaseHandle m) { hub.tell_end(m, event::LeaseEnd::withdrawn, OutcomeKind::cancelled, step); });
            hub.release_all(t, {OutcomeKind::cancelled}, step);
        }
        if (hub.state_.tasks()[t].pinned()) {  // nobody else can run it
            const auto& task = hub.state_.tasks()[t];
            step.tell(event::TaskCancelled{.task = task.id, .owner = task.notify_to(), .refunded = task.fee});
            hub.release(l, {OutcomeKind::declined}, step);
            hub.end(t, {.ending = Ending::cancelled});
            return;
        }
        hub.release(l, {OutcomeKind::declined}, step);
        hub.start_over(t, c.lease.node, step);
    }

    void operator()(const command::Renew&) {
        const auto l = *found.lease;
        const auto deadline = hub.renewed_until(l);
        hub.state_.edit(l, [&](LeaseRecord& lease) { lease.deadline = deadline; }, followers);
        step.tell(event::LeaseRenewed{hub.lease_value(l)});
    }

    void operator()(const command::Advance&) { step.tell(event::Advanced{now()}); }
    void operator()(const command::Match&) {
        const auto place = step.events.size();
        const auto started = hub.match_all(step);
        step.events.insert(place, event::Matched{started});
    }

    void operator()(const command::Configure<Configuration>& c) {
        hub.state_.note_configuration(hub.configuration_like(c.parameters));
        hub.configured(c.parameters);
        hub.state_.edit([&](Counters& counters) { counters.rules_version = c.rules_version; }, followers);
        step.tell(event::Configured{c.rules_version});
    }

private:
    [[nodiscard]] auto now() const -> TimePoint { return hub.state_.counters().now; }

    /// A node became one of its class. The one that makes them enough frees them all.
    void became_candidate(NodeHandle n) {
        step.freed.push_back(n);
        const auto& fits = hub.state_.fits();
        const auto node_class = hub.state_.nodes()[n].node.node_class;
        if (fits.active(node_class) == hub.rules_->class_nodes_min) {
            hub.each_free(node_class, [&](NodeHandle h) { step.freed.push_back(h); });
        }
    }

    /// A node was one too many: another one goes, and what is remembered of it.
    void make_room(NodeHandle poorest) {
        if (hub.state_.nodes()[poorest].node.present()) {
            hub.displace(poorest, step);
        }
        hub.state_.remove(poorest, followers);
    }

    /// The class of a node is one too many: another one goes.
    void make_room() {
        if (found.poorest_class) {
            hub.displace(*found.poorest_class, step);
        }
    }

    void set_state(NodeHandle n, NodeState state) {
        hub.state_.edit(n, [&](Record& record) { record.node.state = state; }, followers);
    }

    void set_class(Node& node, const NodeClass& value) {
        const auto id = hub.state_.intern(value, followers);
        node.slot = hub.state_.fits().slots(id).lowest_free();
        node.node_class = id;
    }

    [[nodiscard]] auto weightless_now(const Record& record) const -> bool {
        if constexpr (has_weight_in_situation<WeightPolicy> && !has_weight_max<WeightPolicy>) {
            return true;  // it may have been so for some task
        } else {
            hub.follow_stakes();
            return hub.weight_at_most(record, {}).is_zero();
        }
    }

    /// A verdict after release. It counts for a node that has left, too: its history goes on.
    void verdict(NodeId id, Outcome outcome) {
        const auto n = *found.node;
        auto record = hub.state_.nodes()[n];
        const auto weightless = record.node.present() && weightless_now(record);
        const auto unproven = !hub.proven(record);
        step.tell(event::NodeScored{id, outcome});
        hub.judge(record, outcome, step);
        const auto proves = record.node.present() && unproven && hub.proven(record);
        if (record.node.kicked_out && record.node.present() && !record.node.leased()) {
            step.tell(event::NodeKickedOut{id, record.node.stake});
            hub.depart(n, std::move(record), step);
            return;
        }
        hub.state_.put(n, std::move(record), followers);
        if (weightless || proves) {
            step.freed.push_back(n);
        }
    }

    void enter(LeasePhase phase) {
        hub.state_.edit(*found.lease, [&](LeaseRecord& record) { record.phase = phase; }, followers);
    }
    /// Whose task the lease is of.
    [[nodiscard]] auto owner() const -> std::optional<OwnerId> {
        return hub.state_.tasks()[hub.state_.leases()[*found.lease].task].notify_to();
    }

    /// Model ids in canonical order, by name, without duplicates.
    [[nodiscard]] auto interned(std::vector<std::string> names) -> List<ModelId> {
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        auto ids = List<ModelId>{};
        for (const auto& name : names) {
            ids.push_back(hub.state_.intern_model(name, followers));
        }
        return ids;
    }

    [[nodiscard]] auto entered(GroupId id) -> GroupHandle {
        const auto known = hub.state_.groups().find(id);
        const auto g = known ? *known : hub.state_.groups().next();
        auto group = known ? hub.state_.groups()[g] : GroupRecord{.id = id};
        ++group.tasks;
        ++group.tasks_left;
        hub.state_.put(g, std::move(group), followers);
        return g;
    }

    /// Sends away the poorest holders until there is room for a node's models, and answers those that then have it.
    [[nodiscard]] auto admitted(NodeHandle n, std::vector<std::string> names, NodeHandle inventory) -> std::vector<std::string> {
        for (auto left = hub.rules_->evictions_max; left > 0 && hub.room_beside(names, inventory) < 0; --left) {
            const auto poorest = hub.poorest_holder(hub.state_.nodes()[n].node.stake, found.crowded_by, n);
            if (!poorest) {
                break;
            }
            hub.displace(*poorest, step);
        }
        const auto& models = hub.state_.models();
        for (auto over = -hub.room_beside(names, inventory); over > 0; --over) {  // the last ones go
            const auto fresh = std::find_if(names.rbegin(), names.rend(), [&](const std::string& name) {
                const auto id = models.find(name);
                return !id || !models.held(*id);
            });
            if (fresh == names.rend()) {
                break;  // the limit was lowered below what is held
            }
            names.erase(std::next(fresh).base());
        }
        return names;
    }

    void report(NodeHandle n, command::Report report, const std::vector<std::string>& names) {
        const auto by_model = [](const HeldModel& a, ModelId b) { return a.model < b; };
        auto held = HeldModels{};
        const auto old = hub.state_.holdings(n);
        if (report != command::Report::inventory) {
            held = old;
        }
        for (const auto model : interned(names)) {
            auto at = std::lower_bound(held.begin(), held.end(), model, by_model);
            if (at == held.end() || at->model != model) {
                const auto was = std::lower_bound(old.begin(), old.end(), model, by_model);
                const auto kept = was != old.end() && was->model == model;
                at = held.insert(at, kept ? *was : HeldModel{model, Holding::wanted, 0, {}});
            }
            switch (report) {
                case command::Report::remove: held.erase(at); break;
                case command::Report::load: at->holding = Holding::in_use; break;
                case command::Report::unload: at->holding = at->on_disk() ? Holding::on_disk : Holding::wanted; break;
                case command::Report::add:
                case command::Report::inventory:
                    at->holding = at->on_disk() ? at->holding : Holding::on_disk;
                    break;
            }
        }
        hub.hold(n, std::move(held));
    }
};

template <class... Ps>
void Dispatcher<Ps...>::apply(const Command& command, const Subject& subject, const Moment& moment, Events& events,
                              const Trace<Dispatcher>& trace) {
    const auto reach = events.size();
    if (moment.time < state_.counters().now || moment.time > time_point_max) {
        events.begin_answer();
        events.push(event::Refused{moment.time > time_point_max ? Error::time_too_late : Error::time_went_back});
        return;
    }
    if (subject.task != nullptr) {
        state_.expect(*subject.task, subject.hash);
    } else if (subject.node != nullptr) {
        state_.expect(*subject.node, subject.hash);
    }
    auto whole = detail::RollbackGuard{events, reach};
    auto guard = session();
    auto followers = Followers{*this};
    if (moment.time != state_.counters().now) {
        state_.edit([&](Counters& counters) { counters.now = moment.time; }, followers);
    }
    auto step = Step{moment, events, trace};
    const auto settled = settle_due(step);
    pull_freed(step);

    events.begin_answer();
    auto found = Found{};
    const auto without_entropy = std::holds_alternative<command::Match>(command) && !moment.entropy;
    if (!settled && !std::holds_alternative<command::Advance>(command)) {
        step.tell(event::Refused{Error::advance_first});
    } else if (const auto error = without_entropy ? std::optional{Error::entropy_missing}
                                                  : std::visit(Checker{*this, found}, command)) {
        step.tell(event::Refused{*error});
    } else {
        const auto staked = !state_.stake_root_max().is_zero();
        std::visit(Applier{*this, step, found}, command);
        if (!monotone_weight<WeightPolicy> && !staked && !state_.stake_root_max().is_zero()) {
            // A weight without bounds may be zero for all as long as nobody has any stake.
            for (const auto c : state_.fits().all_classes()) {
                each_free(c, [&](NodeHandle h) { step.freed.push_back(h); });
            }
        }
        pull_freed(step);
        shrink_queue(step);
        renew_bounds();
    }
    guard.commit();
    whole.keep();
}

}}  // namespace allot::v0

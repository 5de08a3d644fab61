#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <allot/dispatcher/check.hpp>
#include <allot/dispatcher/turn/settling.hpp>

namespace allot { inline namespace v0 {

/// Carries out commands about nodes, one overload each. Each command has passed its check.
///
/// @complexity of a command: that in `Dispatcher`.
template <class... Ps>
class NodeVerbs : public Settling<Ps...> {
    using Below = Settling<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::freed, Below::tell, Below::put, Below::edit, Below::remove, Below::intern,
        Below::intern_model, Below::follow_stakes, Below::hold, Below::renew, Below::put_wishes, Below::depart,
        Below::displace, Below::models_left, Below::end, Below::verdict, Below::weightless_now, Below::rest,
        Below::tell_end, Below::conclude, Below::start_over, Below::unchain, Below::unbond, Below::tell_gone,
        Below::tell_unbonding;
    using typename Below::Record;
    using typename Below::WeightPolicy;

    /// Adds a node, or brings back one that left. Another node or a class may have to make way. Appends `NodeJoined`,
    /// the events of `displace`, and `NodeExcluded` if a known node has to rest.
    void operator()(const command::Join& c) {
        const auto& spec = c.node;
        const auto known = found_.node;
        tell(event::NodeJoined{spec.id, known.has_value()});
        if (found_.poorest_node) { make_room(*found_.poorest_node); }
        const auto n = known ? *known : view.records.nodes().next();
        auto record = known ? view.records.nodes()[n] : Record{};
        auto& node = record.node;
        const auto stake_before = known ? node.stake : spec.stake;
        node.id = spec.id;
        node.belongs_to(spec.operator_id.value_or(OperatorId{spec.id.bytes()}), spec.labels);
        node.staked(spec.stake);
        node.state = NodeState::available;
        set_class(node, NodeClass{spec.gpu, spec.vram, spec.platform, spec.software});
        view.qos.joined(record.qos, now());
        runs_as(record);
        restaked(record, stake_before);
        const auto back_at = node.excluded ? view.qos.back_at(record.qos).value_or(never) : now();
        node.excluded = back_at > now();
        node.due_at = node.excluded ? back_at : never;
        if (known) { rest(record, {}); }
        put(n, std::move(record));
        make_room();
        report(n, command::Report::add,
               found_.crowded_by == 0 ? spec.models : admitted(n, spec.models, no_handle<NodeHandle>));
        became_candidate(n);
    }

    /// Changes a node's fields, and its places among holders if its class changes. Appends `NodeUpdated`,
    /// `NodeExcluded` if it rests, `UnbondingBegan` if stake unbonds, and `NodeDisplaced` if a class makes way.
    void operator()(const command::Update& c) {
        const auto& change = c.change;
        const auto n = *found_.node;
        auto record = view.records.nodes()[n];
        auto& node = record.node;
        const auto weightless = weightless_now(record);
        auto unbonds = Amount{};
        auto admitted = false;  // perhaps to tasks that wait
        if (change.stake) {
            const auto stake_before = node.stake;
            node.staked(*change.stake);
            restaked(record, stake_before);
            admitted = admits_by_stake<typename View<Ps...>::Types::Eligibility> && node.stake > stake_before;
            if (node.stake < stake_before) {
                const auto taken = Amount{stake_before.units - node.stake.units};
                unbonds = unbond(record, taken) ? taken : Amount{};
            }
        }
        if (change.operator_id || change.labels) {
            node.belongs_to(change.operator_id.value_or(node.operator_id()),
                            change.labels ? std::span{*change.labels} : node.labels());
        }
        const auto& was = view.records.fits().value(node.node_class);
        const auto is = Check<Ps...>::changed_class(was, change);
        const auto moves = !(was == is);
        const auto pulls = moves || weightless || change.operator_id || change.labels;
        tell(event::NodeUpdated{change.id});
        if (pulls && (node.state == NodeState::available || node.state == NodeState::busy)) { rest(record, {}); }
        if (moves) {
            // Places among the holders belong to a class: give them up and take new ones. Until then the models
            // are wished for, because those that no other node holds would be forgotten.
            auto held = view.records.holdings(n);
            auto names = merged(held, view.records.wishes(n));
            for (std::size_t i = 0; i < names.size(); ++i) { names[i] = HeldModel{names[i].model, Holding::wanted, 0}; }
            put_wishes(n, std::move(names));
            hold(n, {});
            set_class(node, is);
            runs_as(record);
            put(n, std::move(record));
            hold(n, std::move(held));
        } else {
            put(n, std::move(record));
        }
        if (unbonds > Amount{}) { tell_unbonding(n, unbonds); }
        if (moves) {
            became_candidate(n);
            make_room();
        } else if (pulls || admitted) {
            freed.push_back(n);
        }
    }

    /// Pauses a node, or marks it to pause after its task. Appends `NodePaused` or `NodePausePending`.
    void operator()(const command::Pause& c) {
        const auto n = *found_.node;
        if (view.records.nodes()[n].node.leased()) {
            set_state(n, NodeState::pending_pause);
            tell(event::NodePausePending{c.node});
        } else {
            set_state(n, NodeState::paused);
            tell(event::NodePaused{c.node});
        }
    }

    /// Ends a pause, or withdraws a pending one. Appends `NodeResumed`, and `NodeExcluded` if the node has to rest.
    void operator()(const command::Resume& c) {
        const auto n = *found_.node;
        const auto leased = view.records.nodes()[n].node.leased();
        set_state(n, leased ? NodeState::busy : NodeState::available);
        tell(event::NodeResumed{c.node});
        if constexpr (has_rest<typename Below::QoSTracker>) {
            if (!leased) {
                edit(n, [&](Record& record) { rest(record, {}); });
            }
        }
        became_candidate(n);
    }

    /// Removes a node, or marks it to leave after its task. Appends `NodeLeft` or `NodeLeavePending`.
    void operator()(const command::Leave& c) {
        const auto n = *found_.node;
        const auto& node = view.records.nodes()[n].node;
        if (node.leased()) {
            set_state(n, NodeState::pending_leave);
            tell(event::NodeLeavePending{c.node});
        } else {
            tell_gone(n, event::NodeLeft{c.node, node.stake});
            depart(n);
        }
    }

    /// Changes the models that a node holds. Poorer holders may have to make way. Appends `ModelsReported`, and
    /// `NodeDisplaced` for each of those.
    void operator()(const command::ReportModel& c) {
        const auto n = *found_.node;
        tell(event::ModelsReported{c.node});
        const auto inventory = c.report == command::Report::inventory ? n : no_handle<NodeHandle>;
        report(n, c.report, found_.crowded_by == 0 ? c.models : admitted(n, c.models, inventory));
        if (view.rules->narrowing == Narrowing::gate) {
            freed.push_back(n);  // the models it holds decide which tasks it may run
        }
    }

    /// Passes an outcome to the QoS tracker. Appends `NodeScored`, and the events of the verdict.
    void operator()(const command::Observe& c) { verdict(*found_.node, Outcome{c.outcome}); }

    /// Passes points to the QoS tracker. Appends the same events.
    void operator()(const command::Score& c) { verdict(*found_.node, Outcome{OutcomeKind::scored, c.points}); }

    /// Removes a node at once, and forfeits its stake with that which was taken away and can still be forfeited. Of a
    /// node that has left, the latter alone. Its task is not to blame: it fails or starts over as the terms say.
    /// Appends `NodeSlashed`. For a node at work it then appends `LeaseEnded`, and `TaskFailed`, `TaskRetried` or the
    /// events of `conclude`.
    void operator()(const command::Slash& c) {
        const auto n = *found_.node;
        const auto& node = view.records.nodes()[n].node;
        const auto staked = node.present() ? node.stake : Amount{};
        const auto lost = staked.units + view.unbonding(view.records.nodes()[n]).units;
        tell(event::NodeSlashed{c.node, std::min(lost, (u128{1} << 96) - u128{1})});
        if constexpr (has_unbonding<typename Below::QoSTracker>) {
            edit(n, [&](Record& record) { view.qos.forfeited(record.qos); });
        }
        if (!node.present()) { return; }
        if (!node.leased()) {
            depart(n);
            return;
        }
        const auto l = node.lease;
        const auto t = view.records.leases()[l].task;
        const auto next = view.after(view.records.tasks()[t], OutcomeKind::incorrect_result);
        const auto others = view.has_others(l);
        tell_end(l, event::LeaseEnd::slashed, OutcomeKind::incorrect_result);
        if (others) { unchain(l, {}); }
        remove(l);
        depart(n);
        if (others) {
            conclude(t);
            return;
        }
        const auto& task = view.records.tasks()[t];
        if (next == Next::end) {
            tell(event::TaskFailed{.task = task.id,
                                   .owner = task.notify_to(),
                                   .refunded = task.fee,
                                   .cause = FailCause::incorrect_result});
            end(t, {Ending::failed, EndCause::incorrect_result, c.node});
        } else {
            tell(event::TaskRetried{task.id, task.notify_to(), OutcomeKind::incorrect_result});
            start_over(t, std::nullopt);
        }
    }

protected:
    /// The handles that the check looked up.
    Found found_{};

    [[nodiscard]] auto now() const -> TimePoint { return view.records.counters().now; }

    /// Frees a node that became active in its class. If the class thereby has enough nodes, all of its candidates are
    /// freed.
    void became_candidate(NodeHandle n) {
        freed.push_back(n);
        const auto& fits = view.records.fits();
        const auto node_class = view.records.nodes()[n].node.node_class;
        if (fits.active(node_class) == view.rules->class_nodes_min) {
            view.each_free(node_class, [&](NodeHandle h) { freed.push_back(h); });
        }
    }

    /// Tells a tracker that asks for it the class of a node.
    void runs_as([[maybe_unused]] Record& record) const {
        if constexpr (has_runs_as<typename Below::QoSTracker>) {
            view.qos.runs_as(record.qos, view.records.fits().value(record.node.node_class));
        }
    }

    /// Tells a tracker that asks for it which stake a node had before.
    void restaked([[maybe_unused]] Record& record, [[maybe_unused]] Amount before) {
        if constexpr (has_restaked<typename Below::QoSTracker>) {
            view.qos.restaked(record.qos, before, record.node.stake, now());
        }
    }

    /// Removes a node and its history, to make room for a new one.
    void make_room(NodeHandle poorest) {
        if (view.records.nodes()[poorest].node.present()) { displace(poorest); }
        if (view.records.nodes()[poorest].node.departs()) {
            edit(poorest, [](Node& node) { node.kicked_out = true; });
        } else {
            remove(poorest);
        }
    }

    /// Removes the nodes of a class, to make room for a new class.
    void make_room() {
        if (found_.poorest_class) { displace(*found_.poorest_class); }
    }

    void set_state(NodeHandle n, NodeState state) {
        edit(n, [&](Node& node) { node.state = state; });
    }

    void set_class(Node& node, const NodeClass& value) {
        const auto id = intern(value);
        node.slot = view.records.fits().slots(id).lowest_free();
        node.node_class = id;
    }

    /// Model ids in canonical order, by name, without duplicates.
    [[nodiscard]] auto interned(const std::vector<std::string>& names) -> List<ModelId> {
        const auto once = each_once(names);
        auto ids = List<ModelId>{};
        ids.reserve(once.size());
        for (const auto name : once) { ids.push_back(intern_model(std::string{name})); }
        return ids;
    }

    /// Removes the poorest holders until there is room for a node's models, and returns those that have room then: at
    /// most `make_way_holders_max` where they are drawn.
    [[nodiscard]] auto admitted(NodeHandle n, std::vector<std::string> names, NodeHandle inventory)
        -> std::vector<std::string> {
        const auto most = view.rules->evictions_max;
        for (auto left = view.draws_holders() ? std::min(most, make_way_holders_max) : most;
             left > 0 && models_left() > 0 && view.room_beside(names, inventory) < 0; --left) {
            // The one that the check found, unless it made way for the node itself.
            auto poorest = std::exchange(found_.holder, std::nullopt);
            if (!view.draws_holders() || !poorest || *poorest == n || view.records.holdings(*poorest).empty()) {
                poorest = view.poorest_holder(view.records.nodes()[n].node.stake, found_.crowded_by, n);
            }
            if (!poorest) { break; }
            displace(*poorest);
        }
        const auto& models = view.records.models();
        // The last of those that no node holds are left out. With fewer of these, the limit was lowered since.
        const auto over = -view.room_beside(names, inventory);
        auto left_out = std::set<std::string>{};
        for (auto name = names.rbegin(); name != names.rend() && std::ssize(left_out) < over; ++name) {
            const auto id = models.find(*name);
            if (!id || !models.held(*id)) { left_out.insert(*name); }
        }
        std::erase_if(names, [&](const std::string& name) { return left_out.contains(name); });
        return names;
    }

    void report(NodeHandle n, command::Report report, const std::vector<std::string>& names) {
        auto listed = interned(names);
        std::sort(listed.begin(), listed.end());
        const auto is_listed = [&](const HeldModel* held) {
            return std::binary_search(listed.begin(), listed.end(), held->model);
        };
        auto held = view.records.holdings(n);
        auto wishes = view.records.wishes(n);
        switch (report) {
            case command::Report::remove: held.erase_if(is_listed); break;
            case command::Report::load:
            case command::Report::unload:
                for (std::size_t i = 0; i < held.size(); ++i) {
                    const auto now = report == command::Report::load ? Holding::in_use : Holding::on_disk;
                    held[i].holding = is_listed(&held[i]) ? now : held[i].holding;
                }
                break;
            case command::Report::add:
            case command::Report::inventory: {
                if (report == command::Report::inventory) {
                    held.erase_if(std::not_fn(is_listed));
                    wishes = {};
                }
                auto added = HeldModels(listed.size());
                for (std::size_t i = 0; i < listed.size(); ++i) { added[i].model = listed[i]; }
                added.erase_if([&](const HeldModel* model) { return find_model(held, model->model) != nullptr; });
                held = merged(held, added);
                break;
            }
        }
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (is_listed(&held[i])) { renew(held, i); }
        }
        if (report != command::Report::unload) { wishes.erase_if(is_listed); }
        hold(n, std::move(held));
        put_wishes(n, std::move(wishes));
    }
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <allot/assert.hpp>
#include <allot/dispatcher/turn/door.hpp>

namespace allot { inline namespace v0 {

/// Starts a task on its nodes, and asks nodes to fetch models.
template <class... Ps>
class Starting : public Door<Ps...> {
    using Below = Door<Ps...>;

public:
    using Below::Below;
    using Below::view, Below::moment, Below::trace, Below::tell, Below::traced, Below::put, Below::edit,
        Below::put_models, Below::put_wishes;
    using typename Below::Record;
    using typename Below::WeightPolicy;

    /// Adapts the ceilings of stored bounds to the largest stake, before a weight is computed. It changes no bound and
    /// appends no event.
    void follow_stakes() {
        if constexpr (monotone_weight<WeightPolicy>) {
            const auto largest = view.records.stake_root_max();
            if (view.records.counters().ceilings.follows(largest)) { return; }
            edit([&](Counters& counters) { counters.ceilings = counters.ceilings.following(largest); });
        }
    }

    /// Renews one stretch of stored bounds, at the end of every command while the ceilings move: at most `renewals_max`
    /// nodes, of which one with many models counts as more (`View::effort`). Appends no event.
    /// @complexity O(renewals_max · log n).
    void renew_bounds() {
        follow_stakes();
        while (view.records.counters().ceilings.moving()) {
            const auto reach = view.records.nodes().reach();
            const auto stretch = next_stretch();
            edit([&](Counters& counters) {
                counters.ceilings = counters.ceilings.renewed_by(stretch, reach, view.records.stake_root_max());
            });
            if (view.records.counters().ceilings.renewed < reach) { return; }
        }
    }

    /// Leases a task to its nodes: one lease each, chained by member. Appends `TaskStarted` for each, and the events of
    /// `place_models`.
    /// @pre the gang is as large as the task asks, and its nodes are free.
    /// @complexity O(nodes of the gang · log n), and the cost of `models_used` and `place_models`.
    void start(TaskHandle t, Task&& task, const Gang& gang) {
        begin(task);
        put(t, std::move(task));
        lease_to(t, gang);
    }

    /// The same for a task that has a record, which is changed where it lies.
    void start(TaskHandle t, const Gang& gang) {
        edit(t, [&](Task& task) { begin(task); });
        lease_to(t, gang);
    }

    /// Asks for copies of the models that too few candidates hold (rule 24). The chosen nodes come first. Further
    /// eligible nodes are drawn by weight without replacement, among those that neither hold the model nor were asked
    /// recently. Appends `ModelWanted` for each.
    /// @complexity one draw for each copy, O(models · log n) else.
    void place_models(const Task& task, const Gang& chosen) {
        auto asked = std::uint32_t{0};
        for (std::uint32_t i = 0; i < task.models().size(); ++i) {
            const auto model = task.models()[i];
            for (const auto& member : chosen) {
                if (!view.has_or_wants(member.node, model)) { want(member.node, model, task.id); }
            }
            if (task.pinned()) {
                continue;  // it takes no draw, and may have no entropy
            }
            const auto demand = ModelDemand{view.candidates_holding(model), asked};
            auto random = Random{*moment.entropy, Purpose::placement, task.id.bytes(), task.attempt, i};
            for (auto copies = view.placement.wanted(demand).copies; copies > 0; --copies) {
                const auto drawn = view.draw_fetcher(task, model, random);
                if (!drawn || drawn->undecided()) { break; }
                traced({DecisionKind::copy, task, *drawn, &*moment.entropy, model});
                want(drawn->node, model, task.id);
                ++asked;
            }
        }
    }

    /// Asks a node to fetch a model, and stores the wish until it ends. If a node has too many wishes, the one that
    /// ends first is dropped. Appends `ModelWanted`.
    /// @complexity O(wishes of the node + log n).
    void want(NodeHandle n, ModelId model, TaskId task) {
        auto wishes = view.records.wishes(n);
        if (find_model(wishes, model) == nullptr) {
            if (!wishes.empty() && wishes.size() >= view.rules->wishes_per_node_max) {
                const auto first =
                    std::min_element(wishes.begin(), wishes.end(), [&](const HeldModel& a, const HeldModel& b) {
                        return wishes.until(&a) < wishes.until(&b);
                    });
                wishes.erase_if([&](const HeldModel* wish) { return wish == first; });
            }
            wishes.insert(place_of(wishes, model), HeldModel{model, Holding::wanted, 0});
        }
        const auto lasts = std::clamp(view.placement.asked_for(), Duration{1}, duration_max);
        wishes.set_until(static_cast<std::size_t>(place_of(wishes, model) - wishes.begin()),
                         view.records.counters().now + lasts);
        put_wishes(n, std::move(wishes));
        tell(event::ModelWanted{view.records.nodes()[n].node.id, task, view.records.models().name(model)});
    }

    /// Shows the trace the draws of a gang, from member `first` on.
    /// @complexity linear in the gang.
    void traced_gang(const Task& task, const Gang& gang, std::size_t first) const {
        if (trace.sees == nullptr) { return; }
        for (auto i = first; i < gang.size(); ++i) {
            traced({DecisionKind::draw, task, gang[i], &*moment.entropy, no_handle<ModelId>, span_of(gang).first(i),
                    first > 0});
        }
    }

    /// Lets a model that a node runs or reports count for longer (rule 51), once half of its time has passed: a node in
    /// use would else write its list with each task. `hold` sets the time.
    void renew(HeldModels& held, std::size_t i) const {
        const auto lasts = view.held_for();
        const auto left = held.until(held.begin() + i) - view.records.counters().now;
        if (lasts == Duration{0} || left < lasts / 2 || left > lasts) { held.set_until(i, {}); }
    }

    /// Writes the models on a node's disk. New ones get a place among the holders, and are wished for no more; those
    /// that do not expire do from now on, if the placement says so. An unchanged list is not written. Appends no event.
    /// @complexity O(models and wishes of the node), and O(log n) for each model that changes.
    void hold(NodeHandle n, HeldModels held) {
        const auto& before = view.records.holdings(n);
        const auto node_class = view.records.nodes()[n].node.node_class;
        const auto lasts = view.held_for();
        const auto until = lasts == Duration{0} ? TimePoint{} : view.records.counters().now + lasts;
        auto was = before.begin();
        for (std::size_t i = 0; i < held.size(); ++i) {
            const auto model = held[i].model;
            while (was != before.end() && was->model < model) { ++was; }
            const auto stays = was != before.end() && was->model == model;
            const auto place = stays ? was->place : view.records.models().free_place(model, node_class);
            held[i].place = place & HeldModel::place_max;
            if (!held.expires(&held[i])) { held.set_until(i, until); }
        }
        if (held == before) { return; }
        put_models(n, std::move(held));
        auto wishes = view.records.wishes(n);
        wishes.erase_if([&](const HeldModel* wish) { return view.holds(n, wish->model) != nullptr; });
        put_wishes(n, std::move(wishes));
    }

    /// Marks a task's models as in use on a node. A start marks those on disk; a success also adds the others, because
    /// the node has fetched them (rule 11). Appends no event.
    /// @complexity O(models of the node), and O(log n) for each model of the task.
    void models_used(NodeHandle n, const Task& task, bool fetched) {
        const auto& before = view.records.holdings(n);
        const auto in_use = [](const HeldModel& model) { return model.holding == Holding::in_use; };
        if (task.models().empty() && std::none_of(before.begin(), before.end(), in_use)) { return; }
        auto held = before;
        for (std::size_t i = 0; i < held.size(); ++i) { held[i].holding = Holding::on_disk; }
        auto room = fetched ? view.rules->models_per_node_max -
                                  std::min<std::size_t>(view.rules->models_per_node_max, before.size())
                            : 0U;
        auto room_for_new = view.rules->models_max - std::min(view.rules->models_max, view.records.models().held());
        for (const auto model : task.models()) {
            if (const auto* at = find_model(held, model)) {
                const auto i = static_cast<std::size_t>(at - held.begin());
                held[i].holding = Holding::in_use;
                if (fetched) { renew(held, i); }
            } else if (const auto held_elsewhere = view.records.models().held(model);
                       room > 0 && (held_elsewhere || room_for_new > 0)) {
                room_for_new -= held_elsewhere ? 0U : 1U;
                held.insert(place_of(held, model), HeldModel{model, Holding::in_use, 0});
                --room;
            }
        }
        hold(n, std::move(held));
    }

private:
    static constexpr std::uint32_t prefetched_ahead = 16;

    /// Makes a task that starts one that runs.
    void begin(Task& task) const {
        ALLOT_ASSERT(task.state != TaskState::running || task.lease == no_handle<LeaseHandle>,
                     "a running task starts again");
        task.state = TaskState::running;
        task.lease = view.records.leases().next();
        ++task.attempt;
    }

    /// Makes the leases of a task that runs.
    void lease_to(TaskHandle t, const Gang& gang) {
        const auto now = view.records.counters().now;
        const auto token = view.records.counters().token_next;
        edit([&](Counters& counters) { counters.token_next += gang.size(); });
        const auto& placed = view.records.tasks()[t];
        ALLOT_ASSERT(gang.size() == view.gang_size(placed), "a task starts on as many nodes as it asks for");
        auto last = no_handle<LeaseHandle>;
        for (std::size_t i = 0; i < gang.size(); ++i) {
            const auto n = gang[i].node;
            ALLOT_ASSERT(view.records.nodes()[n].node.state == NodeState::available &&
                             !view.records.nodes()[n].node.leased(),
                         "a task starts on a node that is not free");
            const auto l = i == 0 ? placed.lease : view.records.leases().next();
            const auto length = view.lease_length(view.records.nodes()[n].node, placed);
            auto lease = LeaseRecord{token + i, t, n, now, now + length};
            lease.member = static_cast<std::uint8_t>(i);
            lease.of = static_cast<std::uint8_t>(gang.size());
            put(l, std::move(lease));
            if (i > 0) {
                edit(last, [&](LeaseRecord& before) { before.next = l; });
            }
            last = l;
            if (placed.group != no_handle<GroupHandle>) {
                auto group = view.records.groups()[placed.group];
                const auto& node = view.records.nodes()[n].node;
                group.members.push_back({node.id, node.operator_id()});
                put(placed.group, std::move(group));
            }
            edit(n, [&](Node& node) {
                node.state = NodeState::busy;
                node.lease = l;
                node.held = no_handle<TaskHandle>;
            });
            models_used(n, placed, false);
            tell(event::TaskStarted{view.lease_value(l), placed.notify_to()});
        }
        place_models(placed, gang);
    }

    /// Number of nodes whose bounds one command renews. Prefetches their places in the pool: with 256 nodes a command,
    /// a renewal of a million then takes 0.7 of the time.
    [[nodiscard]] auto next_stretch() const -> std::uint32_t {
        const auto first = view.records.counters().ceilings.renewed;
        const auto reach = view.records.nodes().reach();
        const auto left = reach - std::min(first, reach);
        auto count = std::uint32_t{0};
        for (auto effort = std::uint32_t{0}; count < left && effort < view.rules->renewals_max; ++count) {
            const auto h = NodeHandle{first + count};
            view.records.nodes().prefetch(NodeHandle{h.value + prefetched_ahead});
            const auto* record = view.records.nodes().find_record(h);
            const auto listed = record != nullptr && view.is_listed(*record);
            effort += listed ? view.effort(h) : 1;
            if constexpr (has_look_ahead<typename View<Ps...>::Types::CandidatePool>) {
                if (listed) { view.pool.look_ahead(record->node.node_class, record->node.slot); }
            }
        }
        return count;
    }
};

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <utility>

#include <allot/dispatcher/dispatcher.hpp>

namespace allot { inline namespace v0 {

/// Keeps the ceilings of stored bounds in step with the largest stake, before anything is weighed. Touches no bound.
template <class... Ps>
void Dispatcher<Ps...>::follow_stakes() {
    if constexpr (monotone_weight<WeightPolicy>) {
        const auto largest = state_.stake_root_max();
        if (state_.counters().ceilings.follows(largest)) {
            return;
        }
        auto followers = Followers{*this};
        state_.edit([&](Counters& counters) { counters.ceilings = counters.ceilings.following(largest); }, followers);
    }
}

/// One stretch of the renewal of stored bounds, at the end of every command while the ceilings move.
template <class... Ps>
void Dispatcher<Ps...>::renew_bounds() {
    follow_stakes();
    while (state_.counters().ceilings.moving()) {
        const auto reach = state_.nodes().reach();
        auto followers = Followers{*this};
        state_.edit([&](Counters& counters) {
            counters.ceilings = counters.ceilings.renewed_by(rules_->renewals_max, reach, state_.stake_root_max());
        }, followers);
        if (state_.counters().ceilings.renewed < reach) {
            return;
        }
    }
}

/// The candidates of a draw, among these classes.
template <class... Ps>
auto Dispatcher<Ps...>::frame_of(std::span<const ClassId> classes) const -> SamplingFrame {
    auto frame = SamplingFrame{classes};
    frame.rejections_max = monotone_weight<WeightPolicy> ? draw_rejections_max << state_.counters().ceilings.slack() : 0;
    return frame;
}

/// Calls `f(node)` for each candidate of a class: a draw without bounds looks at each of them.
template <class... Ps>
template <class F>
void Dispatcher<Ps...>::each_free(ClassId node_class, F&& f) const {
    auto frame = SamplingFrame{{&node_class, 1}};
    frame.rejections_max = 0;
    auto random = Random{Entropy{}, Purpose::dispatch, {}, 0, 0};
    (void)pool_.draw(frame, [&](NodeHandle h, std::uint32_t) { return f(h), Weight::zero(); }, random);
}

/// The node that a draw for a task falls on, or nothing when no eligible node has a positive weight.
///
/// Candidates are narrowed to holders of the task's models as the rules say; only when not one of those is eligible, or fewer
/// than `narrow_from`, does the draw go on, with the same stream, among all (rule 8: first eligible, then narrowed).
template <class... Ps>
auto Dispatcher<Ps...>::draw_one(const Task& task, std::span<const ClassId> classes, const Gang& chosen, Random& random) const
    -> std::optional<Draw> {
    const auto frame = frame_of(classes);
    if (const auto wanted = holders_to_narrow(task)) {
        auto narrowed = frame;
        narrowed.models = span_of(task.models);
        if (rules_->narrowing != Narrowing::any) {
            // Whoever holds all models holds the rarest: the shortest frame that has them all. Ties go by canonical order.
            const auto holders = [&](const ModelId& model) {
                auto one = frame;
                one.models = {&model, 1};
                return pool_.count(one);
            };
            auto rarest = task.models.begin();
            for (auto model = rarest; model != task.models.end(); ++model) {
                if (holders(*model) < holders(*rarest)) {
                    rarest = model;
                }
            }
            narrowed.models = {&*rarest, 1};
        }
        if (const auto drawn = draw_among(task, narrowed, chosen, *wanted, random)) {
            return drawn;
        }
        if (*wanted == 0) {
            return std::nullopt;
        }
    }
    return draw_among(task, frame, chosen, 1, random);
}

/// Draws `Rules::draw_among` nodes, each by weight among those left, and then one of these by even chance: whatever a node
/// weighs, it gets no more than its part of that chance. Nothing when fewer than `least` can be drawn, which the draws show.
template <class... Ps>
auto Dispatcher<Ps...>::draw_among(const Task& task, const SamplingFrame& frame, const Gang& chosen, std::uint32_t least,
                                   Random& random) const -> std::optional<Draw> {
    const auto wanted = std::max(least, rules_->draw_among);
    if (wanted == 1) {
        return draw_in(task, frame, chosen, random);
    }
    auto drawn = boost::container::small_vector<Draw, 4>{};
    while (drawn.size() < wanted) {
        const auto next = draw_in(task, frame, chosen, random, span_of(drawn));
        if (!next) {
            break;
        }
        drawn.push_back(*next);
    }
    if (drawn.size() < least) {
        return std::nullopt;
    }
    const auto among = std::min<std::size_t>(drawn.size(), rules_->draw_among);
    if (among == 0) {
        return std::nullopt;
    }
    auto chosen_one = drawn[among == 1 ? 0 : random.below(among)];
    chosen_one.above_bound = 0;
    for (const auto& one : drawn) {
        chosen_one.above_bound += one.above_bound;
    }
    return chosen_one;
}

template <class... Ps>
auto Dispatcher<Ps...>::draw_in(const Task& task, const SamplingFrame& frame, const Gang& chosen, Random& random,
                                std::span<const Draw> without) const -> std::optional<Draw> {
    const auto weigh = [&](NodeHandle h, std::uint32_t model) -> Weight {
        if (std::any_of(without.begin(), without.end(), [&](const Draw& drawn) { return drawn.node == h; })) {
            return Weight::zero();
        }
        if (rules_->narrowing == Narrowing::any) {
            for (std::uint32_t earlier = 0; earlier < model; ++earlier) {  // it counts under the first model it holds
                const auto* held = holds(h, frame.models[earlier]);
                if (held != nullptr && held->on_disk()) {
                    return Weight::zero();
                }
            }
        } else if (!frame.models.empty() && !holds_all(h, task)) {
            return Weight::zero();
        }
        const auto& record = state_.nodes()[h];
        const auto admitted = joins(h, task, chosen) && admits(record, task) == Reason::none;
        return admitted ? weight_now(record, task, boost(h, task)) : Weight::zero();
    };
    return pool_.draw(frame, weigh, random);
}

/// Whether a node weighs nothing for any task, whatever its models: a weight with bounds knows a task by the boost alone.
template <class... Ps>
auto Dispatcher<Ps...>::runs_nothing(NodeHandle n) const -> bool {
    if constexpr (monotone_weight<WeightPolicy>) {
        return weight_at_most(state_.nodes()[n], best_boost()).is_zero();
    } else {
        return false;
    }
}

/// The rest of eligibility for a node whose class fits: its own admission, a positive weight, the gate.
template <class... Ps>
auto Dispatcher<Ps...>::can_run(NodeHandle n, const Task& task) const -> bool {
    const auto& record = state_.nodes()[n];
    return admits(record, task) == Reason::none && (holders_to_narrow(task) != 0U || narrows_to(n, task)) &&
           !weight_now(record, task, boost(n, task)).is_zero();
}

/// A node that became free takes the best task it can run, over its own GPU groups and every "any" group that fits, alone or with
/// other free nodes; at most one (seed 001, "Dequeue a Task for a Newly Available Node"; seed 000, "Select the Best Task from the
/// Task Queue for the Newly Available Node"; rules 16, 17, 26). Without entropy it waits for `match`.
template <class... Ps>
void Dispatcher<Ps...>::pull(NodeHandle n, Step& step) {
    if (!step.moment.entropy || queue_.size() == 0 || !state_.nodes().contains(n) || !is_candidate(state_.nodes()[n])) {
        return;
    }
    follow_stakes();
    if (const auto best = next_for(n)) {
        const auto& task = state_.tasks()[*best];
        traced({DecisionKind::pull, task, {n}}, step);
        const auto team = gang_of(n, task, *step.moment.entropy);
        traced_gang(task, team, 1, step);
        start(*best, Task{task}, team, step);
    }
}

template <class... Ps>
auto Dispatcher<Ps...>::next_for(NodeHandle n) const -> std::optional<TaskHandle> {
    auto possible = std::vector<RequirementId>{};
    auto asked = std::uint32_t{0};
    auto weightless = false;
    const auto best = queue_.best(groups_for(n, possible), [&](TaskHandle t) {
        const auto& task = state_.tasks()[t];
        if (can_run(n, task) && has_gang(n, task)) {
            return true;
        }
        weightless = weightless || (++asked == 1 && runs_nothing(n));
        return weightless;  // no other task would fit either: the walk ends here
    });
    return weightless ? std::nullopt : best;
}

template <class... Ps>
void Dispatcher<Ps...>::pull_freed(Step& step) {
    if (step.freed.empty()) {
        return;
    }
    if (step.freed.size() > 1) {
        std::sort(step.freed.begin(), step.freed.end());
        step.freed.erase(std::unique(step.freed.begin(), step.freed.end()), step.freed.end());
    }
    for (const auto n : step.freed) {
        start_held(n, step);
    }
    for (const auto n : step.freed) {
        pull(n, step);
    }
    step.freed.clear();
}

/// Tasks that stand out of the queue for the rest of a `match`, and go back when it ends, however it does.
template <class... Ps>
class Dispatcher<Ps...>::Blocked {
public:
    explicit Blocked(TaskQueue& queue) noexcept : queue_{queue} {}
    Blocked(const Blocked&) = delete;
    auto operator=(const Blocked&) -> Blocked& = delete;
    ~Blocked() { back(); }

    void add(const QueueEntry& entry) { entries_.push_back(entry); }
    /// Takes out those that were added.
    void leave() {
        while (left_ < entries_.size()) {
            queue_.erase(entries_[left_++]);  // counted first: should it throw, the entry goes back whether it had gone or not
        }
    }
    void back() {
        for (; left_ > 0; --left_) {
            queue_.push(entries_[left_ - 1]);
        }
    }

private:
    TaskQueue& queue_;
    std::vector<QueueEntry> entries_{};
    std::size_t left_ = 0;
};

/// Waiting tasks in (value, submission) order, each drawing among the nodes that the ones before it left over; a task without a
/// candidate holds up no other (rule 28). Groups without a candidate are passed over as a whole.
///
/// A start takes candidates away and adds none: no other node gets weight, a model on its disk, or room in a group by it. So what
/// could not start before it cannot start after it, and is not asked again.
template <class... Ps>
auto Dispatcher<Ps...>::match_all(Step& step) -> std::uint32_t {
    follow_stakes();
    auto groups = std::vector<RequirementId>{};
    state_.fits().requirements().for_each([&](std::uint32_t r, const Requirement&) { groups.push_back(RequirementId{r}); });
    auto blocked = Blocked{queue_};
    for (auto started = std::uint32_t{0};; ++started) {
        std::erase_if(groups, [&](RequirementId r) { return !startable(r); });
        const auto best = queue_.best(groups, [&](TaskHandle t) {
            const auto& task = state_.tasks()[t];
            const auto starts = !draw(task, *step.moment.entropy).empty();
            if (!starts) {
                blocked.add(entry_of(t, task));
            }
            return starts;
        });
        if (!best) {
            blocked.back();
            return started;
        }
        blocked.leave();
        const auto& task = state_.tasks()[*best];
        const auto drawn = draw(task, *step.moment.entropy);  // a queue may ask about tasks behind the best one, so once more
        traced_gang(task, drawn, 0, step);
        start(*best, Task{task}, drawn, step);
    }
}

/// Leases a task to its nodes: one lease each, chained by member.
template <class... Ps>
void Dispatcher<Ps...>::start(TaskHandle t, Task&& task, const Gang& gang, Step& step) {
    auto followers = Followers{*this};
    const auto now = state_.counters().now;
    const auto token = state_.counters().token_next;
    state_.edit([&](Counters& counters) { counters.token_next += gang.size(); }, followers);

    task.state = TaskState::running;
    task.lease = state_.leases().next();
    ++task.attempt;
    state_.put(t, std::move(task), followers);
    const auto& placed = state_.tasks()[t];
    auto last = no_handle<LeaseHandle>;
    for (std::uint8_t i = 0; i < gang.size(); ++i) {
        const auto n = gang[i].node;
        const auto l = i == 0 ? placed.lease : state_.leases().next();
        const auto length = std::max(Duration{1}, terms_.length(state_.nodes()[n].node, placed));
        auto lease = LeaseRecord{token + i, t, n, now, now + length};
        lease.member = i;
        lease.of = static_cast<std::uint8_t>(gang.size());
        state_.put(l, std::move(lease), followers);
        if (i > 0) {
            state_.edit(last, [&](LeaseRecord& before) { before.next = l; }, followers);
        }
        last = l;
        if (placed.group != no_handle<GroupHandle>) {
            auto group = state_.groups()[placed.group];
            const auto& node = state_.nodes()[n].node;
            group.members.push_back({node.id, node.operator_id});
            state_.put(placed.group, std::move(group), followers);
        }
        state_.edit(n, [&](Record& record) {
            record.node.state = NodeState::busy;
            record.node.lease = l;
            record.node.held = no_handle<TaskHandle>;
        }, followers);
        models_used(n, placed, false);
        step.tell(event::TaskStarted{lease_value(l), placed.notify_to()});
    }
    place_models(placed, gang, step);
}

/// Asks for copies of the models that too few candidates hold (rule 24): the chosen nodes first, then further eligible nodes,
/// drawn by weight without replacement among those that neither hold the model nor were asked a short time ago.
template <class... Ps>
void Dispatcher<Ps...>::place_models(const Task& task, const Gang& chosen, Step& step) {
    for (std::uint32_t i = 0; i < task.models.size(); ++i) {
        const auto model = task.models[i];
        for (const auto& member : chosen) {
            if (!has_or_wants(member.node, model)) {
                want(member.node, model, task.id, step);
            }
        }
        if (task.pinned()) {
            continue;  // it draws nobody, and has no entropy to draw with
        }
        const auto demand = ModelDemand{pool_.count(SamplingFrame{state_.fits().all_classes(), {&model, 1}})};
        auto random = Random{*step.moment.entropy, Purpose::placement, task.id.bytes(), task.attempt, i};
        const auto frame = frame_of(state_.fits().classes_of(task.requirement));
        for (auto copies = placement_.wanted(demand).copies; copies > 0; --copies) {
            const auto drawn = pool_.draw(
                frame, [&](NodeHandle n, std::uint32_t) { return fetch_weight(n, task, model); }, random);
            if (!drawn) {
                break;
            }
            traced({DecisionKind::copy, task, *drawn, &*step.moment.entropy, model}, step);
            want(drawn->node, model, task.id, step);
        }
    }
}

/// The weight of a node that may be asked for a copy: it neither holds the model nor was asked a short time ago.
template <class... Ps>
auto Dispatcher<Ps...>::fetch_weight(NodeHandle n, const Task& task, ModelId model) const -> Weight {
    const auto& record = state_.nodes()[n];
    return !has_or_wants(n, model) && admits(record, task) == Reason::none ? weight_now(record, task, {}) : Weight::zero();
}

/// Whether a node has a model on its disk, or was asked to fetch it a short time ago.
template <class... Ps>
auto Dispatcher<Ps...>::has_or_wants(NodeHandle n, ModelId model) const -> bool {
    const auto* held = holds(n, model);
    return held != nullptr && (held->on_disk() || held->wanted_until > state_.counters().now);
}

/// Asks a node to fetch a model, and remembers that it was asked until the wish ends. Where a node has too many wishes the one
/// that ends first is forgotten.
template <class... Ps>
void Dispatcher<Ps...>::want(NodeHandle n, ModelId model, TaskId task, Step& step) {
    auto held = state_.holdings(n);
    if (held.size() - on_disk(held) >= rules_->wishes_per_node_max && holds(n, model) == nullptr) {
        held.erase(std::min_element(held.begin(), held.end(), [](const HeldModel& a, const HeldModel& b) {
            return a.on_disk() != b.on_disk() ? b.on_disk() : a.wanted_until < b.wanted_until;
        }));
    }
    auto at = std::lower_bound(held.begin(), held.end(), model, [](const HeldModel& a, ModelId b) { return a.model < b; });
    if (at == held.end() || at->model != model) {
        at = held.insert(at, HeldModel{model, Holding::wanted, 0, {}});
    }
    constexpr auto longest = Duration{std::int64_t{1} << 40U};
    at->wanted_until = state_.counters().now + std::clamp(placement_.asked_for(), Duration{1}, longest);
    hold(n, std::move(held));
    step.tell(event::ModelWanted{state_.nodes()[n].node.id, task, state_.models().name(model)});
}

}}  // namespace allot::v0

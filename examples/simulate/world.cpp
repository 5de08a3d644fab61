#include "world.hpp"

#if defined(__linux__)
#    include <sys/resource.h>
#endif

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

#include "hash.hpp"
#include "version_text.hpp"
#include "world_state.hpp"

namespace simulate {
namespace {

/// Returns the peak memory of the process in MiB, on systems with getrusage; else 0.
auto memory_peak_mib() -> std::uint64_t {
#if defined(__linux__)
    auto usage = rusage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) / 1024 : 0;
#else
    return 0;
#endif
}

/// The value that so many tenths of the values are below; `otherwise` if there is none.
auto at_tenth(std::size_t tenth, std::vector<std::int64_t> values, std::int64_t otherwise) -> std::uint64_t {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() * tenth / 10);
    std::nth_element(values.begin(), place, values.end());
    return static_cast<std::uint64_t>(values.empty() ? otherwise : *place);
}

/// The ratio of two positive numbers, to 31 bits.
auto ratio_of(std::uint64_t num, std::uint64_t den) -> allot::Ratio {
    for (; (num | den) >> 31U != 0; num = (num + 1) / 2, den = (den + 1) / 2) {}
    return {static_cast<std::uint32_t>(num), static_cast<std::uint32_t>(den)};
}

/// An operator caps stakes at one that one node in ten exceeds. A second on a node costs at least a hundredth of the
/// median price: an honest task of a second reserves a minute. Nine nodes of ten have the stake for twice the fee
/// of nine tasks of ten, and half of them for each fee that is admitted.
auto scale_of(const Scenario& scenario) -> Scale {
    auto stakes = std::vector<std::int64_t>{};
    for (const auto& node : scenario.nodes) { stakes.push_back(node.stake_milli); }
    auto prices = std::vector<std::int64_t>{};
    auto fees = std::vector<std::int64_t>{};
    for (const auto& task : scenario.tasks) {
        prices.push_back(task.fee * 10 / std::max(task.run_ms, std::int64_t{1}));  // 1,000 ms, and a hundredth
        fees.push_back(task.fee);
    }
    const auto covered = ratio_of(std::max(at_tenth(1, stakes, 1), std::uint64_t{1}),
                                  2 * std::max(at_tenth(9, std::move(fees), 1), std::uint64_t{1}));
    const auto typical = at_tenth(5, stakes, 1);
    return {at_tenth(9, std::move(stakes), 1), at_tenth(5, std::move(prices), 0), covered, typical};
}

auto earliest(std::initializer_list<std::optional<std::int64_t>> times) -> std::int64_t {
    auto first = std::optional<std::int64_t>{};
    for (const auto& time : times) {
        if (time && (!first || *time < *first)) { first = time; }
    }
    if (!first) { throw std::logic_error{"tasks are open, but nothing is left to happen"}; }
    return *first;
}

}  // namespace

World::World(const Trace& trace, Scenario scenario, const Options& options, Attacker* attacker)
    : trace_{trace}, scenario_{std::move(scenario)}, options_{options}, attacker_{attacker},
      honest_nodes_{static_cast<std::uint32_t>(scenario_.nodes.size())},
      honest_tasks_{static_cast<std::uint32_t>(scenario_.tasks.size())}, preset_{find_preset(options.preset)},
      ledger_{trace, scenario_, options}, demands_{scenario_, ledger_, options.seed},
      group_open_(scenario_.groups, rule::group_size), group_tasks_(scenario_.groups) {
    const auto scale = scale_of(scenario_);
    fees_ = fees_per_price(preset_, options.settings);
    network_ = open_network(preset_, scale, options.settings);
    ledger_.results().stake_cap = static_cast<std::uint64_t>(scale.stake_cap.units.low());
    if (!options.log.empty()) { network_->keep_log(options.log); }
    for (auto& tasks : group_tasks_) { tasks.fill(no_task); }
    for (std::size_t i = 0; i < scenario_.owners.size(); ++i) { money_.add_owner(false); }
    for (const auto& node : scenario_.nodes) { add_operator(node.operator_id, false); }
    const auto own_ms = attacker_ != nullptr ? attacker_->means().cold_ms : 0;
    cold_ms_ = own_ms > 0 ? own_ms : scenario_.cold_ms;
    // An owner does not know the node that will run its task, so it declares the time of a load, too.
    for (auto& task : scenario_.tasks) { task.declared_ms += cold_ms_; }
}

void World::add_operator(const std::string& name, bool attacker) {
    const auto next = static_cast<std::uint32_t>(operator_index_.size());
    money_.add_node(operator_index_.emplace(name, next).first->second, attacker);
    leases_.emplace_back();
    disks_.emplace_back();
}

auto World::run(Progress& progress) -> Run {
    join_all();
    if (attacker_ != nullptr) {
        attacker_->enter(scenario_, &now_ms_, foresight());
        carry_out();
    }
    while (next_arrival_ms() || !block_.empty() || ledger_.open() > 0) { step(progress); }
    auto& results = ledger_.results();
    results.commands = commands_;
    results.decide_seconds = std::chrono::duration<double>(spent_).count();
    results.memory_peak_mib = memory_peak_mib();
    results.library_version = version_text();
    network_->close_log();
    money_.audit();
    auto run = Run{};
    run.results = ledger_.close(now_ms_);
    run.tasks = ledger_.take_tasks();
    run.nodes = ledger_.take_nodes();
    run.scenario = std::move(scenario_);
    run.honest_nodes = honest_nodes_;
    run.honest_tasks = honest_tasks_;
    run.state_bytes = network_->state_bytes();
    run.money = std::move(money_);
    run.results.fairness = fairness_of(run);
    return run;
}

auto World::next_arrival_ms() const -> std::optional<std::int64_t> {
    const auto honest =
        next_task_ < honest_tasks_ ? std::optional{scenario_.tasks[next_task_].arrival_ms} : std::nullopt;
    const auto own = attacker_ != nullptr ? attacker_->next_order_ms() : std::nullopt;
    return honest && own ? std::optional{std::min(*honest, *own)} : honest ? honest : own;
}

auto World::next_happening_ms() const -> std::optional<std::int64_t> {
    return happenings_.empty() ? std::nullopt : std::optional{happenings_.top().time_ms};
}

/// The network's deadlines come first, then the nodes' actions, then the attacker's clock, new tasks, and the round.
void World::step(Progress& progress) {
    const auto ticks = attacker_ != nullptr && attacker_->means().tick_ms > 0 && !arrivals_ended_;
    const auto arrival = next_arrival_ms();
    const auto happening = next_happening_ms();
    const auto deadline = network_->next_deadline_ms();
    const auto tick = ticks ? std::optional{next_tick_ms_} : std::nullopt;
    const auto round = preset_.round_ms > 0 ? std::optional{next_round_ms_} : std::nullopt;
    const auto block = block_.empty() ? std::nullopt : std::optional{next_block_ms_};
    const auto next = earliest({arrival, happening, deadline, tick, block, round});
    sample_until(next);
    now_ms_ = next;
    ledger_.pass(now_ms_);
    if (deadline && *deadline <= now_ms_) {
        apply(allot::command::Advance{});
    } else if (happening && *happening <= now_ms_) {
        happen();
    } else if (tick && *tick <= now_ms_) {
        next_tick_ms_ += attacker_->means().tick_ms;
        attacker_->adversary().tick(*attacker_);
        carry_out();
    } else if (arrival && *arrival <= now_ms_) {
        if (next_task_ < honest_tasks_ && scenario_.tasks[next_task_].arrival_ms <= now_ms_) {
            const auto block_ms = attacker_ != nullptr ? attacker_->means().block_ms : 0;
            if (block_ms > 0) {
                next_block_ms_ = (now_ms_ / block_ms + 1) * block_ms;
                block_.push_back(next_task_++);
            } else {
                submit(next_task_++);
            }
            progress.update(next_task_, fmt::format("{:.1f} h, {} queued", static_cast<double>(now_ms_) / 3'600'000.0,
                                                    ledger_.queue_depth()));
        } else {
            attacker_->submit_next_order();
            carry_out();
        }
    } else if (block && *block <= now_ms_) {
        submit_block();
    } else {
        next_round_ms_ += preset_.round_ms;
        if (preset_.relay && next_asking_ms_ <= now_ms_) { ask_for_models(); }
        apply(allot::command::Match{});
    }
    if (!arrivals_ended_ && !next_arrival_ms() && block_.empty()) {
        arrivals_ended_ = true;
        if (attacker_ != nullptr) {
            attacker_->adversary().end(*attacker_);
            carry_out();
        }
    }
}

// ---- commands -------------------------------------------------------------------------------------------------------

/// Gives one command, and the commands with which owners and the attacker answer its events.
void World::apply(const Verb& verb) {
    if (!command(verb)) { ++ledger_.results().refused; }
    rank_groups();
    carry_out();
}

/// Gives one command at this time and handles its events. False if it was refused.
auto World::command(const Verb& verb) -> bool {
    while (true) {
        auto at = moment();
        if (preset_.relay && !std::holds_alternative<allot::command::Match>(verb)) { at.entropy.reset(); }
        const auto events = give(verb, at);
        obey(events);
        if (events.accepted()) {
            if (preset_.relay) { note_models(verb); }
            return true;
        }
        if (events.error() != allot::Error::advance_first) { return false; }
        // Advances until everything due is settled; one command may not suffice.
        for (auto due = network_->next_deadline_ms(); due && *due <= now_ms_; due = network_->next_deadline_ms()) {
            obey(give(allot::command::Advance{}, moment()));
        }
    }
}

/// This time, with the entropy of a command, and the round that was published last.
auto World::moment(std::uint64_t command) const -> allot::Moment {
    auto moment = allot::Moment{.time = allot::TimePoint{allot::Duration{now_ms_}}};
    moment.entropy = allot::Entropy{hash(options_.seed, Purpose::entropy, command)};
    if (preset_.round_ms > 0) { moment.round = static_cast<std::uint64_t>(now_ms_ / preset_.round_ms + 1); }
    return moment;
}

auto World::give(const Verb& verb, const allot::Moment& at) -> allot::Events {
    const auto began = Clock::now();
    auto events = network_->apply(verb, at);
    spent_ += Clock::now() - began;
    return events;
}

void World::join_all() {
    for (std::uint32_t i = 0; i < honest_nodes_; ++i) { join_honest(i, options_.verdicts); }
}

void World::join_honest(std::uint32_t node, std::uint32_t verdicts) {
    const auto& plan = scenario_.nodes[node];
    const auto& card = scenario_.cards[plan.model];
    auto spec = allot::NodeSpec{.id = plan.id};
    spec.gpu = card.name;
    spec.vram = allot::Gibibytes{card.vram};
    spec.stake = allot::Amount{plan.stake_milli};
    spec.operator_id = allot::OperatorId{plan.operator_id};
    for (const auto software : plan.software) { spec.models.emplace_back(scenario_.software[software]); }
    disks_[node] = {spec.models.begin(), spec.models.end()};
    const auto rank = plan.kind == Kind::fast ? 10U : plan.kind == Kind::slow ? 2U : 5U;
    join(node, spec, verdicts, rank);
}

/// Notes the models that an accepted command brings to a node's disk, or takes from it.
void World::note_models(const Verb& verb) {
    using allot::command::Report;
    if (const auto* const join = std::get_if<allot::command::Join>(&verb)) {
        demands_.note(node_index_.at(join->node.id), Report::inventory, join->node.models);
    } else if (const auto* const report = std::get_if<allot::command::ReportModel>(&verb)) {
        demands_.note(node_index_.at(report->node), report->report, report->models);
    }
}

/// Joins a node, which brings verdicts of so many of ten points along.
void World::join(std::uint32_t node, const allot::NodeSpec& spec, std::uint32_t verdicts, std::uint32_t points) {
    node_index_.emplace(spec.id, node);
    if (!command(allot::command::Join{spec})) {
        ++ledger_.results().refused;
        return;
    }
    for (std::uint32_t i = 0; i < verdicts; ++i) {
        command(allot::command::Score{spec.id, points * network_->points_max() / 10});
    }
}

auto World::spec_of(std::uint32_t task) const -> allot::TaskSpec {
    const auto& plan = scenario_.tasks[task];
    auto spec = allot::TaskSpec{.id = id_of(task, plan.salt)};
    spec.vram_min = allot::Gibibytes{plan.vram_min};
    if (plan.want == 0) {
        for (const auto card : scenario_.row_cards[plan.row]) {
            spec.gpus.push_back({scenario_.cards[card].name, allot::Gibibytes{scenario_.cards[card].vram}});
        }
    } else {
        for (const auto& card : scenario_.wants[plan.want - 1].cards) { spec.gpus.push_back({card, {}}); }
    }
    spec.models = models_of(scenario_, plan);
    spec.fee = fee_of(plan.fee);
    spec.duration_estimate = allot::Duration{plan.declared_ms};
    spec.owner = allot::OwnerId{scenario_.owners[plan.owner]};
    spec.gang_size = preset_.gang_size;
    if (preset_.relay && plan.want == 0) { spec.models.resize(1); }  // an adapter is fetched by the node that runs it
    if (plan.group != 0) { spec.group = allot::GroupId{plan.group}; }
    return spec;
}

auto World::spec_of(const Order& order, const allot::TaskId& id) const -> allot::TaskSpec {
    auto spec = allot::TaskSpec{.id = id};
    spec.vram_min = allot::Gibibytes{order.vram_min};
    for (const auto& card : order.gpus) { spec.gpus.push_back({card, {}}); }
    spec.models = order.models;
    spec.fee = fee_of(order.fee);
    spec.duration_estimate = allot::Duration{order.declared_ms};
    spec.owner = allot::OwnerId{order.owner};
    spec.gang_size = preset_.gang_size;
    return spec;
}

/// The leases that would start if these tasks were submitted with the next commands. Rounds draw with later entropy.
auto World::foresee(const std::vector<allot::TaskSpec>& tasks) const -> std::vector<allot::Lease> {
    auto commands = std::vector<std::pair<Verb, allot::Moment>>{};
    for (const auto& task : tasks) {
        commands.emplace_back(allot::command::Submit{task}, moment(commands_ + commands.size()));
        if (preset_.relay) { commands.back().second.entropy.reset(); }
    }
    auto leases = std::vector<allot::Lease>{};
    for (const auto& event : network_->foresee(commands)) {
        if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) { leases.push_back(started->lease); }
    }
    return leases;
}

auto World::foresight() const -> Foresight {
    return {.of_tasks =
                [this](const std::vector<std::uint32_t>& tasks) {
                    auto specs = std::vector<allot::TaskSpec>{};
                    for (const auto task : tasks) { specs.push_back(spec_of(task)); }
                    return foresee(specs);
                },
            .of_order = [this](const Order& order, const allot::TaskId& id) { return foresee({spec_of(order, id)}); }};
}

/// The attacker orders a block. What it leaves out waits for the next one.
void World::submit_block() {
    const auto ordered = attacker_->adversary().order(*attacker_, block_);
    for (const auto task : ordered) {
        if (std::erase(block_, task) == 1) { submit(task); }
    }
    next_block_ms_ = now_ms_ + attacker_->means().block_ms;
}

void World::submit(std::uint32_t task) {
    const auto& plan = scenario_.tasks[task];
    const auto spec = spec_of(task);
    if (plan.group != 0) {
        auto& tasks = group_tasks_[plan.group - 1];
        *std::find(tasks.begin(), tasks.end(), no_task) = task;
    }
    ledger_.submitted(task);
    money_.charge(task, plan.owner, whole(spec.fee));
    if (command(allot::command::Submit{spec})) {
        if (preset_.relay) { demands_.arrived(spec, now_ms_); }
    } else {
        money_.settle(task, {}, 0, whole(spec.fee), 0);
        end(task, End::refused);
    }
    rank_groups();
    carry_out();
}

void World::happen() {
    const auto what = happenings_.top();
    happenings_.pop();
    if (what.kind == Happening::Kind::wakes) {
        attacker_->adversary().woken(*attacker_, what.token);
        carry_out();
        return;
    }
    if (what.kind == Happening::Kind::downloaded) {
        if (ledger_.node(what.node).present) {
            ++ledger_.results().models_downloaded;
            disks_[what.node].insert(what.model);
            apply(
                allot::command::ReportModel{scenario_.nodes[what.node].id, allot::command::Report::add, {what.model}});
        }
        return;
    }
    if (what.kind == Happening::Kind::rejoins) {
        join_honest(what.node, 0);
        carry_out();
        return;
    }
    const auto& lease = leases_[what.node];
    if (!lease || lease->token != what.token) { return; }
    if (what.kind == Happening::Kind::completes) {
        apply(allot::command::Complete{*lease});
    } else if (what.kind == Happening::Kind::fails) {
        apply(allot::command::Fail{*lease, allot::FailCause::execution_error});
    } else if (what.kind == Happening::Kind::commits) {
        apply(allot::command::Commit{*lease});
    } else {
        apply(allot::command::Decline{*lease});
    }
}

void World::plan_happening(Happening happening) {
    happening.sequence = ++happenings_planned_;
    happenings_.push(std::move(happening));
}

// ---- the attacker ---------------------------------------------------------------------------------------------------

/// Carries out what the attacker has ordered, and what it orders in answer to that.
void World::carry_out() {
    if (attacker_ == nullptr) { return; }
    while (const auto act = attacker_->next_act()) {
        std::visit(
            [&](const auto& one) {
                using Form = std::remove_cvref_t<decltype(one)>;
                if constexpr (std::is_same_v<Form, act::Give>) {
                    command(one.verb);  // a refusal is the attacker's own affair
                } else if constexpr (std::is_same_v<Form, act::Wake>) {
                    plan_happening({now_ms_ + one.after_ms, 0, Happening::Kind::wakes, 0, one.number, {}});
                } else {
                    carry_out(one);
                }
            },
            *act);
        rank_groups();
    }
}

void World::carry_out(const act::Join& act) {
    auto found = node_index_.find(act.node.id);
    if (found == node_index_.end()) {
        const auto& card = attacker_->means().cards.at(act.card);
        auto plan = NodePlan{};
        plan.id = act.node.id.text();
        plan.stake_milli = static_cast<std::int64_t>(act.node.stake.units.low());
        plan.speed_milli = card.speed_milli;
        const auto named = [&](const GpuModel& model) { return model.name == act.node.gpu; };
        const auto at = std::find_if(scenario_.cards.begin(), scenario_.cards.end(), named);
        plan.model = static_cast<std::uint32_t>(at - scenario_.cards.begin());
        if (at == scenario_.cards.end()) { scenario_.cards.push_back({act.node.gpu, 0, act.node.vram.count}); }
        scenario_.nodes.push_back(std::move(plan));
        ledger_.grow();
        add_operator(act.node.operator_id ? act.node.operator_id->text() : scenario_.nodes.back().id, true);
        found = node_index_.emplace(act.node.id, static_cast<std::uint32_t>(scenario_.nodes.size() - 1)).first;
    }
    const auto& models = attacker_->means().cards.at(act.card).models;  // not those that the node claims
    disks_[found->second] = {models.begin(), models.end()};
    attacker_->placed(act.node.id, act.card);
    join(found->second, act.node, act.verdicts, 5);
}

void World::carry_out(const act::Submit& act) {
    const auto& order = act.order;
    auto plan = TaskPlan{};
    plan.arrival_ms = now_ms_;
    plan.vram_min = order.vram_min;
    // A network that asks for a price tells it, so its enemies pay it.
    const auto fee_min = whole(network_->fee_min(spec_of(order, id_of(act.task, order.salt))));
    plan.fee = std::max(order.fee, (fee_min + fees_ - 1) / fees_);
    plan.run_ms = order.run_ms;
    plan.declared_ms = order.declared_ms;
    plan.endless = order.endless;
    plan.salt = order.salt;
    scenario_.wants.push_back({order.gpus, order.models});
    plan.want = static_cast<std::uint32_t>(scenario_.wants.size());
    const auto known = std::find(scenario_.owners.begin(), scenario_.owners.end(), order.owner);
    plan.owner = static_cast<std::uint32_t>(known - scenario_.owners.begin());
    if (known == scenario_.owners.end()) {
        scenario_.owners.push_back(order.owner);
        money_.add_owner(true);
    }
    scenario_.tasks.push_back(plan);
    ledger_.grow();
    if (act.task + std::size_t{1} != scenario_.tasks.size()) { throw std::logic_error{"orders are out of order"}; }
    submit(act.task);
}

void World::carry_out(const act::Do& act) {
    const auto node = node_index_.at(act.lease.node);
    auto kind = Happening::Kind::completes;
    switch (act.deed.kind) {
        case Deed::Kind::stall: return;
        case Deed::Kind::complete: break;
        case Deed::Kind::fail: kind = Happening::Kind::fails; break;
        case Deed::Kind::commit: kind = Happening::Kind::commits; break;
        case Deed::Kind::decline: kind = Happening::Kind::declines; break;
    }
    plan_happening({now_ms_ + act.deed.after_ms, 0, kind, node, act.lease.token, {}});
}

auto simulate(const Trace& trace, Scenario scenario, const Options& options, Progress::Style style, Attacker* attacker)
    -> Run {
    auto progress = Progress{"simulate", scenario.tasks.size(), style};
    return World{trace, std::move(scenario), options, attacker}.run(progress);
}

}  // namespace simulate

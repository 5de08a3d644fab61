#include <algorithm>
#include <array>

#include "hash.hpp"
#include "world_state.hpp"

namespace simulate {
namespace {

constexpr auto samples_wanted = std::int64_t{288};
// one in so many queued tasks, because each question costs a pass over the network
constexpr auto expected_wait_every = std::uint64_t{100};
/// Points by the order in which the members of a group finished, of ten.
constexpr auto points_by_rank = std::array<std::uint32_t, rule::group_size>{10, 5, 2};

}  // namespace

void World::obey(const allot::Events& events) {
    namespace event = allot::event;
    failed_attacker_.clear();
    events.each([&](const event::NodeJoined& e) { ledger_.joined(node_index_.at(e.node)); },
                [&](const event::NodeLeft& e) { remove(e.node, false); },
                [&](const event::NodeDisplaced& e) { remove(e.node, false); },
                [&](const event::NodeKickedOut& e) { remove(e.node, true); },
                [&](const event::NodeSlashed& e) {
                    const auto node = node_index_.at(e.node);
                    money_.slash(node, whole(e.stake_forfeited));
                    if (ledger_.node(node).present) { remove(e.node, true); }  // else it had left
                },
                [&](const event::NodeExcluded& e) { exclude(e.node, e.until.time_since_epoch().count()); },
                [&](const event::NodeReadmitted& e) { exclude(e.node, std::nullopt); },
                [&](const event::NodeScored& e) {
                    const auto kind = e.outcome.kind;
                    const auto good = kind == allot::OutcomeKind::success || kind == allot::OutcomeKind::scored ||
                                      kind == allot::OutcomeKind::declined || kind == allot::OutcomeKind::cancelled;
                    if (!good) { ledger_.blamed(node_index_.at(e.node)); }
                },
                [&](const event::ModelWanted& e) { download(node_index_.at(e.node), std::string{e.model.view()}); },
                [&](const event::TaskQueued& e) {
                    ledger_.queued(index_of(e.task));
                    expect_wait(e.task);
                },
                [&](const event::TaskStarted& e) { start(e.lease); },
                [&](const event::LeaseCompleted& e) {
                    finished_[index_of(e.lease.task)].push_back(node_index_.at(e.lease.node));
                },
                [&](const event::LeaseEnded& e) { end_lease(e.lease, e.how); },
                [&](const event::TaskDone& e) {
                    const auto task = index_of(e.task);
                    auto& nodes = finished_[task];
                    if (nodes.empty()) { nodes.push_back(node_index_.at(e.node)); }
                    money_.settle(task, nodes, whole(e.paid), whole(e.refunded), whole(e.forfeited));
                    if (preset_.gang_size > 1) { rank_gang(task); }
                    finished_.erase(task);
                    end(task, End::done);
                },
                [&](const event::TaskFailed& e) { end(e, End::failed); },
                [&](const event::TaskCancelled& e) { end(e, End::cancelled); },
                [&](const event::TaskEvicted& e) { end(e, End::evicted); },
                [&](const event::TaskTimedOut& e) {
                    end(e, e.expiry == event::Expiry::queue ? End::timed_out_queued : End::timed_out_running);
                });
    if (attacker_ != nullptr) {
        for (const auto& event : events) { attacker_->adversary().event(*attacker_, event); }
    }
}

/// Starts work on a lease, unless the node has vanished, stalls or fails.
void World::start(const allot::Lease& lease) {
    const auto task = index_of(lease.task);
    const auto node = node_index_.at(lease.node);
    const auto& plan = scenario_.nodes[node];
    const auto& wanted = scenario_.tasks[task];
    const auto attempt = ledger_.task(task).attempts;
    ledger_.started(task, node, now_ms_);
    note_wait(task);
    leases_[node] = lease;

    const auto number = [&](Purpose purpose) { return hash(options_.seed, purpose, task, attempt); };
    const auto exact = wanted.want != 0;  // its run time is known, and it fails on no node
    const auto noise_milli = exact ? 1'000 : 900 + static_cast<std::int64_t>(number(Purpose::run_noise) % 201);
    const auto load_ms = cold_ms(task, node);
    const auto run_ms = wanted.run_ms * noise_milli / plan.speed_milli + load_ms;
    if (attacker_ != nullptr && attacker_->is_own_node(node)) {
        attacker_->leased(lease, node, task, run_ms, load_ms);
        return;
    }
    const auto flaky = plan.kind == Kind::flaky;
    if (wanted.endless || (flaky && number(Purpose::run_stalls) % 1000 < rule::flaky_stalls_permille)) {
        return;  // it never answers; the lease expires
    }
    const auto fails_permille = exact ? 0 : flaky ? rule::flaky_fails_permille : rule::fails_permille;
    const auto fails = number(Purpose::run_fails) % 1000 < fails_permille;
    const auto ends_ms = now_ms_ + (fails ? run_ms / 2 : run_ms);
    if (plan.vanishes_at_ms >= 0 && ends_ms >= plan.vanishes_at_ms) {
        return;  // it vanishes before the end
    }
    plan_happening({ends_ms, 0, fails ? Happening::Kind::fails : Happening::Kind::completes, node, lease.token, {}});
}

auto World::cold_ms(std::uint32_t task, std::uint32_t node) const -> std::int64_t {
    if (cold_ms_ == 0) { return 0; }
    const auto models = models_of(scenario_, scenario_.tasks[task]);
    const auto is_there = [&](const std::string& model) { return disks_[node].contains(model); };
    return std::all_of(models.begin(), models.end(), is_there) ? 0 : cold_ms_;
}

void World::end_lease(const allot::Lease& lease, allot::event::LeaseEnd how) {
    const auto node = node_index_.at(lease.node);
    ledger_.lease_ended(index_of(lease.task), node, how);
    if (leases_[node] && leases_[node]->token == lease.token) { leases_[node].reset(); }  // a late node knows it, too
    if (how != allot::event::LeaseEnd::done) { finished_.erase(index_of(lease.task)); }
    if (attacker_ != nullptr && attacker_->is_own_node(node)) { attacker_->lease_ended(lease, how); }
    const auto bad = how == allot::event::LeaseEnd::failed || how == allot::event::LeaseEnd::timed_out;
    if (!bad) { return; }
    if (attacker_ == nullptr || !attacker_->is_own_task(index_of(lease.task))) {
        ledger_.at_fault(node);
    } else {
        failed_attacker_.insert(node);
    }
}

template <class Ended>
void World::end(const Ended& event, End how) {
    const auto task = index_of(event.task);
    money_.settle(task, {}, whole(event.paid), whole(event.refunded), whole(event.forfeited));
    end(task, how);
}

void World::end(std::uint32_t task, End how) {
    ledger_.ended(task, how, now_ms_);
    const auto group = scenario_.tasks[task].group;
    if (group != 0 && --group_open_[group - 1] == 0) { groups_to_rank_.push_back(group - 1); }
}

void World::remove(const allot::NodeId& id, bool kicked_out) {
    const auto node = node_index_.at(id);
    ledger_.removed(node, kicked_out);
    if (kicked_out) { note_framed(node); }
    if (attacker_ != nullptr && attacker_->is_own_node(node)) {
        attacker_->adversary().gone(*attacker_, node - honest_nodes_);
        return;
    }
    const auto back_ms = now_ms_ + preset_.rejoin_ms;
    const auto vanishes_at_ms = scenario_.nodes[node].vanishes_at_ms;
    if (kicked_out && preset_.rejoin_ms > 0 && !arrivals_ended_ && (vanishes_at_ms < 0 || back_ms < vanishes_at_ms)) {
        plan_happening({back_ms, 0, Happening::Kind::rejoins, node, 0, {}});
    }
}

/// Notes that a node is blamed if it failed a task of the attacker in this command.
void World::note_framed(std::uint32_t node) {
    if (failed_attacker_.contains(node)) { ledger_.blamed(node); }
}

void World::exclude(const allot::NodeId& id, std::optional<std::int64_t> until_ms) {
    const auto node = node_index_.at(id);
    ledger_.excluded(node, until_ms.has_value());
    if (until_ms) { note_framed(node); }
    if (attacker_ == nullptr || !attacker_->is_own_node(node)) { return; }
    if (until_ms) {
        attacker_->adversary().excluded(*attacker_, node - honest_nodes_, *until_ms);
    } else {
        attacker_->adversary().readmitted(*attacker_, node - honest_nodes_);
    }
}

void World::expect_wait(const allot::TaskId& task) {
    if (!options_.expected_wait || queued_++ % expected_wait_every != 0) { return; }
    if (const auto wait_ms = network_->expected_wait_ms(task)) {
        expected_.emplace(index_of(task), std::pair{now_ms_, *wait_ms});
    }
}

void World::note_wait(std::uint32_t task) {
    if (const auto found = expected_.find(task); found != expected_.end()) {
        const auto [queued_ms, expected_ms] = found->second;
        ledger_.results().expected_waits.push_back({expected_ms, now_ms_ - queued_ms});
        expected_.erase(found);
    }
}

/// Asks nodes for the models that tasks want, once a minute, as the relay does.
void World::ask_for_models() {
    next_asking_ms_ = now_ms_ + 60'000;
    for (const auto& [node, model] : demands_.due(now_ms_)) { download(node, model); }
}

void World::download(std::uint32_t node, const std::string& model) {
    const auto number = ++ledger_.results().models_wanted;
    const auto own = attacker_ != nullptr && attacker_->is_own_node(node);
    if (own && !attacker_->adversary().fetches(*attacker_, node - honest_nodes_, model)) { return; }
    const auto takes_ms =
        rule::download_ms_min +
        static_cast<std::int64_t>(hash(options_.seed, Purpose::download_time, number) % rule::download_ms_span);
    const auto vanishes_at_ms = scenario_.nodes[node].vanishes_at_ms;
    if (vanishes_at_ms < 0 || now_ms_ + takes_ms < vanishes_at_ms) {
        plan_happening({now_ms_ + takes_ms, 0, Happening::Kind::downloaded, node, 0, model});
    }
}

// ---- validation -----------------------------------------------------------------------------------------------------

/// Ranks the groups whose members have all ended: 10, 5 and 2 points by speed, 0 for a timeout if another finished.
/// Then gives the points of gangs, whose members were ranked as they finished.
void World::rank_groups() {
    while (!groups_to_rank_.empty()) {
        const auto tasks = group_tasks_[groups_to_rank_.back()];
        groups_to_rank_.pop_back();
        auto finished = std::vector<std::uint32_t>{};
        for (const auto task : tasks) {
            if (task != no_task && ledger_.task(task).end == End::done) { finished.push_back(task); }
        }
        if (finished.empty()) { continue; }
        ++ledger_.results().groups_ranked;
        std::sort(finished.begin(), finished.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair{run_ms(a), a} < std::pair{run_ms(b), b};
        });
        for (std::size_t rank = 0; rank < finished.size(); ++rank) {
            score(ledger_.task(finished[rank]).node, points_by_rank[rank]);
        }
        for (const auto task : tasks) {
            if (task != no_task && ledger_.task(task).end == End::timed_out_running) {
                score(ledger_.task(task).node, 0);
            }
        }
    }
    while (!scores_.empty()) {
        const auto [node, points] = scores_.back();
        scores_.pop_back();
        score(node, points);
    }
}

void World::rank_gang(std::uint32_t task) {
    const auto& nodes = finished_[task];
    for (std::size_t rank = 0; rank < nodes.size() && rank < points_by_rank.size(); ++rank) {
        scores_.emplace_back(nodes[rank], points_by_rank[rank]);
    }
}

auto World::run_ms(std::uint32_t task) const -> std::int64_t {
    return ledger_.task(task).ended_ms - ledger_.task(task).started_ms;
}

void World::score(std::uint32_t node, std::uint32_t points) {
    if (!ledger_.node(node).present) { return; }
    const auto of_all = points * network_->points_max() / 10;  // where two rounds give points, a rank counts in both
    if (!command(allot::command::Score{scenario_.nodes[node].id, of_all})) { ++ledger_.results().refused; }
}

// ---- watching -------------------------------------------------------------------------------------------------------

void World::sample_until(std::int64_t time_ms) {
    const auto interval_ms = std::max(scenario_.arrivals_end_ms / samples_wanted, std::int64_t{1});
    for (; next_sample_ms_ <= time_ms; next_sample_ms_ += interval_ms) { take_sample(next_sample_ms_); }
}

void World::take_sample(std::int64_t time_ms) {
    auto sample = ledger_.sample(time_ms);
    sample.position = network_->configured() + commands_;
    const auto time = allot::TimePoint{allot::Duration{time_ms}};
    for (std::uint32_t i = 0; i < honest_nodes_; ++i) {
        if (!ledger_.node(i).present) { continue; }
        const auto quality = network_->quality(scenario_.nodes[i].id, time);
        auto& kind = sample.kinds[static_cast<std::size_t>(scenario_.nodes[i].kind)];
        ++kind.nodes;
        kind.health += quality.health;
        kind.long_score += quality.long_score;
        kind.score += quality.score;
    }
    for (auto& kind : sample.kinds) {
        const auto nodes = kind.nodes == 0 ? 1.0 : static_cast<double>(kind.nodes);
        kind.health /= nodes;
        kind.long_score /= nodes;
        kind.score /= nodes;
    }
    sample.queue_capacity = network_->queue_capacity();
    if (time_ms <= scenario_.arrivals_end_ms) {
        for (std::size_t kind = 0; kind < kind_count; ++kind) {
            ledger_.results().kinds[kind].score = sample.kinds[kind].score;
        }
    }
    ledger_.results().samples.push_back(sample);
}

}  // namespace simulate

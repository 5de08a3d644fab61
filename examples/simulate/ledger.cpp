#include "ledger.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace simulate {
namespace {

constexpr auto at_once_ms = std::int64_t{1'000};  // a shorter wait is not noticed
constexpr auto wait_points_max = std::size_t{4'000};
constexpr auto node_points_max = std::size_t{8'000};

// The effect of scores on the draws shows between the first hours, before nodes have many, and the end.
constexpr auto early_part = std::int64_t{100};
constexpr auto late_part = std::int64_t{4};

/// Returns the value below which `percent` of the sorted values lie; 0 if there are none.
auto percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) -> double {
    return sorted.empty() ? 0.0 : static_cast<double>(sorted[(sorted.size() - 1) * percent / 100]) / 1000.0;
}

auto mean(const std::vector<std::int64_t>& values) -> double {
    const auto sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    return values.empty() ? 0.0 : static_cast<double>(sum) / static_cast<double>(values.size()) / 1000.0;
}

/// The weight S·Q/(S+Q) with S = sqrt(stake / stake_max) and the Q of a new node, one half, in millionths.
auto stake_weight(std::int64_t stake, std::int64_t stake_max) -> std::uint64_t {
    const auto s = std::sqrt(static_cast<double>(stake) / static_cast<double>(stake_max));
    return static_cast<std::uint64_t>(s * 0.5 / (s + 0.5) * 1e6);
}

auto share(std::uint64_t part, std::uint64_t whole) -> double {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Ledger::Ledger(const Trace& trace, const Scenario& scenario, const Options& options) : scenario_{scenario} {
    results_.trace = trace.name;
    results_.preset = options.preset;
    results_.seed = options.seed;
    results_.scale_milli = options.scale_milli;
    results_.load_percent = options.load_percent;
    results_.rows = trace.rows;
    results_.machines = scenario.source.empty() ? trace.machines.size() : scenario.operators;
    results_.world = options.world;
    results_.source = scenario.source;
    if (!scenario.source.empty()) {  // then no row of the trace is played
        results_.trace = scenario.source;
        results_.rows = {};
    }
    results_.nodes = scenario.nodes.size();
    results_.groups = scenario.groups;
    results_.copies_milli = scenario.copies_milli;
    results_.compression_milli = scenario.compression_milli;
    results_.arrivals_end_ms = scenario.arrivals_end_ms;
    early_.until_ms = scenario.arrivals_end_ms / early_part;
    late_.from_ms = scenario.arrivals_end_ms - scenario.arrivals_end_ms / late_part;
    late_.until_ms = scenario.arrivals_end_ms;
    for (const auto& node : scenario.nodes) { stake_max_ = std::max(stake_max_, node.stake_milli); }
    grow();
}

void Ledger::grow() {
    tasks_.resize(scenario_.tasks.size());
    nodes_.resize(scenario_.nodes.size());
    while (stake_weights_.size() < nodes_.size()) {
        const auto& node = scenario_.nodes[stake_weights_.size()];
        stake_weights_.push_back(stake_weight(std::min(node.stake_milli, stake_max_), stake_max_));
        free_weights_[static_cast<std::size_t>(node.kind)] += stake_weights_.back();
    }
}

auto Ledger::kind_of(std::uint32_t node) const -> std::size_t {
    return static_cast<std::size_t>(scenario_.nodes[node].kind);
}

void Ledger::joined(std::uint32_t node) {
    nodes_[node].present = true;
    ++present_;
}

void Ledger::removed(std::uint32_t node, bool kicked_out) {
    excluded(node, false);
    nodes_[node].present = false;
    nodes_[node].kicked_out = kicked_out;
    --present_;
}

void Ledger::excluded(std::uint32_t node, bool is_excluded) {
    auto& entry = nodes_[node];
    if (is_excluded && !entry.excluded) {
        ++results_.exclusions;
        ++entry.exclusions;
        ++excluded_;
    } else if (!is_excluded && entry.excluded) {
        --excluded_;
    }
    entry.excluded = is_excluded;
}

void Ledger::submitted(std::uint32_t) {
    ++results_.submitted;
    ++open_;
}

void Ledger::queued(std::uint32_t task) {
    tasks_[task].queued = true;
    ++queued_;
}

void Ledger::started(std::uint32_t task, std::uint32_t node, std::int64_t now_ms) {
    auto& entry = tasks_[task];
    queued_ -= std::exchange(entry.queued, false) ? 1U : 0U;
    if (entry.started_ms < 0) {
        entry.started_ms = now_ms;
        ++results_.started;
    }
    entry.node = node;
    ++entry.attempts;
    for (auto* const window : {&early_, &late_}) {
        if (window->contains(now_ms) && now_ms == scenario_.tasks[task].arrival_ms) {
            note_draw(*window, kind_of(node));
        }
    }
    ++busy_;
    free_weights_[kind_of(node)] -= stake_weights_[node];

    auto& runner = nodes_[node];
    const auto& plan = scenario_.nodes[node];
    ++runner.started;
    runner.after_vanishing += plan.vanishes_at_ms >= 0 && now_ms >= plan.vanishes_at_ms ? 1U : 0U;
}

/// Removed nodes count as free, because removal is the last way to lose share.
void Ledger::note_draw(Window& window, std::size_t kind_drawn) const {
    const auto all = std::accumulate(free_weights_.begin(), free_weights_.end(), std::uint64_t{0});
    ++window.draws[kind_drawn];
    for (std::size_t kind = 0; kind < kind_count; ++kind) { window.expected[kind] += share(free_weights_[kind], all); }
}

void Ledger::lease_ended(std::uint32_t task, std::uint32_t node, allot::event::LeaseEnd how) {
    using allot::event::LeaseEnd;
    --busy_;
    free_weights_[kind_of(node)] += stake_weights_[node];
    auto& runner = nodes_[node];
    const auto& plan = scenario_.nodes[node];
    if (how == LeaseEnd::done) {
        ++runner.done;
        runner.work_seconds += static_cast<std::uint64_t>(scenario_.tasks[task].run_ms / 1000);
    } else if (how == LeaseEnd::timed_out) {
        ++runner.timed_out;
        runner.after_vanishing += plan.vanishes_at_ms >= 0 && tasks_[task].started_ms < plan.vanishes_at_ms ? 1U : 0U;
    } else if (how == LeaseEnd::failed) {
        ++runner.failed;
    } else if (how == LeaseEnd::declined) {
        ++runner.declined;
    }
}

void Ledger::ended(std::uint32_t task, End end, std::int64_t now_ms) {
    auto& entry = tasks_[task];
    if (entry.end != End::open) { throw std::logic_error{fmt::format("task {} ended twice", task)}; }
    queued_ -= std::exchange(entry.queued, false) ? 1U : 0U;
    --open_;
    entry.end = end;
    entry.ended_ms = now_ms;
    switch (end) {
        case End::done: ++results_.done; break;
        case End::timed_out_running: ++results_.timed_out_running; break;
        case End::failed: ++results_.failed; break;
        case End::evicted: ++results_.evicted; break;
        case End::cancelled: ++results_.cancelled; break;
        case End::timed_out_queued: ++results_.timed_out_queued; break;
        case End::refused:
        case End::open: break;
    }
}

void Ledger::pass(std::int64_t now_ms) {
    results_.leased_ms += busy_ * static_cast<std::uint64_t>(now_ms - now_ms_);
    const auto until = std::min(now_ms, scenario_.arrivals_end_ms);
    if (until > now_ms_) {
        const auto passed = static_cast<std::uint64_t>(until - now_ms_);
        busy_ms_ += busy_ * passed;
        present_ms_ += present_ * passed;
    }
    now_ms_ = now_ms;
}

auto Ledger::sample(std::int64_t now_ms) const -> Sample {
    auto sample = Sample{};
    sample.time_ms = now_ms;
    sample.queued = queued_;
    sample.busy = busy_;
    sample.present = present_;
    sample.excluded = excluded_;
    return sample;
}

auto Ledger::close(std::int64_t now_ms) -> Results {
    if (open_ != 0 || queued_ != 0 || busy_ != 0) {
        throw std::logic_error{fmt::format("{} tasks never ended", open_)};
    }
    results_.end_ms = now_ms;
    results_.utilisation = share(busy_ms_, present_ms_);
    summarise_waits();
    summarise_nodes();
    summarise_windows();
    summarise_vanished();
    return std::move(results_);
}

void Ledger::summarise_waits() {
    auto by_decile = std::vector<std::vector<std::int64_t>>(results_.deciles.size());
    auto all = std::vector<std::int64_t>{};
    auto waited = std::vector<WaitPoint>{};
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        const auto& plan = scenario_.tasks[i];
        if (tasks_[i].started_ms < 0) { continue; }
        const auto wait_ms = tasks_[i].started_ms - plan.arrival_ms;
        by_decile[plan.decile].push_back(wait_ms);
        all.push_back(wait_ms);
        if (wait_ms < at_once_ms) {
            ++results_.started_at_once;
        } else {
            waited.push_back({static_cast<double>(plan.fee_per_second), static_cast<double>(wait_ms) / 1000.0});
        }
    }
    std::sort(all.begin(), all.end());
    results_.wait_p50_s = percentile(all, 50);
    results_.wait_p95_s = percentile(all, 95);
    const auto points = std::min(waited.size(), wait_points_max);
    for (std::size_t i = 0; i < points; ++i) { results_.waits.push_back(waited[i * waited.size() / points]); }
    summarise_deciles(std::move(by_decile));
}

void Ledger::summarise_deciles(std::vector<std::vector<std::int64_t>> waits) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        const auto& plan = scenario_.tasks[i];
        auto& decile = results_.deciles[plan.decile];
        const auto value = static_cast<double>(plan.fee_per_second);
        decile.value_min = decile.submitted == 0 ? value : std::min(decile.value_min, value);
        decile.value_max = std::max(decile.value_max, value);
        ++decile.submitted;
        decile.started += tasks_[i].started_ms >= 0 ? 1U : 0U;
        decile.done += tasks_[i].end == End::done ? 1U : 0U;
        decile.evicted += tasks_[i].end == End::evicted ? 1U : 0U;
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
        std::sort(waits[i].begin(), waits[i].end());
        auto& decile = results_.deciles[i];
        decile.wait_mean_s = mean(waits[i]);
        decile.wait_p50_s = percentile(waits[i], 50);
        decile.wait_p95_s = percentile(waits[i], 95);
    }
}

void Ledger::summarise_nodes() {
    struct Sums {
        std::uint64_t stake = 0, work = 0;
    };
    auto total = Sums{};
    auto by_kind = std::array<Sums, kind_count>{};
    const auto add = [](Sums& sums, const NodePlan& plan, const NodeEntry& entry) {
        sums.stake += static_cast<std::uint64_t>(plan.stake_milli);
        sums.work += entry.work_seconds;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& plan = scenario_.nodes[i];
        const auto kind = static_cast<std::size_t>(plan.kind);
        auto& row = results_.kinds[kind];
        add(total, plan, nodes_[i]);
        add(by_kind[kind], plan, nodes_[i]);
        ++row.nodes;
        row.started += nodes_[i].started;
        row.timed_out += nodes_[i].timed_out;
        row.kicked_out += nodes_[i].kicked_out ? 1U : 0U;
    }
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        auto& row = results_.kinds[kind];
        row.stake_share = share(by_kind[kind].stake, total.stake);
        row.work_share = share(by_kind[kind].work, total.work);
    }
    const auto points = std::min(nodes_.size(), node_points_max);
    for (std::size_t i = 0; i < points; ++i) {
        const auto node = i * nodes_.size() / points;
        const auto& plan = scenario_.nodes[node];
        results_.node_points.push_back({share(static_cast<std::uint64_t>(plan.stake_milli), total.stake),
                                        share(nodes_[node].work_seconds, total.work), plan.kind});
    }
}

/// A fast node is free sooner, and a rich one is drawn more, whatever the scores are. Both effects are removed, draw by
/// draw: the expected share of a kind is its share, by stake alone, of the nodes free at that draw. The remainder is
/// the effect of scores.
void Ledger::summarise_windows() {
    const auto fill = [&](const Window& window, double KindRow::*drawn) {
        const auto won = [&](std::size_t kind) {
            return window.expected[kind] > 0 ? static_cast<double>(window.draws[kind]) / window.expected[kind] : 0.0;
        };
        const auto ordinary = won(static_cast<std::size_t>(Kind::ordinary));
        for (std::size_t kind = 0; kind < kind_count && ordinary > 0; ++kind) {
            results_.kinds[kind].*drawn = won(kind) / ordinary;
        }
    };
    fill(early_, &KindRow::drawn_early);
    fill(late_, &KindRow::drawn_late);
}

void Ledger::summarise_vanished() {
    auto counts = std::vector<std::uint64_t>{};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (scenario_.nodes[i].kind == Kind::vanished) {
            ++results_.vanished;
            results_.tasks_after_vanishing_max =
                std::max<std::uint64_t>(results_.tasks_after_vanishing_max, nodes_[i].after_vanishing);
            if (nodes_[i].kicked_out) { counts.push_back(nodes_[i].after_vanishing); }
        }
    }
    std::sort(counts.begin(), counts.end());
    results_.vanished_kicked_out = counts.size();
    if (!counts.empty()) {
        results_.tasks_before_kick_min = counts.front();
        results_.tasks_before_kick_median = counts[counts.size() / 2];
        results_.tasks_before_kick_max = counts.back();
    }
}

}  // namespace simulate

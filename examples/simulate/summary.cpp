#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace simulate {
namespace {

auto percent(double part, double whole) -> double { return whole > 0 ? part / whole * 100.0 : 0.0; }

/// Returns a time in the unit that an operator would use.
auto span(double seconds) -> std::string {
    if (seconds < 100) { return fmt::format("{:.{}f} s", seconds, seconds > 0 && seconds < 10 ? 1 : 0); }
    return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

void add_run(std::string& text, const Results& r) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "\nallot {}, preset {}, seed {}\n\n", r.library_version, r.preset, r.seed);
    if (r.source.empty()) {
        fmt::format_to(out,
                       "Trace           {}: {} rows read, {} kept; dropped {} that want no GPU, {} that want several\n",
                       r.trace, r.rows.read, r.rows.kept, r.rows.dropped_no_gpu, r.rows.dropped_several_gpus);
        fmt::format_to(out, "                {} rows name several GPU models; {} never ran, {} run times clamped\n",
                       r.rows.several_models, r.rows.run_time_unknown, r.rows.run_time_clamped);
    } else {
        fmt::format_to(out, "World           {}: {}\n", r.world, r.source);
    }
    fmt::format_to(out, "Network         {} nodes {} {} {}; {:.1f} h, load offered {} %\n", r.nodes,
                   r.source.empty() ? "on" : "of", r.machines, r.source.empty() ? "machines" : "operators",
                   static_cast<double>(r.end_ms) / 3'600'000.0, r.load_percent);
    fmt::format_to(out, "Tasks           {} submitted, {} of them in {} validation groups ({} ranked)\n", r.submitted,
                   r.groups * rule::group_size, r.groups, r.groups_ranked);
}

void add_totals(std::string& text, const Results& r) {
    auto out = std::back_inserter(text);
    const auto submitted = static_cast<double>(r.submitted);
    const auto line = [&](const char* name, std::uint64_t count, const std::string& note) {
        fmt::format_to(out, "  {:<14}{:>9}  {:5.1f} %{}\n", name, count, percent(static_cast<double>(count), submitted),
                       note);
    };
    line("done", r.done, "");
    line("evicted", r.evicted, "  the queue was full");
    line("timed out", r.timed_out_running, "  running");
    line("timed out", r.timed_out_queued, "  queued");
    line("failed", r.failed, "");
    if (r.cancelled > 0) { line("cancelled", r.cancelled, ""); }
    fmt::format_to(out, "Waiting         {:.1f} % start within a second, median {}, 95th percentile {}\n",
                   percent(static_cast<double>(r.started_at_once), static_cast<double>(r.started)), span(r.wait_p50_s),
                   span(r.wait_p95_s));
    fmt::format_to(out, "Utilisation     {:.1f} %\n", r.utilisation * 100.0);
    fmt::format_to(out, "Models          {} downloads asked for, {} done\n", r.models_wanted, r.models_downloaded);
    fmt::format_to(out, "Exclusions      {}\n", r.exclusions);
    if (r.decide_seconds > 0) {
        fmt::format_to(out, "Decisions       {:.0f} a second of wall clock ({} commands in {:.2f} s, one core)\n",
                       static_cast<double>(r.commands) / r.decide_seconds, r.commands, r.decide_seconds);
    }
    if (r.memory_peak_mib > 0) {
        fmt::format_to(out, "Memory          {} MiB at most, the trace and the ledgers included\n", r.memory_peak_mib);
    }
    if (r.refused > 0) { fmt::format_to(out, "Refused         {} commands; none was expected\n", r.refused); }
}

void add_deciles(std::string& text, const Results& r) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "\nWaiting by task value (fee per second), cheapest tenth first\n");
    fmt::format_to(out, "  {:>6}  {:>9}  {:>8}  {:>8}  {:>9}  {:>9}\n", "decile", "value", "started", "evicted", "mean",
                   "95th pct.");
    for (std::size_t i = 0; i < r.deciles.size(); ++i) {
        const auto& d = r.deciles[i];
        const auto submitted = static_cast<double>(d.submitted);
        fmt::format_to(out, "  {:>6}  {:>8.1f}k  {:>6.1f} %  {:>6.1f} %  {:>9}  {:>9}\n", i + 1, d.value_max / 1000,
                       percent(static_cast<double>(d.started), submitted),
                       percent(static_cast<double>(d.evicted), submitted), span(d.wait_mean_s), span(d.wait_p95_s));
    }
}

/// Adds the errors of expected waits, as fractions of the actual waits: of all, and by the actual wait.
void add_expected_waits(std::string& text, const Results& r) {
    if (r.expected_waits.empty()) { return; }
    auto out = std::back_inserter(text);
    fmt::format_to(out, "\nExpected waits, asked as tasks were queued, against what those waited that started\n");
    fmt::format_to(out, "  {:>16}  {:>6}  {:>12}  {:>10}  {:>11}  {:>15}\n", "waited", "tasks", "error median",
                   "90th pct.", "within 25 %", "expected/waited");
    constexpr auto limits = std::array<std::int64_t, 5>{0, 60'000, 600'000, 3'600'000, 1'000'000'000'000};
    const auto row = [&](const std::string& name, std::int64_t from_ms, std::int64_t until_ms) {
        auto errors = std::vector<double>{};
        auto ratios = std::vector<double>{};
        for (const auto& [expected_ms, waited_ms] : r.expected_waits) {
            if (waited_ms > from_ms && waited_ms <= until_ms) {
                ratios.push_back(static_cast<double>(expected_ms) / static_cast<double>(waited_ms));
                errors.push_back(std::abs(ratios.back() - 1));
            }
        }
        if (errors.empty()) { return; }
        std::sort(errors.begin(), errors.end());
        std::sort(ratios.begin(), ratios.end());
        const auto within = std::upper_bound(errors.begin(), errors.end(), 0.25) - errors.begin();
        fmt::format_to(out, "  {:>16}  {:>6}  {:>10.0f} %  {:>8.0f} %  {:>9.1f} %  {:>15.2f}\n", name, errors.size(),
                       errors[errors.size() / 2] * 100, errors[errors.size() * 9 / 10] * 100,
                       percent(static_cast<double>(within), static_cast<double>(errors.size())),
                       ratios[ratios.size() / 2]);
    };
    row("any time", limits.front(), limits.back());
    row("up to a minute", limits[0], limits[1]);
    row("up to 10 min", limits[1], limits[2]);
    row("up to an hour", limits[2], limits[3]);
    row("longer", limits[3], limits[4]);
}

void add_kinds(std::string& text, const Results& r) {
    auto out = std::back_inserter(text);
    fmt::format_to(out,
                   "\nWho gains and who loses: draws won by a free node for equal stake, an ordinary node = 100 %\n");
    fmt::format_to(out, "  {:<9} {:>6}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}  {:>10}\n", "kind", "nodes",
                   "of stake", "of work", "at first", "at last", "gain", "timed out", "kicked out");
    for (std::size_t i = 0; i < kind_count; ++i) {
        const auto& k = r.kinds[i];
        if (k.nodes == 0) { continue; }
        fmt::format_to(
            out, "  {:<9} {:>6}  {:>6.2f} %  {:>6.2f} %  {:>6.1f} %  {:>6.1f} %  {:>+6.1f} %  {:>7.2f} %  {:>10}\n",
            kind_names[i], k.nodes, k.stake_share * 100, k.work_share * 100, k.drawn_early * 100, k.drawn_late * 100,
            (k.drawn_late - 1) * 100, percent(static_cast<double>(k.timed_out), static_cast<double>(k.started)),
            k.kicked_out);
    }
    fmt::format_to(out, "\nVanished nodes  {} of {} kicked out", r.vanished_kicked_out, r.vanished);
    if (r.vanished_kicked_out > 0) {
        fmt::format_to(out, ", each after {} to {} tasks it never answered (median {})", r.tasks_before_kick_min,
                       r.tasks_before_kick_max, r.tasks_before_kick_median);
    }
    fmt::format_to(out, "; none was given more than {}\n", r.tasks_after_vanishing_max);
}

/// Adds who earns for what, and how tasks of each value fare.
void add_fairness(std::string& text, const Results& r) {
    auto out = std::back_inserter(text);
    const auto& fair = r.fairness;
    fmt::format_to(out, "\nFairness: 0 is even for Gini, 1 is even for Jain\n");
    const auto spread = [&](const char* name, const Spread& one) {
        fmt::format_to(out, "  fees earned by {:<6} Gini {:.3f}  Jain {:.3f}\n", name, one.gini, one.jain);
    };
    spread("stake", fair.by_stake);
    spread("card", fair.by_card);
    fmt::format_to(out, "  earned nothing         {} of {} nodes that could run a task\n", fair.unpaid_nodes,
                   fair.able_nodes);
    fmt::format_to(out, "  longest wait           {} before a start, {} in vain\n", span(fair.wait_max_s),
                   span(fair.wait_in_vain_max_s));
    fmt::format_to(out,
                   "\nTime to the end by task value, cheapest tenth first; a task that is not done takes for ever\n");
    fmt::format_to(out, "  {:>6}  {:>9}  {:>7}  {:>8}  {:>8}  {:>10}  {:>8}  {:>9}  {:>9}\n", "decile", "done",
                   "refused", "evicted", "lost", "never ran", "median", "90th pct.", "99th pct.");
    for (std::size_t i = 0; i < fair.tenths.size(); ++i) {
        const auto& tenth = fair.tenths.at(i);
        const auto of_all = [&](std::uint64_t count) {
            return fmt::format("{:.1f} %", percent(static_cast<double>(count), static_cast<double>(tenth.submitted)));
        };
        const auto time = [](std::optional<double> seconds) { return seconds ? span(*seconds) : std::string{"never"}; };
        fmt::format_to(out, "  {:>6}  {:>9}  {:>7}  {:>8}  {:>8}  {:>10}  {:>8}  {:>9}  {:>9}\n", i + 1,
                       of_all(tenth.done), of_all(tenth.refused), of_all(tenth.evicted), of_all(tenth.lost),
                       of_all(tenth.never_started), time(tenth.sojourn_p50_s), time(tenth.sojourn_p90_s),
                       time(tenth.sojourn_p99_s));
    }
}

}  // namespace

auto to_text(const Results& results) -> std::string {
    auto text = std::string{};
    add_run(text, results);
    add_totals(text, results);
    add_deciles(text, results);
    add_expected_waits(text, results);
    add_kinds(text, results);
    add_fairness(text, results);
    return text;
}

}  // namespace simulate

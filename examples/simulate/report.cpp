#include "report.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "embedded.hpp"
#include "fees.hpp"
#include "page.hpp"

namespace simulate {
namespace {

constexpr auto ms_per_hour = 3'600'000.0;

auto share(std::uint64_t part, std::uint64_t whole) -> double {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What was really played, and how to play it again.
auto run_of(const Results& results, const Options& options) -> Json {
    const auto& rows = results.rows;
    return {{"trace", results.trace},
            {"world", results.world},
            {"source", results.source},
            {"preset", results.preset},
            {"library_version", results.library_version},
            {"settings", options.settings},
            {"command", command_of(options)},
            {"sources", sources_of(options)},
            {"stake_cap", results.stake_cap},
            {"seed", results.seed},
            {"scale", results.scale_milli / 1000.0},
            {"load_percent", results.load_percent},
            {"machines", results.machines},
            {"nodes", results.nodes},
            {"groups", results.groups},
            {"copies", static_cast<double>(results.copies_milli) / 1000.0},
            {"compression", static_cast<double>(results.compression_milli) / 1000.0},
            {"arrivals_end_hours", static_cast<double>(results.arrivals_end_ms) / ms_per_hour},
            {"end_hours", rounded(static_cast<double>(results.end_ms) / ms_per_hour)},
            {"rows",
             {{"read", rows.read},
              {"kept", rows.kept},
              {"dropped_no_gpu", rows.dropped_no_gpu},
              {"dropped_several_gpus", rows.dropped_several_gpus},
              {"several_models", rows.several_models},
              {"run_time_unknown", rows.run_time_unknown},
              {"run_time_clamped", rows.run_time_clamped},
              {"arrival_moved", rows.arrival_moved}}}};
}

auto totals_of(const Results& results) -> Json {
    return {{"submitted", results.submitted},
            {"started", results.started},
            {"done", results.done},
            {"failed", results.failed},
            {"evicted", results.evicted},
            {"timed_out_running", results.timed_out_running},
            {"timed_out_queued", results.timed_out_queued},
            {"cancelled", results.cancelled},
            {"refused", results.refused},
            {"groups_ranked", results.groups_ranked},
            {"models_wanted", results.models_wanted},
            {"models_downloaded", results.models_downloaded},
            {"exclusions", results.exclusions},
            {"commands", results.commands},
            {"utilisation", rounded(results.utilisation)},
            {"vanished", results.vanished},
            {"vanished_kicked_out", results.vanished_kicked_out},
            {"tasks_before_kick_min", results.tasks_before_kick_min},
            {"tasks_before_kick_median", results.tasks_before_kick_median},
            {"tasks_before_kick_max", results.tasks_before_kick_max},
            {"tasks_after_vanishing_max", results.tasks_after_vanishing_max}};
}

auto series_of(const Results& results) -> Json {
    auto series = Json{};
    for (const auto& sample : results.samples) {
        series["hours"].push_back(rounded(static_cast<double>(sample.time_ms) / ms_per_hour));
        series["position"].push_back(sample.position);
        series["queued"].push_back(sample.queued);
        series["queue_capacity"].push_back(sample.queue_capacity);
        series["present"].push_back(sample.present);
        series["busy_percent"].push_back(rounded(share(sample.busy, sample.present) * 100.0));
        series["excluded_percent"].push_back(rounded(share(sample.excluded, sample.present) * 100.0));
        for (std::size_t kind = 0; kind < kind_count; ++kind) {
            const auto name = std::string{kind_names[kind]};
            const auto& of_kind = sample.kinds[kind];
            const auto value = [&](double number) { return of_kind.nodes > 0 ? Json(rounded(number)) : Json(nullptr); };
            series["health"][name].push_back(value(of_kind.health));
            series["long_score"][name].push_back(value(of_kind.long_score));
            series["score"][name].push_back(value(of_kind.score));
        }
    }
    return series;
}

auto deciles_of(const Results& results) -> Json {
    auto deciles = Json::array();
    for (const auto& decile : results.deciles) {
        deciles.push_back({{"submitted", decile.submitted},
                           {"started", decile.started},
                           {"done", decile.done},
                           {"evicted", decile.evicted},
                           {"value_min", rounded(decile.value_min)},
                           {"value_max", rounded(decile.value_max)},
                           {"wait_mean_s", rounded(decile.wait_mean_s)},
                           {"wait_p50_s", rounded(decile.wait_p50_s)},
                           {"wait_p95_s", rounded(decile.wait_p95_s)}});
    }
    return deciles;
}

auto waits_of(const Results& results) -> Json {
    auto points = Json::array();
    for (const auto& point : results.waits) {
        points.push_back(Json::array({rounded(point.value / 1000.0), rounded(point.wait_s)}));
    }
    return {{"at_once_share", rounded(share(results.started_at_once, results.started))},
            {"p50_s", rounded(results.wait_p50_s)},
            {"p95_s", rounded(results.wait_p95_s)},
            {"points", std::move(points)}};
}

auto node_points_of(const Results& results) -> Json {
    auto points = Json::object();
    for (const auto name : kind_names) { points[std::string{name}] = Json::array(); }
    for (const auto& point : results.node_points) {
        points[std::string{kind_names[static_cast<std::size_t>(point.kind)]}].push_back(
            Json::array({rounded(point.stake_share), rounded(point.work_share)}));
    }
    return points;
}

auto kinds_of(const Results& results) -> Json {
    auto kinds = Json::array();
    for (std::size_t i = 0; i < kind_count; ++i) {
        const auto& kind = results.kinds[i];
        kinds.push_back({{"name", kind_names[i]},
                         {"nodes", kind.nodes},
                         {"stake_share", rounded(kind.stake_share)},
                         {"work_share", rounded(kind.work_share)},
                         {"drawn_early", rounded(kind.drawn_early)},
                         {"drawn_late", rounded(kind.drawn_late)},
                         {"started", kind.started},
                         {"timed_out", kind.timed_out},
                         {"kicked_out", kind.kicked_out},
                         {"score", rounded(kind.score)}});
    }
    return kinds;
}

auto fairness_json(const Fairness& fairness) -> Json {
    const auto spread = [](const Spread& one) {
        auto points = Json::array();
        for (const auto& point : one.lorenz) {
            points.push_back(Json::array({rounded(point.means_share), rounded(point.earned_share)}));
        }
        return Json{{"gini", rounded(one.gini)}, {"jain", rounded(one.jain)}, {"lorenz", std::move(points)}};
    };
    const auto time = [](std::optional<double> seconds) { return seconds ? Json(rounded(*seconds)) : Json(nullptr); };
    auto tenths = Json::array();
    for (const auto& tenth : fairness.tenths) {
        tenths.push_back({{"submitted", tenth.submitted},
                          {"done", tenth.done},
                          {"refused", tenth.refused},
                          {"evicted", tenth.evicted},
                          {"lost", tenth.lost},
                          {"never_started", tenth.never_started},
                          {"value_max", rounded(tenth.value_max)},
                          {"sojourn_p50_s", time(tenth.sojourn_p50_s)},
                          {"sojourn_p90_s", time(tenth.sojourn_p90_s)},
                          {"sojourn_p99_s", time(tenth.sojourn_p99_s)}});
    }
    return {{"by_stake", spread(fairness.by_stake)},
            {"by_card", spread(fairness.by_card)},
            {"tenths", std::move(tenths)},
            {"wait_max_s", rounded(fairness.wait_max_s)},
            {"wait_in_vain_max_s", rounded(fairness.wait_in_vain_max_s)},
            {"able_nodes", fairness.able_nodes},
            {"unpaid_nodes", fairness.unpaid_nodes}};
}

auto document_of(const Run& run, const Options& options) -> Json {
    const auto& results = run.results;
    auto document = Json{{"run", run_of(results, options)},
                         {"totals", totals_of(results)},
                         {"deciles", deciles_of(results)},
                         {"kinds", kinds_of(results)},
                         {"series", series_of(results)},
                         {"waits", waits_of(results)},
                         {"node_points", node_points_of(results)},
                         {"fees", fees_of(run)},
                         {"fairness", fairness_json(results.fairness)}};
    document["digest"] = digest_of(document);
    const auto per_second =
        results.decide_seconds > 0 ? static_cast<double>(results.commands) / results.decide_seconds : 0.0;
    document["wall_clock"] = {{"decide_seconds", rounded(results.decide_seconds)},
                              {"decisions_per_second", std::round(per_second)}};
    return document;
}

}  // namespace

auto to_json(const Run& run, const Options& options) -> std::string {
    return dump(document_of(run, options), 1) + "\n";
}

auto to_html(const Run& run, const Options& options) -> std::string {
    return page_of(embedded::report_page, document_of(run, options));
}

}  // namespace simulate

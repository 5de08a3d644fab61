#include "compare.hpp"

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "attacks_page.hpp"
#include "bounds.hpp"
#include "comparison.hpp"
#include "network.hpp"
#include "page.hpp"
#include "progress.hpp"

namespace simulate {
namespace {

auto split(const std::string& list) -> std::vector<std::string> {
    auto parts = std::vector<std::string>{};
    for (auto at = std::size_t{0}; at <= list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// Plays a bound with more and more seeds until it is decided; without a decision it has failed.
/// `known_rows` has what was judged before: several bounds may be of one row.
auto judge_bound(Laboratory& laboratory, const Options& options, const Bound& bound,
                 std::map<std::string, Judged>& known_rows) -> std::pair<Verdict, Judged> {
    auto judged = Judged{};
    const auto chosen = choose_attacks(bound.row);
    for (auto seeds = std::max(options.seeds, 2U);; seeds = std::min(seeds * 2, options.seeds_max)) {
        const auto row = fmt::format("{} {} {} {} {}", bound.row, bound.preset, bound.world, bound.load_percent, seeds);
        auto place = known_rows.find(row);
        if (place == known_rows.end()) {
            place = known_rows
                        .emplace(row, laboratory.judge(contender_of(bound.preset), chosen.front(), bound.load_percent,
                                                       seeds))
                        .first;
        }
        judged = place->second;
        const auto found = judged.measures.find(bound.measure);
        if (found == judged.measures.end()) {
            auto known = std::string{};
            for (const auto& [name, value] : judged.measures) { known += (known.empty() ? "" : ", ") + name; }
            throw std::invalid_argument{fmt::format("{}:{}: this row has no measure \"{}\"; it has {}", bound.file,
                                                    bound.line, bound.measure, known)};
        }
        const auto decided = verdict(found->second, bound.most, options.sigmas);
        if (decided != Verdict::undecided || seeds >= options.seeds_max) { return {decided, judged}; }
    }
}

auto check(const Trace& trace, const Options& options) -> int {
    const auto bounds = read_bounds(options.check);
    auto failures = 0;
    auto known_rows = std::map<std::string, Judged>{};
    auto progress = Progress{"check", bounds.size(), Progress::choose(options.show_progress, options.hide_progress)};
    auto done = std::uint64_t{0};
    for (const auto& bound : bounds) {
        auto in_world = options;
        enter_world(in_world, bound.world);
        auto laboratory = Laboratory{trace, in_world};
        const auto [decided, judged] = judge_bound(laboratory, in_world, bound, known_rows);
        const auto good = decided == Verdict::passed;
        failures += good ? 0 : 1;
        fmt::print("{:<9} {} {} {} {} {} = {} <= {:g}, {} seeds\n",
                   good                         ? "passed"
                   : decided == Verdict::failed ? "FAILED"
                                                : "UNDECIDED",
                   bound.row, bound.preset, bound.world, bound.load_percent, bound.measure,
                   text_of(judged.measures.at(bound.measure)), bound.most, judged.seeds);
        progress.update(++done, bound.row);
    }
    fmt::print("{} of {} bounds hold\n", bounds.size() - static_cast<std::size_t>(failures), bounds.size());
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Writes the files that the options ask for.
void write_pages(Laboratory& laboratory, const std::vector<Judged>& all, const std::vector<Contender>& contenders,
                 const Options& options) {
    if (!options.json.empty()) { write_file(options.json, json_of(all)); }
    if (options.report.empty() && options.attacks_page.empty()) { return; }
    auto fields = std::vector<Played>{};
    for (const auto& contender : contenders) {
        fields.push_back(laboratory.field(contender, options.load_percent, options.seeds));
    }
    const auto document = document_of(all, contenders, fields, options);
    if (!options.report.empty()) { write_file(options.report, comparison_page(document)); }
    if (!options.attacks_page.empty()) {
        write_file(options.attacks_page, attacks_page(read_file(options.attacks_page), &document));
    }
}

}  // namespace

auto text_of(const Measure& measure) -> std::string {
    if (!std::isfinite(measure.error)) { return fmt::format("{:.4g}", measure.value); }
    return fmt::format("{:.4g} +- {:.2g}", measure.value, measure.error);
}

auto table_of(const std::vector<Judged>& all) -> std::string {
    auto text = std::string{};
    for (const auto& one : all) {
        fmt::format_to(std::back_inserter(text), "\n{} {}: {}\n  {}, load {} %, {} seeds\n", one.row, one.attack,
                       one.what, one.contender, one.load_percent, one.seeds);
        for (const auto& [name, value] : one.measures) {
            fmt::format_to(std::back_inserter(text), "    {:<18}{}\n", name, text_of(value));
        }
    }
    return text;
}

auto json_of(const std::vector<Judged>& all) -> std::string {
    auto json = Json::array();
    for (const auto& one : all) {
        auto measures = Json::object();
        for (const auto& [name, value] : one.measures) {
            measures[name] = {{"value", finite(value.value)}, {"error", finite(value.error)}};
        }
        json.push_back({{"row", one.row},
                        {"attack", one.attack},
                        {"what", one.what},
                        {"preset", one.contender},
                        {"load", one.load_percent},
                        {"seeds", one.seeds},
                        {"measures", measures}});
    }
    return json.dump(2) + "\n";
}

auto compare(const Trace& trace, const Options& options) -> int {
    if (!options.check.empty()) { return check(trace, options); }
    const auto chosen = choose_attacks(options.attack);
    auto contenders = std::vector<Contender>{};
    for (const auto& text : split(options.compare)) { contenders.push_back(contender_of(text)); }
    for (const auto& contender : contenders) {
        for (const auto& note : find_preset(contender.preset).notes) {
            fmt::print("World           {}: {}\n", contender.text, note);
        }
    }
    auto laboratory = Laboratory{trace, options};
    auto all = std::vector<Judged>{};
    {
        auto progress = Progress{"compare", contenders.size() * (chosen.size() + 1),
                                 Progress::choose(options.show_progress, options.hide_progress)};
        auto done = std::uint64_t{0};
        for (const auto& contender : contenders) {
            for (const auto& one : chosen) {
                all.push_back(laboratory.judge(contender, one, options.load_percent, options.seeds));
                progress.update(++done, fmt::format("{} {}", one.row->row, contender.text));
            }
            if (&contender != contenders.data()) {
                const auto cost = laboratory.cost(contender, contenders.front(), options.load_percent, options.seeds);
                if (cost) {
                    all.push_back({"nobody", "-", "no attack; against " + contenders.front().text, contender.text,
                                   options.load_percent, options.seeds, *cost});
                }
            }
            progress.update(++done, contender.text);
        }
    }
    fmt::print("{}\n{} runs played, {} found\n", table_of(all), laboratory.runs().played(), laboratory.runs().found());
    write_pages(laboratory, all, contenders, options);
    return EXIT_SUCCESS;
}

}  // namespace simulate

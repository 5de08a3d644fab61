#include "compare.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bounds.hpp"
#include "network.hpp"
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

auto shown(const Measure& measure) -> std::string {
    if (!std::isfinite(measure.error)) { return fmt::format("{:.4g}", measure.value); }
    return fmt::format("{:.4g} +- {:.2g}", measure.value, measure.error);
}

auto shown(const Knobs& knobs) -> std::string {
    auto text = std::string{};
    for (const auto& knob : knobs.all()) {
        text += fmt::format("{}{}={:.4g}", text.empty() ? "" : " ", knob.name, knob.value);
    }
    return text;
}

/// A number, or null where there is none: JSON has no infinity.
auto finite(double number) -> nlohmann::ordered_json {
    return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json(nullptr);
}

void write_file(const std::string& path, const std::string& content) {
    auto stream = std::ofstream{path, std::ios::binary};
    stream << content;
    stream.close();
    if (!stream) { throw std::runtime_error{path + ": cannot be written"}; }
}

/// A row may be played and enumerated. The measure tells which of them a bound means.
auto chosen_for(const Bound& bound) -> Chosen {
    const auto all = choose_attacks(bound.row);
    const auto exact = exact_measures();
    const auto is_exact = std::find(exact.begin(), exact.end(), bound.measure) != exact.end();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Chosen& one) { return (one.exact != nullptr) == is_exact; });
    return found == all.end() ? all.front() : *found;
}

/// Plays a bound with more and more seeds until it is decided; without a decision it has failed.
/// `known_rows` has what was judged before: several bounds may be of one row.
auto judge_bound(Laboratory& laboratory, const Options& options, const Bound& bound,
                 std::map<std::string, Judged>& known_rows) -> std::pair<Verdict, Judged> {
    auto judged = Judged{};
    const auto chosen = chosen_for(bound);
    for (auto seeds = std::max(options.seeds, 2U);; seeds = std::min(seeds * 2, options.seeds_max)) {
        const auto row = fmt::format("{} {} {} {} {} {}", chosen.exact != nullptr ? "exact" : "", bound.row,
                                     bound.preset, bound.world, bound.load_percent, seeds);
        auto place = known_rows.find(row);
        if (place == known_rows.end()) {
            place =
                known_rows.emplace(row, laboratory.judge(contender_of(bound.preset), chosen, bound.load_percent, seeds))
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
        if (options.renew) { return {Verdict::passed, judged}; }
        const auto decided = verdict(found->second, bound.most, options.sigmas);
        if (decided != Verdict::undecided || seeds >= options.seeds_max) { return {decided, judged}; }
    }
}

auto seeds_of(const Judged& judged) -> std::string {
    return judged.seeds == 0 ? std::string{"enumerated"} : fmt::format("{} seeds", judged.seeds);
}

auto check(const Trace& trace, const Options& options) -> int {
    const auto bounds = read_bounds(options.check);
    auto failures = 0;
    auto known_rows = std::map<std::string, Judged>{};
    auto progress = Progress{"check", bounds.size(), Progress::choose(options.show_progress, options.hide_progress)};
    auto done = std::uint64_t{0};
    auto renewed = std::vector<double>{};
    for (const auto& bound : bounds) {
        auto in_world = options;
        enter_world(in_world, bound.world);
        auto laboratory = Laboratory{trace, in_world};
        const auto [decided, judged] = judge_bound(laboratory, in_world, bound, known_rows);
        if (options.renew) {
            const auto& found = judged.measures.at(bound.measure);
            renewed.push_back(found.value + options.sigmas * found.error);
            progress.update(++done, bound.row);
            continue;
        }
        const auto good = decided == Verdict::passed;
        failures += good ? 0 : 1;
        fmt::print("{:<9} {} {} {} {} {} = {} <= {:g}, {}\n",
                   good                         ? "passed"
                   : decided == Verdict::failed ? "FAILED"
                                                : "UNDECIDED",
                   bound.row, bound.preset, bound.world, bound.load_percent, bound.measure,
                   shown(judged.measures.at(bound.measure)), bound.most, seeds_of(judged));
        progress.update(++done, bound.row);
    }
    if (options.renew) {
        write_file(options.check, with_bounds(options.check, bounds, renewed));
        fmt::print("{} bounds written\n", bounds.size());
        return EXIT_SUCCESS;
    }
    fmt::print("{} of {} bounds hold\n", bounds.size() - static_cast<std::size_t>(failures), bounds.size());
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

auto table_of(const std::vector<Judged>& all) -> std::string {
    auto text = std::string{};
    for (const auto& one : all) {
        fmt::format_to(std::back_inserter(text), "\n{} {}: {}\n  {}, {}{}\n", one.row, one.attack, one.what,
                       one.contender, one.seeds == 0 ? std::string{} : fmt::format("load {} %, ", one.load_percent),
                       seeds_of(one));
        if (!one.knobs.empty()) { fmt::format_to(std::back_inserter(text), "    best response     {}\n", one.knobs); }
        for (const auto& [name, value] : one.measures) {
            fmt::format_to(std::back_inserter(text), "    {:<18}{}\n", name, shown(value));
        }
    }
    return text;
}

auto json_of(const std::vector<Judged>& all) -> std::string {
    auto json = nlohmann::ordered_json::array();
    for (const auto& one : all) {
        auto measures = nlohmann::ordered_json::object();
        for (const auto& [name, value] : one.measures) {
            measures[name] = {{"value", finite(value.value)}, {"error", finite(value.error)}};
        }
        json.push_back({{"row", one.row},
                        {"attack", one.attack},
                        {"what", one.what},
                        {"preset", one.contender},
                        {"load", one.load_percent},
                        {"seeds", one.seeds},
                        {"knobs", one.knobs},
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
                const auto told = [&](const Knobs& knobs) {
                    progress.tell(fmt::format("{} {} {}", one.name(), contender.text, shown(knobs)));
                };
                all.push_back(laboratory.judge(contender, one, options.load_percent, options.seeds, told));
                progress.update(++done, fmt::format("{} {}", one.name(), contender.text));
            }
            if (&contender != contenders.data()) {
                // What a rule costs is asked of the preset that has it, against the one in which it is off.
                const auto changes_first = contender.text.starts_with(contenders.front().text + ":");
                const auto& rule = changes_first ? contenders.front() : contender;
                const auto& base = changes_first ? contender : contenders.front();
                if (const auto cost = laboratory.cost(rule, base, options.load_percent, options.seeds)) {
                    all.push_back({"nobody",
                                   "-",
                                   "no attack; the honest cost against " + base.text,
                                   rule.text,
                                   options.load_percent,
                                   options.seeds,
                                   *cost,
                                   {}});
                }
            }
            progress.update(++done, contender.text);
        }
    }
    fmt::print("{}\n{} runs played, {} found\n", table_of(all), laboratory.runs().played(), laboratory.runs().found());
    if (!options.json.empty()) { write_file(options.json, json_of(all)); }
    return EXIT_SUCCESS;
}

}  // namespace simulate

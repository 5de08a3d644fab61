#include "compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <utility>

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

auto text_of(const Knobs& knobs) -> std::string {
    auto text = std::string{};
    for (const auto& knob : knobs.all()) {
        text += fmt::format("{}{}={:.4g}", text.empty() ? "" : " ", knob.name, knob.value);
    }
    return text;
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
        if (chosen.row != nullptr && chosen.row->load_percent != 0 && chosen.row->load_percent != bound.load_percent) {
            throw std::invalid_argument{fmt::format("{}:{}: row {} is about a load of {} %", bound.file, bound.line,
                                                    bound.row, chosen.row->load_percent)};
        }
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
        in_world.own_scale_milli = 0;  // a bound holds for a world as it is
        in_world.own_hours = 0;
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
                   text_of(judged.measures.at(bound.measure)), bound.most, seeds_of(judged));
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

/// A contender's name on a page: with its world and load, if there are several.
auto shown_as(const std::string& contender, const std::string& world, std::uint32_t load_percent,
              const Options& options) -> std::string {
    auto text = contender;
    if (options.worlds.size() > 1) { text += " in " + world; }
    if (options.loads.size() > 1) { text += fmt::format(" at {} %", load_percent); }
    return text;
}

/// Who is shown on a page, and what was attacked: a contender in one world and at one load.
struct Shown {
    std::vector<Contender> contenders;
    std::vector<Played> fields;
};

/// Writes the files that the options ask for.
void write_pages(const std::vector<Judged>& all, const Shown& shown, const Options& options) {
    if (!options.json.empty()) { write_file(options.json, json_of(all)); }
    if (options.report.empty() && options.attacks_page.empty()) { return; }
    auto named = all;
    const auto& loads = options.loads;
    for (auto& one : named) {
        // A row with a load of its own stands among those of the first load, unless its load is one of them.
        const auto is_own = std::find(loads.begin(), loads.end(), one.load_percent) == loads.end();
        const auto load_percent = is_own && !loads.empty() ? loads.front() : one.load_percent;
        one.contender = shown_as(one.contender, one.world, load_percent, options);
    }
    const auto document = document_of(named, shown.contenders, shown.fields, options);
    if (!options.report.empty()) { write_file(options.report, comparison_page(document)); }
    if (!options.attacks_page.empty()) {
        write_file(options.attacks_page, attacks_page(read_file(options.attacks_page), &document));
    }
}

/// Tells how many pairs of runs are done, and how long the rest takes if no more of it is found.
class PairClock {
public:
    PairClock(std::uint64_t pairs, Progress::Style style)
        : progress_{std::in_place, "compare", pairs, style}, pairs_{pairs} {}

    /// A pair is done; pairs that were found in the folder of runs say nothing about the time.
    void pair(bool played, const std::string& what) {
        ++done_;
        const auto now = Clock::now();
        if (played) {
            ++played_;
            spent_ += now - last_;
        }
        last_ = now;
        const auto minutes = std::chrono::duration<double, std::ratio<60>>(spent_).count();
        const auto left = static_cast<double>(pairs_ - std::min(done_, pairs_));
        const auto rest = played_ == 0 ? std::string{} : fmt::format(", {:.0f} min left", minutes / played_ * left);
        progress_->update(done_, fmt::format("{}/{} pairs{} {}", done_, pairs_, rest, what));
    }
    void tell(const std::string& what) { progress_->tell(what); }
    /// A pair that cannot be played is not waited for.
    void skip(std::uint64_t pairs) { pairs_ -= pairs; }
    void end() { progress_.reset(); }

private:
    using Clock = std::chrono::steady_clock;  // for the progress only

    std::optional<Progress> progress_;
    std::uint64_t pairs_;
    std::uint64_t done_ = 0;
    double played_ = 0;
    Clock::duration spent_{};
    Clock::time_point last_ = Clock::now();
};

/// Judges all contenders at one load in one world.
void compare_at(Laboratory& laboratory, const std::vector<Contender>& contenders, const std::vector<Chosen>& chosen,
                std::uint32_t load_percent, std::uint32_t seeds, PairClock& clock, std::vector<Judged>& all) {
    const auto world = laboratory.world();
    const auto told_as = [&](const std::string& what) {
        laboratory.after_pair([&clock, what](bool played) { clock.pair(played, what); });
    };
    for (const auto& contender : contenders) {
        for (const auto& one : chosen) {
            const auto what = fmt::format("{} {} {} {} %", one.name(), contender.text, world, load_percent);
            told_as(what);
            // Shares are the same in each world and at each load, and a row with a load of its own at each load.
            const auto is_known = [&](const Judged& known) {
                return known.row == one.name() && known.contender == contender.text &&
                       (one.exact != nullptr ? known.seeds == 0 : known.seeds > 0 && known.world == world);
            };
            if ((one.exact != nullptr || one.row->load_percent != 0) && std::any_of(all.begin(), all.end(), is_known)) {
                clock.skip(one.exact != nullptr ? 0 : seeds);
                continue;
            }
            const auto searches = [&](const Knobs& knobs) { clock.tell(what + " " + text_of(knobs)); };
            all.push_back(laboratory.judge(contender, one, load_percent, seeds, searches));
        }
        if (&contender == contenders.data()) { continue; }
        told_as(fmt::format("cost {} {} {} %", contender.text, world, load_percent));
        // What a rule costs is asked of the preset that has it, against the one in which it is off.
        const auto changes_first = contender.text.starts_with(contenders.front().text + ":");
        const auto& rule = changes_first ? contenders.front() : contender;
        const auto& base = changes_first ? contender : contenders.front();
        if (const auto cost = laboratory.cost(rule, base, load_percent, seeds)) {
            all.push_back({"nobody",
                           "-",
                           "no attack; the honest cost against " + base.text,
                           rule.text,
                           load_percent,
                           seeds,
                           world,
                           *cost,
                           {},
                           base.text});
        } else {
            clock.skip(seeds);
        }
    }
}

/// Row 5b may be no worse than row 5a of the same contender.
void tell_swallowed_over_5a(std::vector<Judged>& all) {
    for (auto& judged : all) {
        const auto fresh = std::find_if(all.begin(), all.end(), [&](const Judged& one) {
            return one.row == "5a" && one.contender == judged.contender && one.world == judged.world &&
                   one.load_percent == judged.load_percent;
        });
        if (judged.row != "5b" || fresh == all.end()) { continue; }
        const auto& a = fresh->measures.at("swallowed");
        const auto& b = judged.measures.at("swallowed");
        judged.measures["swallowed_over_5a"] = {b.value - a.value, std::hypot(a.error, b.error)};
    }
}

}  // namespace

auto text_of(const Measure& measure) -> std::string {
    if (!std::isfinite(measure.error)) { return fmt::format("{:.4g}", measure.value); }
    return fmt::format("{:.4g} +- {:.2g}", measure.value, measure.error);
}

auto table_of(const std::vector<Judged>& all, bool names_world) -> std::string {
    auto text = std::string{};
    for (const auto& one : all) {
        const auto world = names_world && one.seeds > 0 ? "world " + one.world + ", " : std::string{};
        const auto has_load = one.seeds > 0 && one.load_percent > 0;
        const auto load = has_load ? fmt::format("load {} %, ", one.load_percent) : std::string{};
        fmt::format_to(std::back_inserter(text), "\n{} {}: {}\n  {}, {}{}{}\n", one.row, one.attack, one.what,
                       one.contender, world, load, seeds_of(one));
        if (!one.knobs.empty()) { fmt::format_to(std::back_inserter(text), "    best response     {}\n", one.knobs); }
        for (const auto& [name, value] : one.measures) {
            fmt::format_to(std::back_inserter(text), "    {:<17} {}\n", name, text_of(value));
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
                        {"world", one.world},
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
    const auto worlds = options.worlds.empty() ? std::vector{options.world} : options.worlds;
    const auto own_load = options.nodes.empty() ? options.load_percent : 0;  // one's own tasks have theirs
    const auto loads = options.loads.empty() ? std::vector{own_load} : options.loads;
    const auto is_played = [](const Chosen& one) { return one.exact == nullptr; };
    const auto attacks = static_cast<std::size_t>(std::count_if(chosen.begin(), chosen.end(), is_played));
    const auto rows = contenders.size() * attacks + contenders.size() - 1;  // and the costs against the first
    auto clock = PairClock{worlds.size() * loads.size() * rows * options.seeds,
                           Progress::choose(options.show_progress, options.hide_progress)};
    auto all = std::vector<Judged>{};
    auto shown = Shown{};
    auto played = std::uint64_t{0};
    auto found = std::uint64_t{0};
    for (const auto& world : worlds) {
        auto in_world = options;
        enter_world(in_world, world);
        auto laboratory = Laboratory{trace, in_world};
        for (const auto& rule : laboratory.derived()) { fmt::print("Derived         {}\n", rule); }
        for (const auto load : loads) {
            compare_at(laboratory, contenders, chosen, load, options.seeds, clock, all);
            for (const auto& contender : contenders) {
                shown.contenders.push_back(contender);
                shown.contenders.back().text = shown_as(contender.text, world, load, options);
                shown.fields.push_back(laboratory.field(contender, load, options.seeds));
            }
        }
        played += laboratory.runs().played();
        found += laboratory.runs().found();
    }
    clock.end();
    tell_swallowed_over_5a(all);
    fmt::print("{}\n{} runs played, {} found\n", table_of(all, !options.worlds.empty()), played, found);
    write_pages(all, shown, options);
    return EXIT_SUCCESS;
}

}  // namespace simulate

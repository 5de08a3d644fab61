#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "compare.hpp"
#include "hash.hpp"
#include "network.hpp"

namespace simulate {
namespace {

/// A number for the tables that a trace was read from: other tables are another run, wherever they lie.
auto number_of(const Trace& trace) -> std::uint64_t {
    auto sum = std::uint64_t{0};
    const auto add = [&](std::string_view text) { sum = hash_of(text, sum); };
    for (const auto& card : trace.models) { add(fmt::format("{} {} {};", card.name, card.memory_mib, card.vram)); }
    for (const auto& machine : trace.machines) {
        add(fmt::format("{} {} {} {};", machine.name, machine.gpus, machine.model, machine.stake_milli));
    }
    for (const auto& task : trace.tasks) {
        add(fmt::format("{} {} {} {} {};", task.arrival_seconds, task.run_seconds, task.gpu_milli,
                        fmt::join(task.models, "|"), static_cast<int>(task.priority)));
    }
    add(fmt::format("{} {}", trace.start_seconds, trace.end_seconds));
    return sum;
}

/// All that decides a run but the tables and the attacker.
auto describe(const Options& options) -> std::string {
    auto text =
        fmt::format("{} scale {} hours {} load {} seed {} verdicts {} even {}", options.preset, options.scale_milli,
                    options.hours, options.load_percent, options.seed, options.verdicts, options.even_stakes);
    for (const auto& setting : options.settings) { text += " " + setting; }
    return text;
}

auto describe(const Knobs& knobs) -> std::string {
    auto text = std::string{};
    for (const auto& knob : knobs.all()) { text += fmt::format(" {}={:.17g}", knob.name, knob.value); }
    return text;
}

/// Means as text, long lists as a number.
auto describe(const Means& means) -> std::string {
    auto sum = std::uint64_t{0};
    const auto add = [&](std::string_view text) { sum = hash_of(text, sum); };
    for (const auto& card : means.cards) {
        add(fmt::format("{} {} {} {};", card.gpu, card.vram, card.speed_milli, fmt::join(card.models, "|")));
    }
    for (const auto& order : means.orders) {
        add(fmt::format("{} {} {} {} {} {} {} {} {};", order.arrival_ms, order.run_ms, order.declared_ms, order.fee,
                        order.vram_min, fmt::join(order.gpus, "|"), fmt::join(order.models, "|"), order.owner,
                        order.endless));
    }
    return fmt::format("stake {} verdicts {} tick {} cold {} block {} target {} lists {:016x}", means.stake_milli,
                       means.verdicts, means.tick_ms, means.cold_ms, means.block_ms, means.target, sum);
}

auto with_price(Means means, double times) -> Means {
    for (auto& order : means.orders) {
        order.fee = std::max(std::llround(static_cast<double>(order.fee) * times), 1LL);
    }
    return means;
}

}  // namespace

auto contender_of(const std::string& text) -> Contender {
    auto contender = Contender{text, text.substr(0, text.find(':')), {}};
    for (auto at = text.find(':'); at != std::string::npos;) {
        const auto next = text.find(':', at + 1);
        contender.settings.push_back(text.substr(at + 1, next == std::string::npos ? next : next - at - 1));
        at = next;
    }
    // A wrong name or value is told at once, and not after hours.
    (void)open_network(find_preset(contender.preset), {1U}, contender.settings);
    return contender;
}

auto choose_attacks(const std::string& list) -> std::vector<Chosen> {
    auto all = std::vector<Chosen>{};
    auto known = std::string{};
    for (const auto& recipe : recipes()) {
        known += fmt::format("{}{} (", known.empty() ? "" : ", ", recipe.name);
        for (const auto& row : recipe.cases) {
            known += (&row == recipe.cases.data() ? "" : " ") + row.row;
            if (list == "all") { all.push_back({&recipe, &row}); }
        }
        known += ")";
    }
    known += ", shares (";
    for (const auto& one : exact_cases()) {
        known += (&one == exact_cases().data() ? "" : " ") + one.row;
        if (list == "all") { all.push_back({nullptr, nullptr, &one}); }
    }
    known += ")";
    if (list == "all" || list == "none") { return all; }
    for (auto at = std::size_t{0}; at <= list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        const auto name = list.substr(at, end - at);
        const auto before = all.size();
        for (const auto& recipe : recipes()) {
            for (const auto& row : recipe.cases) {
                if (name == recipe.name || name == row.row) { all.push_back({&recipe, &row}); }
            }
        }
        for (const auto& one : exact_cases()) {
            if (name == "shares" || name == one.row) { all.push_back({nullptr, nullptr, &one}); }
        }
        if (all.size() == before) {
            throw std::invalid_argument{
                fmt::format("no attack is called \"{}\"; there are all, none, {}, or one row of these", name, known)};
        }
        at = end + 1;
    }
    return all;
}

Laboratory::Laboratory(const Trace& trace, Options options)
    : trace_{trace}, tables_{number_of(trace)}, options_{std::move(options)}, runs_{options_.runs} {
    if (!options_.nodes.empty()) { own_ = load_scenario(options_.nodes, options_.tasks, trace_, derived_); }
}

/// One's own network is the same for each seed, which then changes the draws and the behaviour alone.
auto Laboratory::scenario_of(const Options& options) const -> Scenario {
    return own_ ? *own_ : make_scenario(trace_, options);
}

auto Laboratory::options_for(const Contender& contender, std::uint32_t load_percent, std::uint64_t seed) const
    -> Options {
    auto options = options_;
    options.preset = contender.preset;
    options.settings = contender.settings;
    options.load_percent = load_percent;
    options.seed = seed;
    return options;
}

auto Laboratory::play(const Options& options, const Scenario& scenario, const std::string& role, const Means* means,
                      std::unique_ptr<Adversary> adversary) -> Outcome {
    const auto tables = fmt::format("tables {:016x} {:016x}", tables_, scenario.digest);
    return runs_.get(fmt::format("{} {} {}", describe(options), tables, role), [&] {
        if (means == nullptr) {
            return outcome_of(simulate(trace_, scenario, options, Progress::Style::none), Means{});
        }
        auto scene = make_scene(scenario, options);
        scene.validation = find_preset(options.preset).validation;
        auto attacker = Attacker{std::move(adversary), *means, std::move(scene)};
        auto outcome = outcome_of(simulate(trace_, scenario, options, Progress::Style::none, &attacker), *means);
        outcome.notes = attacker.notes();
        return outcome;
    });
}

auto Laboratory::pair_of(const Options& options, const Chosen& chosen, const Knobs& knobs) -> Pair {
    const auto scenario = scenario_of(options);
    const auto& recipe = *chosen.recipe;
    const auto scene = make_scene(scenario, options);
    const auto means = recipe.means(scene, knobs);
    const auto role = recipe.name + describe(knobs);
    auto pair = Pair{};
    for (const auto& task : scenario.tasks) {
        pair.fees.push_back(task.fee);
        pair.run_ms.push_back(task.run_ms);
    }
    pair.attack = play(options, scenario, "attack " + role, &means, recipe.make(knobs));
    const auto twin = [&](const Means& with) {
        const auto whose = recipe.twin_is_honest ? std::string{"honest "} : "twin " + role + " ";
        return play(options, scenario, whose + describe(with), &with, recipe.make_twin(knobs));
    };
    pair.honest = twin(means);
    if (recipe.reference) { pair.reference = twin(recipe.reference(scene, knobs)); }
    if (recipe.measures_price) {
        for (const auto step : price_steps) { pair.at_prices.push_back(twin(with_price(means, step))); }
    }
    return pair;
}

/// The knobs that the search finds on its seeds.
auto Laboratory::respond(const Contender& contender, const Chosen& chosen, std::uint32_t load_percent,
                         const std::function<void(const Knobs&)>& told) -> Response {
    auto search = Search{};
    search.aim = [&](const Knobs& knobs) {
        auto pairs = std::vector<Pair>{};
        for (std::uint64_t seed = 1; seed <= options_.search_seeds; ++seed) {
            pairs.push_back(pair_of(options_for(contender, load_percent, seed), chosen, knobs));
        }
        const auto measures = measure(pairs);
        const auto aim = measures.find(chosen.recipe->aim);
        return aim == measures.end() ? 0 : aim->second.value;
    };
    search.told = told;
    return best_response(*chosen.recipe, *chosen.row, search);
}

auto Laboratory::judge(const Contender& contender, const Chosen& chosen, std::uint32_t load_percent,
                       std::uint32_t seeds, const std::function<void(const Knobs&)>& told) -> Judged {
    if (chosen.exact != nullptr) {
        return {"shares",
                chosen.exact->row,
                chosen.exact->what,
                contender.text,
                0,
                0,
                options_.world,
                enumerate(contender, *chosen.exact),
                {},
                {}};
    }
    if (chosen.row->load_percent != 0 && !own_) { load_percent = chosen.row->load_percent; }
    const auto found = options_.best_response ? respond(contender, chosen, load_percent, told)
                                              : Response{knobs_of(*chosen.recipe, *chosen.row), 0, 0, {}};
    auto pairs = std::vector<Pair>{};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        count([&] {
            pairs.push_back(pair_of(options_for(contender, load_percent, search_seeds + seed), chosen, found.knobs));
        });
    }
    return {chosen.recipe->name, chosen.row->row,
            chosen.row->what,    contender.text,
            load_percent,        seeds,
            options_.world,      measure(pairs),
            found.changed,       {}};
}

auto Laboratory::field(const Contender& contender, std::uint32_t load_percent, std::uint32_t seeds) const -> Played {
    auto field = Played{};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto scenario = scenario_of(options_for(contender, load_percent, search_seeds + seed));
        field.nodes = scenario.nodes.size();
        field.tasks += scenario.tasks.size();
    }
    return field;
}

auto Laboratory::cost(const Contender& contender, const Contender& base, std::uint32_t load_percent,
                      std::uint32_t seeds) -> std::optional<std::map<std::string, Measure>> {
    if (find_preset(contender.preset).gang_size != find_preset(base.preset).gang_size) { return std::nullopt; }
    auto outcomes = std::vector<std::pair<Outcome, Outcome>>{};
    auto fields = std::vector<HonestNetwork>{};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto options = options_for(contender, load_percent, search_seeds + seed);
        const auto base_options = options_for(base, load_percent, search_seeds + seed);
        const auto scenario = scenario_of(options);
        count([&] {
            outcomes.emplace_back(play(options, scenario, "nobody", nullptr, nullptr),
                                  play(base_options, scenario, "nobody", nullptr, nullptr));
        });
        fields.push_back({{}, minorities_of(scenario, scenario.nodes.size(), scenario.tasks.size())});
        for (const auto& task : scenario.tasks) { fields.back().fees.push_back(task.fee); }
    }
    return honest_cost(outcomes, fields);
}

}  // namespace simulate

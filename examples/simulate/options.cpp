#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "best_response.hpp"
#include "network.hpp"

namespace simulate {
namespace {

constexpr auto scale_milli_max = std::uint32_t{200'000};  // 1.2 million nodes, 100 million tasks

/// Parses "4", "0.05" or "1.5" as thousandths; zero if the text is no such number or has more than three decimals.
auto parse_scale(std::string_view text) -> std::uint32_t {
    auto value = std::uint64_t{0};
    auto decimals = -1;
    for (const auto c : text) {
        if (c == '.' && decimals < 0 && text.size() > 1) {
            decimals = 0;
        } else if (c >= '0' && c <= '9' && decimals < 3 && value <= scale_milli_max) {
            value = value * 10 + static_cast<std::uint64_t>(c - '0');
            decimals += decimals >= 0 ? 1 : 0;
        } else {
            return 0;
        }
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; ++decimals) { value *= 10; }
    return value <= scale_milli_max ? static_cast<std::uint32_t>(value) : 0;
}

/// The tables: of an installed program, by its own place, so that a prefix may move; else those of the sources.
auto data_folder(const char* program) -> std::string {
    auto error = std::error_code{};
    auto place = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) { place = std::filesystem::absolute(program, error); }
    const auto installed = (place.parent_path() / ALLOT_INSTALLED_DATA).lexically_normal();
    return std::filesystem::exists(installed / "README.md", error) ? installed.string() : ALLOT_EXAMPLES_DATA;
}

struct NamedWorld {
    const char* name;
    Source source;
    std::uint32_t scale_milli;
    std::uint32_t hours;
    bool even_stakes;
};
/// About 310 nodes; `thousand` has 1,000, and `llm` 100, for its tasks are short and many.
constexpr auto worlds =
    std::array{NamedWorld{"small", Source::trace, 50, 6, false}, NamedWorld{"even", Source::trace, 50, 6, true},
               NamedWorld{"thousand", Source::trace, 161, 24, false},
               NamedWorld{"drawn", Source::drawn, 1'000, 6, false}, NamedWorld{"llm", Source::requests, 323, 1, false}};

constexpr auto own_network = "own network";

}  // namespace

auto world_names() -> std::vector<std::string> {
    auto names = std::vector<std::string>{};
    for (const auto& world : worlds) { names.emplace_back(world.name); }
    return names;
}

void enter_world(Options& options, const std::string& name) {
    options.verdicts = 12;  // so that honest nodes are known, as in a network that has run for a while
    if (!options.nodes.empty()) {
        options.world = own_network;
        return;
    }
    for (const auto& world : worlds) {
        if (name != world.name) { continue; }
        options.world = name;
        options.source = world.source;
        options.scale_milli = options.own_scale_milli > 0 ? options.own_scale_milli : world.scale_milli;
        options.hours = options.own_hours > 0 ? options.own_hours : world.hours;
        options.even_stakes = world.even_stakes;
        return;
    }
    throw std::invalid_argument{"no world is called " + name};
}

auto sources_of(const Options& options) -> std::string {
    if (!options.nodes.empty()) { return {}; }
    switch (options.source) {
        case Source::trace:
            return "Trace: Alibaba cluster-trace-gpu-v2023. Stakes: Solana validators as listed by Marinade, epoch "
                   "427. "
                   "Fees, speeds, models and behaviour are derived by the rules in examples/data/README.md.";
        case Source::drawn:
            return "Nodes and tasks are drawn from examples/data/world_drawn.csv, which this project wrote.";
        case Source::requests:
            return "Requests: Azure LLM inference trace 2023 (CC BY 4.0; Patel et al., Splitwise, ISCA 2024). Nodes, "
                   "owners and prices are drawn from examples/data/world_drawn.csv, which this project wrote.";
    }
    return {};
}

auto command_of(const Options& options) -> std::string {
    const auto quoted = [](const std::string& text) {
        return text.find_first_of(" |&;<>()$`\\\"'*?[#~!{}") == std::string::npos ? text : "'" + text + "'";
    };
    const auto file = [&](const std::string& path) { return quoted(std::filesystem::path{path}.filename().string()); };
    auto text = std::string{"simulate"};
    const auto add = [&](const char* name, const std::string& value) { text += fmt::format(" --{} {}", name, value); };
    const auto own_tables = [&] {
        return fmt::format(" --nodes {} --tasks {} --as-is", file(options.nodes), file(options.tasks));
    };
    if (!options.trace.empty()) { add("trace", file(options.trace)); }
    if (!options.compare.empty()) {
        add("compare", quoted(options.compare));
        add("attack", options.attack);
        add("seeds", fmt::format("{}", options.seeds));
        if (!options.nodes.empty()) { return text + own_tables(); }
        if (options.worlds.empty()) {
            add("world", options.world);
        } else {
            add("worlds", fmt::format("{}", fmt::join(options.worlds, ",")));
        }
        if (options.own_scale_milli > 0) { add("scale", fmt::format("{}", options.own_scale_milli / 1000.0)); }
        if (options.own_hours > 0) { add("hours", fmt::format("{}", options.own_hours)); }
        if (!options.loads.empty()) { return text + fmt::format(" --loads {}", fmt::join(options.loads, ",")); }
    } else {
        add("preset", options.preset);
        for (const auto& setting : options.settings) { add("set", quoted(setting)); }
        add("seed", fmt::format("{}", options.seed));
        if (!options.nodes.empty()) { return text + own_tables(); }
        if (!options.world.empty()) { add("world", options.world); }
        add("scale", fmt::format("{}", options.scale_milli / 1000.0));
        add("hours", fmt::format("{}", options.hours));
    }
    add("load", fmt::format("{}", options.load_percent));
    return text;
}

auto parse_options(int argc, char** argv) -> ParsedOptions {
    auto parsed = ParsedOptions{};
    auto& options = parsed.options;
    options.data_folder = data_folder(argv[0]);
    auto scale = std::string{"1"};
    auto is_short = false;
    auto as_is_given = false;

    auto app = CLI::App{"Plays a real GPU cluster trace against a dispatcher and writes a report."};
    const auto check_scale = [](const std::string& text) {
        return parse_scale(text) == 0 ? std::string{"expected a number from 0.001 to 200, such as 4 or 0.05"}
                                      : std::string{};
    };
    auto* const scale_option = app.add_option("--scale", scale, "multiplies nodes and tasks, such as 4 or 0.05")
                                   ->check(check_scale)
                                   ->capture_default_str();
    const auto not_negative = [](const std::string& text) {  // else it would be read as a number near 2^64
        return text.starts_with('-') ? std::string{"expected a whole number from 0"} : std::string{};
    };
    app.add_option("--seed", options.seed, "another seed is another run")->check(not_negative)->capture_default_str();
    auto* const hours_option =
        app.add_option("--hours", options.hours,
                       "hours of the simulated network that the arrivals take; fewer by default for a scale above 1")
            ->check(CLI::Range(1, 1'000))
            ->capture_default_str();
    auto* const load =
        app.add_option("--load", options.load_percent, "work offered, in percent of what all nodes can do")
            ->check(CLI::Range(1, 1'000))
            ->capture_default_str();
    app.add_option("--preset", options.preset, "policies of the dispatcher")
        ->check(CLI::IsMember(preset_names()))
        ->capture_default_str();
    app.add_option("--set", options.settings,
                   "a parameter of the preset, such as qos.window=30; may be repeated. --parameters lists them")
        ->type_name("POLICY.NAME=VALUE")
        ->allow_extra_args(false);
    app.add_flag("--parameters", options.tell_parameters, "print the preset's parameters, and play nothing");
    auto* const nodes = app.add_option("--nodes", options.nodes, "your own network: a row a node")->type_name("CSV");
    auto* const tasks = app.add_option("--tasks", options.tasks, "your own tasks: a row a task")->type_name("CSV");
    auto* const as_is =
        app.add_flag("--as-is", as_is_given, "play --nodes and --tasks as they are: no scale, no copies, no noise");
    nodes->needs(tasks)->needs(as_is);
    tasks->needs(nodes)->needs(as_is);
    as_is->needs(nodes);
    app.add_option("--tasks-out", options.tasks_out, "where to write a row a task as CSV")->type_name("FILE");
    app.add_option("--nodes-out", options.nodes_out, "where to write a row a node as CSV")->type_name("FILE");
    app.add_option("--fairness-out", options.fairness_out, "where to write the figures of fairness as CSV")
        ->type_name("FILE");
    app.add_option("--trace", options.trace, "a pod list to play in place of the bundled one")->type_name("FILE");
    app.add_option("--data", options.data_folder, "folder of the bundled tables")->type_name("FOLDER");
    auto* const report_option =
        app.add_option("--report", options.report, "where to write the report; \"\" for nowhere")
            ->type_name("FILE")
            ->capture_default_str();
    app.add_option("--json", options.json, "where to write the results as JSON")->type_name("FILE");
    auto* const compared =
        app.add_option("--compare", options.compare,
                       "presets to attack, separated by commas; with parameters: hardened:rules.draw_among=3")
            ->excludes(app.get_option("--set"));
    auto* const checked = app.add_option("--check", options.check, "bounds of attacks; ends with 1 when one is broken")
                              ->type_name("FILE")
                              ->excludes(compared);
    app.add_option("--log", options.log, "where to write the commands as a log, which replay plays and explains")
        ->type_name("FILE")
        ->excludes(compared)
        ->excludes(checked);
    app.add_option("--attacks-page", options.attacks_page,
                   "a page of Markdown, whose sentences on attacks are printed anew; with --compare its figures, too")
        ->type_name("FILE")
        ->excludes(checked);
    app.add_option("--attack", options.attack, "all, none, or adversaries or rows, separated by commas")
        ->needs(compared)
        ->capture_default_str();
    app.add_option("--seeds", options.seeds, "pairs of runs for each attack")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--seeds-max", options.seeds_max, "pairs of runs after which an undecided bound has failed")
        ->check(CLI::Range(2, 10'000))
        ->needs(checked)
        ->capture_default_str();
    app.add_option("--sigmas", options.sigmas, "standard errors by which a bound is judged")
        ->check(CLI::Range(0.0, 10.0))
        ->needs(checked)
        ->capture_default_str();
    app.add_flag("--renew", options.renew,
                 "write the file of bounds anew: the figures of today, and --sigmas standard errors")
        ->needs(checked);
    auto* const searched = app.add_flag("--best-response", options.best_response,
                                        "search the knobs of each attack on seeds of their own before it is judged");
    app.add_option("--search-seeds", options.search_seeds, "pairs of runs for each question of the search")
        ->check(CLI::Range(std::uint32_t{1}, static_cast<std::uint32_t>(search_seeds)))
        ->needs(searched)
        ->capture_default_str();
    app.add_option("--runs", options.runs, "folder of played runs, so that a stopped comparison goes on")
        ->type_name("FOLDER");
    auto* const in_world =
        app.add_option("--world", options.world,
                       "a smaller network by name, \"small\" for --compare; --scale and --hours change its size")
            ->check(CLI::IsMember(world_names()))
            ->excludes(nodes)
            ->excludes(checked);
    app.add_option("--worlds", options.worlds, "several worlds to compare in, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(world_names()))
        ->needs(compared)
        ->excludes(in_world);
    app.add_option("--loads", options.loads, "several loads to compare at, separated by commas")
        ->delimiter(',')
        ->check(CLI::Range(1, 1'000))
        ->needs(compared)
        ->excludes(load);
    app.add_flag("--expected-wait", options.expected_wait,
                 "ask how long each hundredth queued task will wait, and tell how far off the answers were");
    app.add_flag("--short", is_short, "a twentieth of the network: --scale 0.05");
    auto* const show = app.add_flag("--progress", options.show_progress, "a progress bar even without a terminal");
    app.add_flag("--no-progress", options.hide_progress, "no progress at all")->excludes(show);
    // What would be ignored is refused.
    const auto exclude = [&](CLI::Option* option, std::initializer_list<const char*> names) {
        for (const auto* const name : names) { option->excludes(app.get_option(name)); }
    };
    exclude(nodes, {"--scale", "--hours", "--load", "--loads", "--worlds", "--short"});
    exclude(compared,
            {"--preset", "--seed", "--short", "--tasks-out", "--nodes-out", "--fairness-out", "--expected-wait"});
    exclude(checked, {"--preset", "--set", "--seed", "--short", "--tasks-out", "--nodes-out", "--fairness-out",
                      "--expected-wait", "--nodes", "--scale", "--hours", "--load", "--report", "--json"});
    try {
        app.parse(argc, argv);
        for (const auto* const name : {"--seeds", "--runs", "--best-response"}) {
            if (options.compare.empty() && options.check.empty() && app.count(name) > 0) {
                throw CLI::RequiresError{name, "--compare or --check"};
            }
        }
    } catch (const CLI::ParseError& error) {
        parsed.exit_status = app.exit(error);
        return parsed;
    }
    if (scale_option->count() > 0) { options.own_scale_milli = parse_scale(scale); }
    if (hours_option->count() > 0) { options.own_hours = options.hours; }
    const auto compares = !options.compare.empty() || !options.check.empty();
    if (!options.compare.empty() && options.worlds.empty() && options.world.empty()) { options.world = "small"; }
    if (!options.world.empty()) { enter_world(options, options.world); }
    if (compares && report_option->count() == 0) { options.report.clear(); }  // that page is written on demand
    if (compares || !options.world.empty()) { return parsed; }
    options.scale_milli = is_short && scale_option->count() == 0 ? 50 : parse_scale(scale);
    if (hours_option->count() == 0 && options.scale_milli > 1'000) {  // a larger network, and about as many tasks
        options.hours = std::max(1U, options.hours * 1'000 / options.scale_milli);
    }
    return parsed;
}

}  // namespace simulate

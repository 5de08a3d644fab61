// Plays a real GPU cluster trace against a dispatcher, prints a summary and writes a report.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "attacks_page.hpp"
#include "compare.hpp"
#include "csv.hpp"
#include "network.hpp"
#include "options.hpp"
#include "page.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "scenario.hpp"
#include "summary.hpp"
#include "tables.hpp"
#include "trace.hpp"
#include "world.hpp"

namespace {

auto tell_parameters(const simulate::Options& options) -> int {
    const auto network = simulate::open_network(simulate::find_preset(options.preset), {1U}, options.settings);
    for (const auto& one : network->parameters()) { fmt::print("{}.{}={}\n", one.role, one.name, one.value); }
    return EXIT_SUCCESS;
}

auto scenario_of(const simulate::Trace& trace, const simulate::Options& options) -> simulate::Scenario {
    if (options.nodes.empty()) { return simulate::make_scenario(trace, options); }
    auto told = std::vector<std::string>{};
    auto scenario = simulate::load_scenario(options.nodes, options.tasks, trace, told);
    for (const auto& rule : told) { fmt::print("Derived         {}\n", rule); }
    return scenario;
}

auto run(const simulate::Options& options) -> int {
    if (options.tell_parameters) { return tell_parameters(options); }
    if (!options.attacks_page.empty() && options.compare.empty()) {
        simulate::write_file(options.attacks_page,
                             simulate::attacks_page(simulate::read_file(options.attacks_page), nullptr));
        return EXIT_SUCCESS;
    }
    const auto trace = simulate::load_trace(options.data_folder, options.trace);
    if (!options.compare.empty() || !options.check.empty()) { return simulate::compare(trace, options); }
    auto scenario = scenario_of(trace, options);
    if (scenario.nodes.empty() || scenario.tasks.empty()) {
        throw std::runtime_error{"nothing to simulate: at this scale no node or no task is left"};
    }
    for (const auto& note : simulate::find_preset(options.preset).notes) { fmt::print("World           {}\n", note); }
    const auto style = simulate::Progress::choose(options.show_progress, options.hide_progress);
    const auto played = simulate::simulate(trace, std::move(scenario), options, style);
    const auto& results = played.results;
    fmt::print("{}", simulate::to_text(results));
    if (!options.json.empty()) { simulate::write_file(options.json, simulate::to_json(played, options)); }
    if (!options.tasks_out.empty()) { simulate::write_file(options.tasks_out, simulate::tasks_csv(played)); }
    if (!options.nodes_out.empty()) { simulate::write_file(options.nodes_out, simulate::nodes_csv(played)); }
    if (!options.fairness_out.empty()) {
        simulate::write_file(options.fairness_out, simulate::fairness_csv(results.fairness));
    }
    if (!options.report.empty()) {
        simulate::write_file(options.report, simulate::to_html(played, options));
        fmt::print("\nReport          {}\n", std::filesystem::absolute(options.report).string());
    }
    if (results.refused > 0) {
        throw std::runtime_error{fmt::format("the dispatcher refused {} commands", results.refused)};
    }
    return EXIT_SUCCESS;
}

}  // namespace

auto main(int argc, char** argv) -> int {
    try {
        const auto parsed = simulate::parse_options(argc, argv);
        return parsed.exit_status >= 0 ? parsed.exit_status : run(parsed.options);
    } catch (const simulate::InputError& error) {
        fmt::print(stderr, "{}\n", error.what());
    } catch (const std::exception& error) { fmt::print(stderr, "simulate: {}\n", error.what()); }
    return EXIT_FAILURE;
}

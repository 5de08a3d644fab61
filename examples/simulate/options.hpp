#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulate {

/// Where a network and its tasks come from.
enum class Source : std::uint8_t {
    trace,
    drawn,     ///< Both from the distributions of `world_drawn.csv`.
    requests,  ///< The nodes from there, the tasks from `azure_llm_code_2023.csv`.
};

/// Options of the command line.
struct Options {
    std::uint32_t scale_milli = 1000;  ///< Nodes and tasks, in thousandths of the trace's network.
    std::uint64_t seed = 2026;
    std::uint32_t hours = 96;         ///< Length of the arrivals, in hours of the simulated network.
    std::uint32_t load_percent = 75;  ///< Work offered, in percent of the work that all nodes can do.
    std::string preset = "crynux_single";
    std::vector<std::string> settings{};  ///< Parameters, such as "qos.window=30".
    std::uint32_t verdicts = 0;           ///< Good verdicts that nodes bring along when they join.
    std::string data_folder{};
    std::string trace{};                 ///< Another pod list; empty: the bundled one.
    std::string json{};                  ///< Path for the results as JSON; empty: none.
    std::string report = "report.html";  ///< Path for the report; empty: none.
    std::string nodes{};                 ///< One's own network, with `tasks`; empty: the trace's.
    std::string tasks{};
    std::string tasks_out{};  ///< Path for a row a task as CSV; empty: none.
    std::string nodes_out{};
    std::string fairness_out{};
    std::string log{};             ///< Path for the commands, as `replay` reads them; empty: none.
    bool tell_parameters = false;  ///< Print the parameters of the preset, and play nothing.
    std::string world{};           ///< Name of a world; empty: the trace in full.
    Source source = Source::trace;
    std::uint32_t own_scale_milli = 0;  ///< In place of a world's; 0: the world's.
    std::uint32_t own_hours = 0;
    bool even_stakes = false;  ///< All nodes have one stake.

    // The laboratory of adversaries.
    std::string compare{};  ///< Contenders, separated by commas; empty: no comparison.
    std::string attack = "all";
    std::vector<std::string> worlds{};   ///< Several worlds in place of one; empty: `world`.
    std::vector<std::uint32_t> loads{};  ///< Several loads in place of one; empty: `load_percent`.
    std::string attacks_page{};          ///< A page of Markdown to be brought up to date; empty: none.
    std::string check{};                 ///< A file of bounds to be checked; empty: none.
    std::string runs{};                  ///< Folder of played runs; empty: they are not kept.
    std::uint32_t seeds = 4;
    std::uint32_t seeds_max = 200;  ///< Where a bound is still undecided then, it has failed.
    double sigmas = 2;              ///< Standard errors by which a bound is judged.
    bool renew = false;             ///< Write the bounds anew: the figures of today and `sigmas` standard errors.
    bool best_response = false;     ///< Search the knobs of each attack first.
    std::uint32_t search_seeds = 20;

    bool expected_wait = false;  ///< Compare expected waits with actual ones.
    bool show_progress = false;  ///< A bar even where standard error is no terminal.
    bool hide_progress = false;
};

/// Options of the command line, or the exit status with which to end at once.
struct ParsedOptions {
    Options options{};
    int exit_status = -1;  ///< Negative: go on.
};

/// The command line with which a run or a comparison is repeated, without the places of what it writes. Files are named
/// without their folders.
[[nodiscard]] auto command_of(const Options& options) -> std::string;

/// Networks by name.
[[nodiscard]] auto world_names() -> std::vector<std::string>;
/// Sets what a world decides: source, scale, hours, history and stakes. One's own network has its history alone. Throws
/// `std::invalid_argument` for an unknown one.
void enter_world(Options& options, const std::string& world);

/// Where the tables of a world come from, in sentences for a reader; empty for a network of one's own.
[[nodiscard]] auto sources_of(const Options& options) -> std::string;

[[nodiscard]] auto parse_options(int argc, char** argv) -> ParsedOptions;

}  // namespace simulate

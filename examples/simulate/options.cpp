#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

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

}  // namespace

auto parse_options(int argc, char** argv) -> ParsedOptions {
    auto parsed = ParsedOptions{};
    auto& options = parsed.options;
    options.data_folder = ALLOT_EXAMPLES_DATA;
    auto scale = std::string{"1"};
    auto is_short = false;

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
    app.add_option("--load", options.load_percent, "work offered, in percent of what all nodes can do")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    app.add_option("--preset", options.preset, "policies of the dispatcher")
        ->check(CLI::IsMember(preset_names()))
        ->capture_default_str();
    app.add_option("--trace", options.trace, "a pod list to play in place of the bundled one")->type_name("FILE");
    app.add_option("--data", options.data_folder, "folder of the bundled tables")->type_name("FOLDER");
    app.add_option("--report", options.report, "where to write the report; \"\" for nowhere")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--json", options.json, "where to write the results as JSON")->type_name("FILE");
    app.add_flag("--expected-wait", options.expected_wait,
                 "ask how long each hundredth queued task will wait, and tell how far off the answers were");
    app.add_flag("--short", is_short, "a twentieth of the network: --scale 0.05");
    auto* const show = app.add_flag("--progress", options.show_progress, "a progress bar even without a terminal");
    app.add_flag("--no-progress", options.hide_progress, "no progress at all")->excludes(show);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        parsed.exit_status = app.exit(error);
        return parsed;
    }
    options.scale_milli = is_short && scale_option->count() == 0 ? 50 : parse_scale(scale);
    if (hours_option->count() == 0 && options.scale_milli > 1'000) {  // a larger network, and about as many tasks
        options.hours = std::max(1U, options.hours * 1'000 / options.scale_milli);
    }
    return parsed;
}

}  // namespace simulate

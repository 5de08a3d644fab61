// Plays a log of commands and writes the events, compares two logs, or converts one to its other form. See README.md.

#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <allot/core/printable.hpp>

#include "options.hpp"
#include "output.hpp"
#include "presets.hpp"

namespace {

auto names() -> std::vector<std::string> {
    auto all = std::vector<std::string>{};
    for (const auto& composition : replay::compositions()) { all.emplace_back(composition.name); }
    return all;
}

auto run(const replay::Options& options) -> int {
    const auto& all = replay::compositions();
    const auto chosen =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == options.policies; });
    auto output = replay::Output{};
    return chosen->run(options, output);
}

auto format_of(const std::string& name) -> std::optional<replay::Format> {
    return name.empty() ? std::nullopt : std::optional{name == "json" ? replay::Format::json : replay::Format::binary};
}

}  // namespace

auto main(int argc, char** argv) -> int {
    std::ios::sync_with_stdio(false);
    auto options = replay::Options{};
    auto app = CLI::App{"Plays a log of commands and writes what happened as JSON Lines."};
    auto from = std::string{};
    auto to = std::string{};
    const auto forms = CLI::IsMember{{"json", "binary"}};
    const auto not_negative = [](const std::string& text) {  // else it would be read as a number near 2^64
        return text.starts_with('-') ? std::string{"expected a whole number from 0"} : std::string{};
    };
    app.add_option("log", options.log, "binary or JSON Lines; - for the standard input")->capture_default_str();
    app.add_option("--from", from, "the form of the log, where its first byte does not tell")->check(forms);
    auto* const convert = app.add_option("--to", to, "write the commands in this form, and play nothing")->check(forms);
    auto* const other = app.add_option("--compare", options.compare_with, "name the first difference from this log")
                            ->excludes(convert)
                            ->type_name("LOG");
    app.add_option("--until", options.until, "stop before the command of this position; the first one's is 0")
        ->check(not_negative)
        ->type_name("POSITION");
    auto* const explain =
        app.add_option("--explain", options.explain, "end with why task:ID waits, or what node:ID gets, at that point")
            ->type_name("SUBJECT")
            ->excludes(convert)
            ->excludes(other);
    app.add_flag("--text", options.text, "explain in sentences, not as JSON")->needs(explain);
    auto* const reply = app.add_flag("--reply", options.reply, "one line for each command, with all its events")
                            ->excludes(convert)
                            ->excludes(other);
    auto* const receipts = app.add_flag("--receipts", options.receipts, "the receipts of all choices, and no events")
                               ->excludes(convert)
                               ->excludes(other)
                               ->excludes(explain)
                               ->excludes(reply);
    auto* const verify = app.add_option("--verify", options.verify, "make the choices of these receipts again")
                             ->excludes(convert)
                             ->excludes(other)
                             ->excludes(explain)
                             ->excludes(reply)
                             ->excludes(receipts)
                             ->type_name("RECEIPTS");
    app.add_flag("--quiet", options.quiet, "the last line alone: the hashes, or what is explained")
        ->excludes(convert)
        ->excludes(other)
        ->excludes(reply)
        ->excludes(receipts)
        ->excludes(verify);
    app.add_option("--policies", options.policies, "whose rules hold")
        ->check(CLI::IsMember(names()))
        ->capture_default_str();
    app.add_option("--stake-cap", options.stake_cap, "stake of a large honest node, for --policies hardened")
        ->type_name("AMOUNT");
    app.footer("Ends with 0 when all is well, 1 when two logs differ or a receipt is false, 2 when something is wrong "
               "with the input.");
    try {
        app.parse(argc, argv);
        options.from = format_of(from);
        options.to = format_of(to);
        if (options.compare_with == options.log && options.log == "-") {
            throw CLI::ValidationError{"--compare", "both logs cannot be the standard input"};
        }
        return run(options);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? replay::all_well : replay::input_bad;
    } catch (const std::exception& error) {
        std::cout.flush();
        std::cerr << "replay: " << allot::printable(error.what()) << '\n';
        return replay::input_bad;
    }
}

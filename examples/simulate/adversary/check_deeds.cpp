// Plays each row of each adversary, once, and fails if an attack did not do what its name says, or
// if its honest twin did. A table shows the deeds: check_deeds [PRESET...]

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../attacker.hpp"
#include "../compare.hpp"
#include "../options.hpp"
#include "../world.hpp"

namespace {

using Notes = std::map<std::string, std::uint64_t, std::less<>>;

/// One attack, and a deed without which it has not taken place.
struct Deed {
    const char* row;
    const char* deed;
    std::uint32_t load_percent = 80;
    const char* preset = nullptr;  ///< The one to play, where the others prevent the deed.
};

constexpr auto single = "crynux_single";

const auto deeds = std::vector<Deed>{
    {"0", "stayed away"},
    {"0a", "stayed away"},
    {"1d", "operator in name only", 30},
    {"1d4", "operator in name only", 30},
    {"1d100", "operator in name only", 30},
    {"1e", "operator in name only"},
    {"1e4", "operator in name only"},
    {"1e100", "operator in name only"},
    {"1f", "operator in name only", 120},
    {"1f4", "operator in name only", 120},
    {"1f100", "operator in name only", 120},
    {"1g", "operator in name only"},
    {"1h", "lease on a busy card"},
    {"1h4", "lease on a busy card"},
    {"1h8", "lease on a busy card"},
    {"1i", "operator in name only", 30},
    {"1i1", "all on one node", 30},
    {"2a", "task for a model that is not there"},
    {"2a1", "task for a model that is not there"},
    {"2a2", "task for a model that is not there"},
    {"2a3", "task for a model that is not there"},
    {"2b", "task for a model that is not there"},
    {"2b3", "task for a model that is not there"},
    {"2c", "own task on an own node", 80, single},
    {"2c1", "own task elsewhere"},
    {"2c2", "own task elsewhere"},
    {"2c3", "declined"},
    {"2d", "fetch of a model", 30},
    {"3a", "refused", 120},
    {"3b", "cancelled", 120},
    {"3b1", "cancelled", 120},
    {"3d", "cancelled", 120},
    {"3c", "accepted", 120},
    {"3c1", "accepted", 120},
    {"4", "whale"},
    {"5a", "failed at once"},
    {"5b", "came back"},
    {"5c", "failed at once"},
    {"5d", "failed at once"},
    {"6", "declined at last"},
    {"7", "stalled"},
    {"7b", "came back"},
    {"7c", "came back"},
    {"8", "slashed"},
    {"8b", "slashed"},
    {"8c", "garbage"},
    {"9", "garbage accepted"},
    {"9a", "group with a colluder"},
    {"9b", "garbage accepted"},
    {"9c", "garbage accepted"},
    {"9d", "garbage accepted"},
    {"10", "group refused"},
    {"10b", "honest node framed", 80, single},
    {"11", "card told"},
    {"12", "id found", 80, single},
    {"12a", "id found", 80, single},
    {"12b", "id found", 80, single},
    {"12c", "id found", 80, single},
    {"13", "another order", 80, single},
    {"13a", "another order", 80, single},
    {"13b", "task held back", 80, single},
    {"13c", "another order", 80, single},
    {"14", "false time"},
    {"14b", "false time"},
    {"14c", "false time"},
    {"14d", "false time"},
    {"14e", "false time"},
    {"15", "endless attempt"},
    {"15b", "withdrawn"},
    {"15c", "withdrawn"},
    {"15d", "withdrawn"},
    {"16", "endless attempt"},
    {"16b", "endless attempt"},
    {"16c", "endless attempt"},
    {"17", "declined"},
    {"18", "resumed for a task", 120},
    {"18b", "got a task", 120},
    {"19", "stake moved"},
    {"20", "committed"},
    {"20b", "withheld"},
    {"20c", "result copied"},
};

/// A row without a deed would be checked by nobody.
auto all_have_deeds() -> bool {
    auto good = true;
    for (const auto& recipe : simulate::recipes()) {
        for (const auto& row : recipe.cases) {
            if (std::any_of(deeds.begin(), deeds.end(), [&](const Deed& one) { return one.row == row.row; })) {
                continue;
            }
            fmt::print("FAILED {} {} has no deed\n", row.row, recipe.name);
            good = false;
        }
    }
    return good;
}

auto play(const simulate::Trace& trace, const simulate::Options& options, const simulate::Chosen& chosen, bool attacks)
    -> Notes {
    auto knobs = simulate::Knobs{chosen.recipe->knobs};
    for (const auto& [name, value] : chosen.row->knobs) { knobs.set(name, value); }
    auto scenario = simulate::make_scenario(trace, options);
    const auto scene = simulate::make_scene(scenario, options);
    auto adversary = attacks ? chosen.recipe->make(knobs) : chosen.recipe->make_twin(knobs);
    auto attacker = simulate::Attacker{std::move(adversary), chosen.recipe->means(scene, knobs), scene};
    (void)simulate::simulate(trace, std::move(scenario), options, simulate::Progress::Style::none, &attacker);
    return attacker.notes();
}

auto check(const simulate::Trace& trace, simulate::Options options, const Deed& one) -> bool {
    options.load_percent = one.load_percent;
    const auto chosen = simulate::choose_attacks(one.row).front();
    const auto done = play(trace, options, chosen, true);
    const auto by_twin = play(trace, options, chosen, false);
    const auto good = done.contains(one.deed) && !by_twin.contains(one.deed);
    fmt::print("{:<7}{:<5}{:<15}{:<16}", good ? "" : "FAILED", one.row, chosen.recipe->name, options.preset);
    for (const auto& [what, times] : done) { fmt::print("{} {}; ", times, what); }
    fmt::print("\n");
    return good;
}

}  // namespace

auto main(int argc, char** argv) -> int {
    try {
        auto options = simulate::Options{};
        options.data_folder = ALLOT_EXAMPLES_DATA;
        simulate::enter_world(options, "small");
        const auto trace = simulate::load_trace(options.data_folder, {});
        auto presets = std::vector<std::string>{argv + 1, argv + argc};
        if (presets.empty()) { presets = {"hardened", "crynux_single"}; }
        auto good = all_have_deeds();
        for (const auto& one : deeds) {
            for (const auto& preset : one.preset != nullptr ? std::vector<std::string>{one.preset} : presets) {
                options.preset = preset;
                good = check(trace, options, one) && good;
            }
        }
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) { fmt::print(stderr, "check_deeds: {}\n", error.what()); }
    return EXIT_FAILURE;
}

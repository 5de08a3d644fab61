// Checks who belongs to a minority, with a scenario that is read at a glance; ends with 1 and a line for each fault.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "expect.hpp"
#include "measures.hpp"
#include "minorities.hpp"

namespace {

using simulate::expect;

/// Twenty nodes, of which two have the rare card of 80 GiB, and twenty tasks for any card.
auto scenario() -> simulate::Scenario {
    auto made = simulate::Scenario{};
    made.cards = {{"common", 24'576, 24}, {"rare", 81'920, 80}};
    made.row_cards = {{}, {1}, {0, 1}};
    made.software = {"wanted", "one", "another"};
    for (auto i = std::uint32_t{0}; i < 20; ++i) {
        made.nodes.push_back({.model = i < 2 ? 1U : 0U, .stake_milli = 1'000 - i});
        made.tasks.push_back({.vram_min = 8, .software = 0});
    }
    return made;
}
using Few = std::vector<std::size_t>;
auto those(const std::vector<bool>& minority) -> Few {
    auto places = Few{};
    for (std::size_t i = 0; i < minority.size(); ++i) {
        if (minority[i]) { places.push_back(i); }
    }
    return places;
}

void check_cards() {
    auto by_memory = scenario();
    by_memory.tasks[5].vram_min = 40;  // only the rare card has so much
    by_memory.tasks[7].row = 1;        // the same by its name
    by_memory.tasks[9].row = 2;        // either card by its name, so its memory does not count
    by_memory.tasks[9].vram_min = 40;
    expect(those(simulate::minorities_of(by_memory, 20, 20).rare_card) == Few{5, 7}, "tasks for two nodes are rare");
    const auto even = simulate::minorities_of(scenario(), 20, 20);
    expect(those(even.rare_card) == Few{0, 1}, "among equals the first two of twenty");
    expect(simulate::minorities_of(by_memory, 20, 9).rare_card.size() == 9, "the first nine tasks alone");
    expect(those(simulate::minorities_of(by_memory, 20, 9).rare_card).empty(), "nine have no tenth");
}

void check_models_and_stakes() {
    auto made = scenario();
    made.tasks[3].software = 1;
    made.tasks[4].software = 2;
    const auto all = simulate::minorities_of(made, 20, 20);
    expect(those(all.rare_model) == Few{3, 4}, "tasks whose model one task wants");
    expect(those(all.small_stake) == Few{18, 19}, "the two smallest stakes");
    expect(those(simulate::minorities_of(made, 10, 0).small_stake) == Few{9}, "one of the first ten nodes");
}

/// The same for tasks that are no rows of the trace.
void check_wants() {
    auto own = scenario();
    own.row_cards.clear();
    own.software.clear();
    own.wants = {{}, {{"rare"}, {}}, {{"common", "rare"}, {"one"}}, {{}, {"wanted"}}};
    for (auto& task : own.tasks) { task.want = 4; }
    own.tasks[2].want = 1;
    own.tasks[4].want = 1;
    own.tasks[5].want = 2;
    own.tasks[6].want = 3;
    own.tasks[7].vram_min = 40;
    const auto few = simulate::minorities_of(own, 20, 20);
    expect(those(few.rare_card) == Few{5, 7}, "own tasks for two nodes are rare");
    expect(those(few.rare_model) == Few{2, 6}, "own tasks whose model one task wants, then those without a model");
}

/// A rule that doubles the time of the rare tasks, does one of them not, and takes half from small stakes.
void check_cost() {
    auto network = simulate::HonestNetwork{std::vector<std::int64_t>(20, 5), {}};
    network.minorities.rare_card = std::vector<bool>(20);
    network.minorities.rare_model = std::vector<bool>(20);
    network.minorities.rare_card[0] = network.minorities.rare_card[1] = network.minorities.rare_model[2] = true;
    auto base = simulate::Outcome{};
    base.sojourn_ms.assign(20, 100);
    base.small_stakes_earned = 40;
    auto rule = base;
    rule.sojourn_ms[0] = 200;
    rule.sojourn_ms[1] = -1;
    rule.small_stakes_earned = 20;
    const auto cost = simulate::honest_cost({{rule, base}}, {network});
    const auto is = [&](const char* name, double value) { expect(cost.at(name).value == value, name); };
    is("sojourn_rare_cards", 2);
    is("fees_rare_cards", 0.5);
    is("sojourn_rare_models", 1);
    is("fees_rare_models", 1);
    is("small_stakes", 0.5);
    is("sojourn", 2'000.0 / 1'900.0);
    is("fees", 0.95);
}

}  // namespace

auto main() -> int {
    check_cards();
    check_models_and_stakes();
    check_wants();
    check_cost();
    return simulate::faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

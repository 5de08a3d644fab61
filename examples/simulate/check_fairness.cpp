// Checks the figures of fairness against values computed by hand.

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "fairness.hpp"

namespace {

auto failures = 0;

void expect(const std::string& what, double found, double wanted) {
    if (std::fabs(found - wanted) < 1e-9) { return; }
    fmt::print("{}: {}, but it is {}\n", what, found, wanted);
    ++failures;
}

/// A tenth's quantile; -1 is never.
void expect(const std::string& what, std::optional<double> found, double wanted) {
    expect(what, found.value_or(-1.0), wanted);
}

void check_spread() {
    using simulate::spread_of;
    const auto one_of_four = spread_of({{1, 0}, {1, 4}, {1, 0}, {1, 0}});
    expect("one of four earns all: Gini", one_of_four.gini, 0.75);
    expect("one of four earns all: Jain", one_of_four.jain, 0.25);
    expect("one of four earns all: points", static_cast<double>(one_of_four.lorenz.size()), 5);
    expect("one of four earns all: three quarters earn", one_of_four.lorenz.at(3).earned_share, 0);
    expect("one of four earns all: they are", one_of_four.lorenz.at(3).means_share, 0.75);

    const auto in_proportion = spread_of({{1, 2}, {3, 6}});
    expect("in proportion: Gini", in_proportion.gini, 0);
    expect("in proportion: Jain", in_proportion.jain, 1);

    // The one with 3 of 4 of the means earns 1 of 4: 1 - (0.75 * 0.25 + 0.25 * 1.25); 4^2 / (4 * (9 + 1 / 3)).
    const auto reversed = spread_of({{1, 3}, {3, 1}});
    expect("reversed: Gini", reversed.gini, 0.5);
    expect("reversed: Jain", reversed.jain, 3.0 / 7.0);

    const auto without_means = spread_of({{0, 1}, {1, 1}, {0, 0}});
    expect("earned for nothing: Gini", without_means.gini, 0.5);
    expect("earned for nothing: Jain", without_means.jain, 0);

    expect("nothing earned: points", static_cast<double>(spread_of({{1, 0}, {2, 0}}).lorenz.size()), 0);

    auto many = std::vector<simulate::Earner>(1'000, {1, 1});
    expect("a thousand nodes: points", static_cast<double>(spread_of(many).lorenz.size()), 101);
    expect("a thousand nodes: the last", spread_of(many).lorenz.back().means_share, 1);
}

void check_services() {
    using Fate = simulate::Service::Fate;
    auto fairness = simulate::Fairness{};
    simulate::summarise(fairness, {{Fate::done, true, 0, 5, 3'000, 2'000},
                                   {Fate::evicted, false, 0, 4, 9'000, 9'000},
                                   {Fate::done, true, 0, 6, 1'000, 0},
                                   {Fate::refused, false, 0, 1, 0, 0},
                                   {Fate::lost, true, 9, 50, 7'000, 4'000}});
    const auto& cheapest = fairness.tenths.at(0);
    expect("submitted", static_cast<double>(cheapest.submitted), 4);
    expect("done", static_cast<double>(cheapest.done), 2);
    expect("refused", static_cast<double>(cheapest.refused), 1);
    expect("evicted", static_cast<double>(cheapest.evicted), 1);
    expect("never started", static_cast<double>(cheapest.never_started), 2);
    expect("greatest value", cheapest.value_max, 6);
    expect("median of 1 s, 3 s, never, never", cheapest.sojourn_p50_s, 3);
    expect("the ninth tenth of them", cheapest.sojourn_p90_s, -1);
    expect("lost", static_cast<double>(fairness.tenths.at(9).lost), 1);
    expect("started, but lost", static_cast<double>(fairness.tenths.at(9).never_started), 0);
    expect("median of a lost one", fairness.tenths.at(9).sojourn_p50_s, -1);
    expect("median of none", fairness.tenths.at(5).sojourn_p50_s, -1);
    expect("longest wait", fairness.wait_max_s, 4);
    expect("longest wait in vain", fairness.wait_in_vain_max_s, 9);
}

}  // namespace

auto main() -> int {
    check_spread();
    check_services();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

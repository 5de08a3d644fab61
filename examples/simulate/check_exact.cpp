// Checks the enumerated shares: against results by hand, and against draws that a dispatcher of each preset makes. Ends
// with 1 and a line for each fault.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "compare.hpp"
#include "exact.hpp"
#include "expect.hpp"
#include "network.hpp"

namespace {

using simulate::expect;
using simulate::Rational;

void check_by_hand() {
    using simulate::drawn_share;
    expect(drawn_share({{3, true}, {1, false}}, 1) == Rational{3, 4}, "one draw is by weight");
    expect(drawn_share({{3, true}, {1, false}}, 2) == Rational{1, 2}, "two of two share");
    expect(drawn_share({{3, true}, {1, false}}, 3) == Rational{1, 2}, "fewer than wanted share");
    // It is drawn first with 1/2, or second with 1/2 * 2/3, and then gets a half.
    expect(drawn_share({{2, true}, {1, false}, {1, false}}, 2) == Rational{5, 12}, "without replacement");
    expect(drawn_share({}, 3) == 0, "no node, no share");
}

/// Frequencies of as many draws under different entropies, beside the share.
void check_draws(const std::string& preset, const simulate::ExactCase& one) {
    const auto contender = simulate::contender_of(preset);
    const auto share = enumerate(contender, one).at("draw_share").value;
    const auto found = simulate::sampled_share(contender, one, 4'000);
    const auto error = std::sqrt(std::max(share * (1 - share), 1e-6) / 4'000);
    expect(std::abs(found - share) < 4.5 * error,
           fmt::format("{} {}: {:.4f} of the draws were drawn, {:.4f} are enumerated", preset, one.row, found, share));
}

}  // namespace

auto main() -> int {
    try {
        check_by_hand();
        for (const auto& one : simulate::exact_cases()) {
            for (const auto& preset : simulate::preset_names()) { check_draws(preset, one); }
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "check_exact: {}\n", error.what());
        return EXIT_FAILURE;
    }
    return simulate::faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

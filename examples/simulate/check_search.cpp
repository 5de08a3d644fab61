// Checks the search for a best response with functions whose greatest value is known; ends with 1 and a line for each
// fault.

#include <cmath>
#include <cstdlib>
#include <limits>

#include "best_response.hpp"
#include "expect.hpp"

namespace {

using simulate::expect;
using simulate::Knobs;

auto recipe() -> simulate::Recipe {
    auto made = simulate::Recipe{};
    made.knobs = {{"part", 0.5, 0, 2, "even"},
                  {"price", 100, 0.01, 10'000, "in logarithms"},
                  {"delay", 1'000, 0, 1e6, "in logarithms, and zero"},
                  {"lies", 0, 0, 1, "yes or no"},
                  {"cards", 10, 1, 200, "means", true}};
    made.cases = {{"x", "", {}}, {"y", "", {{"price", 7}}}};
    return made;
}

/// The greatest value is 3, at a part of 1.3, a price of 3, no delay, and lies. It does not depend on cards. Part and
/// price depend on each other.
auto hill(const Knobs& knobs) -> double {
    const auto part = knobs["part"] - 1.3;
    const auto price = std::log10(knobs["price"] / 3);
    return 2 - part * part - price * price - 0.3 * part * price - std::log1p(knobs["delay"]) / 10 +
           (knobs.is("lies") ? 1 : 0);
}

void check_hill() {
    const auto made = recipe();
    auto questions = 0;
    auto forbidden = 0;
    auto search = simulate::Search{};
    search.aim = [&](const Knobs& knobs) {
        ++questions;
        forbidden += knobs["cards"] == 10 ? 0 : 1;
        return hill(knobs);
    };
    const auto found = best_response(made, made.cases[0], search);
    expect(std::abs(found.knobs["part"] - 1.3) < 0.13, "the top along an even range is found");
    expect(std::abs(std::log10(found.knobs["price"] / 3)) < 0.4, "the top along a range of logarithms is found");
    expect(found.knobs["delay"] == 0 && found.knobs.is("lies"), "zero and yes are found");
    expect(found.aim > 2.9 && found.aim == hill(found.knobs), "what is told is what was found");
    expect(forbidden == 0 && found.knobs["cards"] == 10, "a knob that is fixed stays");
    expect(found.asked == static_cast<std::uint32_t>(questions) && questions <= 5 * 5 * 7,
           "each question is asked once");
    expect(found.changed.find("lies=1 (0)") != std::string::npos && found.changed.find("cards") == std::string::npos,
           "what was changed is told, and no more");
    const auto again = best_response(made, made.cases[0], search);
    expect(again.changed == found.changed && again.asked == found.asked, "a second search is the same");
}

void check_stated() {
    const auto made = recipe();
    auto search = simulate::Search{};
    search.aim = &hill;
    const auto found = best_response(made, made.cases[1], search);
    expect(found.knobs["price"] == 7, "a knob that the case states stays");
    search.aim = [](const Knobs& knobs) {
        return knobs["part"] > 1 ? std::numeric_limits<double>::infinity() : knobs["part"];
    };
    expect(best_response(made, made.cases[0], search).knobs["part"] == 1, "a value that is not finite is of no use");
    search.aim = [](const Knobs&) { return 0.0; };
    const auto flat = best_response(made, made.cases[0], search);
    expect(flat.changed.empty() && flat.aim == 0, "where nothing helps the case stays as it is");
}

}  // namespace

auto main() -> int {
    check_hill();
    check_stated();
    return simulate::faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

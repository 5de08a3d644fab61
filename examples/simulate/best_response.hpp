#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "adversary/adversary.hpp"

namespace simulate {

/// Seeds 1 to 20 are for searching knobs; attacks are judged on those behind them.
inline constexpr auto search_seeds = std::uint64_t{20};

/// The knobs that a case states; all others have their defaults.
[[nodiscard]] auto knobs_of(const Recipe& recipe, const Case& chosen) -> Knobs;

/// What a search asks of the laboratory.
struct Search {
    /// The attacker's aim with these knobs, the larger the better. Not finite: of no use.
    std::function<double(const Knobs&)> aim{};
    /// Is told before each question. Optional.
    std::function<void(const Knobs&)> told{};
};

struct Response {
    Knobs knobs{};
    double aim = 0;
    std::uint32_t asked = 0;  ///< Different knobs that were played.
    std::string changed{};    ///< The knobs that differ from the case's, such as "least=2.1 (1.5)"; empty: none.
};

/// The knobs with which the attacker reaches most. It is found by steps along one knob at a time over a grid of five
/// values from its `min` to its `max`, until a round over all knobs gains nothing; then by three rounds of finer steps
/// around the best. Each question is asked once. A knob that the case states names the row and stays, and so does one
/// that is fixed. A knob from 0 to 1 whose default is one of these is yes or no, and has these values alone. The grid
/// is even in logarithms where the range covers more than a factor of 100, or begins at 0 and ends beyond 100; then it
/// has the 0, too.
/// @complexity at most (rounds + 3) * 5 questions a knob; there are four rounds at most.
[[nodiscard]] auto best_response(const Recipe& recipe, const Case& chosen, const Search& search) -> Response;

}  // namespace simulate

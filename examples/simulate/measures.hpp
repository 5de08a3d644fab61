#pragma once

// Measures of attacks. A pair of runs has the attack (A) and the honest twin (B) with the same seed, arrivals and
// means.
//
//     R            earned by the attacker's nodes - spent by its owners - forfeits - slashes; refunds never left it
//     gain         sum of R in A / sum of R in B
//     price_gain   the fee for a task at which the honest twin gets the same mean sojourn / the fee that left the
//                  attacker; of several such fees the one that is nearest to the twin's own
//     loss         fees of honest tasks done in B and not in A, less those done in A alone + added sojourn x fee a
//                  second, of those done in both + what honest nodes earned less and is not in the first sum; the first
//                  and the last sum, over all seeds, are not below zero
//     outlay       fees to others + forfeits + slashes + what the attacker's nodes earned less than the twin's
//     phi          griefing factor: loss / outlay
//     harm         loss / fees of honest tasks done in B
//     harm_share   harm / the attacker's share of the cards
//     told_gain    sum of R in A / sum of R of other honest means, such as the same stake on one card
//     card_revenue earned by a card of the attacker / earned by an honest card, in A
//     target       earned by a node of the card that is aimed at, in A / in B
//     own_node     share of the attacker's orders done that its own nodes did
//     added_own_node  that share in A less that in B
//     swallowed    share of all leases that the attacker's nodes got
//     swallowed_over_5a  that share in row 5b less that in row 5a: what leaving and coming back gains
//     framed: honest nodes blamed, excluded or kicked out for tasks of the attacker, counted one by one
//     failed, not_done, exclusions: honest tasks that failed, or did not end well, of all; exclusions of honest nodes;
//                  in A, and the difference to B as `added_...`
//
//     state_bytes  bytes of a snapshot when all that lapses has lapsed, in A / in B
//     slashed_honest  honest nodes' stake that was taken, in fees of honest tasks done in B
//     a deed that the adversary notes, such as `honest_node_framed`: how often in a run, in A
//
// Each is a ratio of sums over seeds, with the standard error of the jackknife, never a mean of ratios.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "minorities.hpp"
#include "outcome.hpp"

namespace simulate {

/// A number and its standard error.
struct Measure {
    double value = 0;
    double error = 0;  ///< Infinite with one seed.
};

/// All that one seed gives.
struct Pair {
    Outcome attack{};
    Outcome honest{};
    Outcome reference{};                 ///< Without means, if there are none to refer to.
    std::vector<Outcome> at_prices{};    ///< The twin at the prices of `price_steps`; empty unless price counts.
    std::vector<std::int64_t> fees{};    ///< By honest task.
    std::vector<std::int64_t> run_ms{};  ///< By honest task.
};

/// Multiples of the attacker's price at which the honest twin is tried.
inline constexpr double price_steps[] = {0.25, 0.5, 1, 2, 4, 8, 16, 32, 128, 512, 2'048};  // NOLINT: a table

/// The jackknife over `count` seeds: `of(skip)` is the measure without that seed, or of all for `skip == count`.
[[nodiscard]] auto jackknife(std::size_t count, const std::function<double(std::size_t)>& of) -> Measure;

/// Sum of the first over sum of the second; infinite over zero, and 0 if both are 0.
[[nodiscard]] auto ratio(const std::vector<std::pair<double, double>>& parts) -> Measure;

enum class Verdict : std::uint8_t { passed, failed, undecided };

/// Passed if even `sigmas` standard errors more are within the bound, failed if so many less are not.
[[nodiscard]] auto verdict(const Measure& measure, double most, double sigmas) -> Verdict;

/// All measures that apply, by name.
[[nodiscard]] auto measure(const std::vector<Pair>& pairs) -> std::map<std::string, Measure>;

/// The honest network of one seed.
struct HonestNetwork {
    std::vector<std::int64_t> fees{};  ///< By task.
    Minorities minorities{};
};

/// The price of a rule: the same arrivals without an attack, with the rule and without it (the base). `sojourn`: the
/// mean from submission to end over tasks that both finish, over that of the base; `fees`: fees of tasks done, over
/// those of the base; `fees_card_second`: the same for each second that a card was leased; `fees_done`: fees of tasks
/// done, over those of all tasks. Of minorities: `sojourn_rare_cards`, `fees_rare_cards`, `sojourn_rare_models` and
/// `fees_rare_models` are the same of their tasks alone, and `small_stakes` is what their nodes earn over the base.
[[nodiscard]] auto honest_cost(const std::vector<std::pair<Outcome, Outcome>>& rule_and_base,
                               const std::vector<HonestNetwork>& fields) -> std::map<std::string, Measure>;

}  // namespace simulate

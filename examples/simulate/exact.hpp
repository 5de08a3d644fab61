#pragma once

// Shares of draws that are enumerated and not simulated: a small network that a case states, in which all nodes are
// free, and no card is rare. The weights are those of the preset's own dispatcher, and all sums and products are exact
// rationals.
//
//     draw_share    the attacker's share of the draws
//     weight_share  its share of the weight when it is honest: with the same stake and cards, it declares one operator,
//                   claims what it has, and its owners name no model of their own
//     share_excess  draw_share - weight_share
//     draw_gain     draw_share / its share of the draws when it is honest
//
// These are measures without an error.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/u128.hpp>

#include "measures.hpp"

namespace simulate {

struct Contender;

/// Nodes of the attacker in one of the two networks.
struct OwnNodes {
    std::uint32_t count = 1;
    std::int64_t stake = 0;  ///< Of each node, in tokens.
    bool one_operator = true;
    bool claims_model = false;  ///< They alone claim a model, which the task names.
};

/// A row that is enumerated. Each honest node has a stake of 77,000 tokens and an operator of its own; a large node has
/// 90,000.
struct ExactCase {
    std::string row{};
    std::string what{};
    std::uint32_t honest_nodes = 0;
    OwnNodes attack{};
    OwnNodes honest{};
};
[[nodiscard]] auto exact_cases() -> const std::vector<ExactCase>&;

/// The names of these measures.
[[nodiscard]] auto exact_measures() -> std::vector<std::string>;

/// The measures of a case under a preset. Throws `std::invalid_argument` for rules under which the shares cannot be
/// enumerated: a gang whose members are each drawn among several.
[[nodiscard]] auto enumerate(const Contender& contender, const ExactCase& one) -> std::map<std::string, Measure>;

/// The same share of so many draws that the dispatcher makes, each with an entropy of its own, to check the
/// enumeration.
[[nodiscard]] auto sampled_share(const Contender& contender, const ExactCase& one, std::uint32_t draws) -> double;

using Rational = boost::multiprecision::cpp_rational;

/// The expected share of own nodes among `among` nodes that are drawn by weight one after another, or among all if
/// there are fewer. Each node is a weight, and true for an own one.
/// @complexity O(among^kinds), where nodes of equal weight and owner are one kind.
[[nodiscard]] auto drawn_share(const std::vector<std::pair<allot::u128, bool>>& nodes, std::uint32_t among) -> Rational;

}  // namespace simulate

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "world.hpp"

namespace simulate {

/// What a run leaves for the measures: small enough for a file of its own.
struct Outcome {
    std::vector<std::int64_t> sojourn_ms{};  ///< Of honest tasks, submission to end; negative: not done.
    std::int64_t own_cards = 0;
    Account own{};     ///< The attacker's owners and nodes.
    Account honest{};  ///< Everybody else.
    std::int64_t honest_nodes = 0;
    std::int64_t honest_exclusions = 0;
    /// Bad verdicts on honest nodes, and ends of their work at once, that no task of an honest owner explains.
    std::int64_t framed = 0;
    std::int64_t leased_ms = 0;   ///< Node time on leases.
    std::int64_t starts = 0;      ///< Leases.
    std::int64_t own_starts = 0;  ///< Leases of the attacker's nodes.
    std::int64_t failed = 0;      ///< Honest tasks that ended by a failure.
    std::int64_t own_orders = 0;
    std::int64_t own_done = 0;
    std::int64_t own_done_at_home = 0;  ///< Own orders that were done by own nodes.
    std::int64_t own_sojourn_ms = 0;  ///< Sum; an order that was not done counts an hour, for it is to be given again.
    std::int64_t target_nodes = 0;    ///< Honest nodes of the card that the attack aims at.
    std::int64_t target_earned = 0;
    std::int64_t small_stakes_earned = 0;                       ///< By the honest nodes of `Minorities::small_stake`.
    std::int64_t state_bytes = 0;                               ///< As `Network::state_bytes` at the end.
    std::map<std::string, std::uint64_t, std::less<>> notes{};  ///< Deeds that the adversary noted, and how often.
};

[[nodiscard]] auto outcome_of(const Run& run, const Means& means) -> Outcome;

/// One line of JSON, and back. Throws `std::runtime_error` for another text.
[[nodiscard]] auto write_outcome(const Outcome& outcome, const std::string& description) -> std::string;
[[nodiscard]] auto read_outcome(const std::string& text, const std::string& description) -> Outcome;

}  // namespace simulate

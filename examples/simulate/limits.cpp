#include "limits.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace simulate {
namespace {

constexpr auto sigmas = 2.0;

constexpr auto gain = std::array{Limit{"gain", 1.05}};
constexpr auto revenue = std::array{Limit{"card_revenue", 1.05}};
constexpr auto griefing = std::array{Limit{"phi", 2}, Limit{"added_exclusions", 0, Limit::Kind::none}};
constexpr auto no_loss = std::array{Limit{"harm", 0, Limit::Kind::none}};
constexpr auto harm = std::array{Limit{"harm_share", 2}, Limit{"gain", 1.05}};
constexpr auto comes_back =
    std::array{Limit{"harm_share", 2}, Limit{"gain", 1.05}, Limit{"swallowed_over_5a", 0, Limit::Kind::none}};
constexpr auto shares = std::array{Limit{"share_excess", 1e-6}};
constexpr auto state = std::array{Limit{"state_bytes", 1, Limit::Kind::none}};
constexpr auto slashed = std::array{Limit{"slashed_honest", 0, Limit::Kind::none}};
constexpr auto own_node = std::array{Limit{"added_own_node", 0, Limit::Kind::none}};
constexpr auto price = std::array{Limit{"price_gain", 1.05}};
constexpr auto rule_cost = std::array{Limit{"sojourn", 1.02}, Limit{"fees", 0.98, Limit::Kind::least}};
constexpr auto cost = std::array{Limit{"sojourn", 1.08}, Limit{"fees", 0.98, Limit::Kind::least}};

struct Rows {
    std::string_view row;
    std::span<const Limit> limits;
};
constexpr auto all_rows = std::array{
    Rows{"1a", shares},  Rows{"1b", shares},   Rows{"1c", shares},   Rows{"1i", shares},   Rows{"2c", shares},
    Rows{"10", slashed}, Rows{"12", own_node}, Rows{"1d", gain},     Rows{"1e", gain},     Rows{"1f", gain},
    Rows{"1g", revenue}, Rows{"2a", gain},     Rows{"2b", gain},     Rows{"3a", griefing}, Rows{"3b", griefing},
    Rows{"3c", no_loss}, Rows{"3d", griefing}, Rows{"4", no_loss},   Rows{"5a", harm},     Rows{"5b", comes_back},
    Rows{"5c", harm},    Rows{"5d", revenue},  Rows{"6", harm},      Rows{"7", harm},      Rows{"11", gain},
    Rows{"14", price},   Rows{"15", griefing}, Rows{"16", griefing}, Rows{"17", gain},     Rows{"18", gain},
    Rows{"19", gain},    Rows{"20", harm},     Rows{"2d", state},    Rows{"-", cost},      Rows{"-rule", rule_cost},
};

auto is_digit(char c) -> bool { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// A sub-row goes on with a letter after a digit, and with a digit after a letter: "14b" is one of "14", "145" is not.
auto belongs(std::string_view row, std::string_view to) -> bool {
    return row.starts_with(to) && (row.size() == to.size() || is_digit(row[to.size()]) != is_digit(to.back()));
}

}  // namespace

auto limits_of(std::string_view row) -> std::span<const Limit> {
    const auto* const found =
        std::find_if(all_rows.begin(), all_rows.end(), [&](const Rows& one) { return belongs(row, one.row); });
    return found == all_rows.end() ? std::span<const Limit>{} : found->limits;
}

auto told_measures() -> std::span<const Told> {
    static constexpr auto all = std::array{
        Told{"told_gain", "gain over one name with all the stake"}, Told{"own_node", "own tasks on own nodes"},
        Told{"target", "revenue of the cards that are aimed at, times the twin's"},
        Told{"fetch_of_a_model", "fetches that nodes are told"},
        Told{"state_bytes", "bytes of state when all that lapses has lapsed, times the twin's", "2d"}};
    return all;
}

auto verdict(const Measure& measure, const Limit& limit) -> Verdict {
    if (limit.kind == Limit::Kind::least) { return verdict({-measure.value, measure.error}, -limit.bound, sigmas); }
    const auto decided = verdict(measure, limit.bound, sigmas);
    return limit.kind == Limit::Kind::none && decided == Verdict::undecided ? Verdict::passed : decided;
}

}  // namespace simulate

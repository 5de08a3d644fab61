#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simulate {

struct Run;

/// What one node brings, and what it earned.
struct Earner {
    double means = 0;  ///< Its stake, or 1 for its card.
    double earned = 0;
};

/// A point of a Lorenz curve: this share of all means, of the nodes that earn least for theirs, earns this share.
struct LorenzPoint {
    double means_share = 0;
    double earned_share = 0;
};

/// How evenly nodes earn for what they bring.
struct Spread {
    double gini = 0;                    ///< 0: all earn in proportion; near 1: few earn all.
    double jain = 0;                    ///< 1: all earn in proportion; 1/n if one of n equal nodes earns all.
    std::vector<LorenzPoint> lorenz{};  ///< From (0, 0) to (1, 1); empty if nothing was earned.
};

/// How one task was served.
struct Service {
    enum class Fate : std::uint8_t { done, refused, evicted, lost };  ///< Lost: failed, cancelled or timed out.

    Fate fate = Fate::done;
    bool started = false;
    std::uint32_t tenth = 0;      ///< Of its value; 0 is the cheapest.
    double value = 0;             ///< Fee units per second.
    std::int64_t sojourn_ms = 0;  ///< From its submission to its end.
    std::int64_t wait_ms = 0;     ///< To its first start, or to its end if it never started.
};

/// Tasks of one tenth by value. A task that was not done counts in the quantiles as one that takes longer than all
/// others; a quantile that falls on such a task is none: never.
struct ServiceTenth {
    std::uint64_t submitted = 0;
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::uint64_t evicted = 0;
    std::uint64_t lost = 0;
    std::uint64_t never_started = 0;
    double value_max = 0;
    std::optional<double> sojourn_p50_s{};
    std::optional<double> sojourn_p90_s{};
    std::optional<double> sojourn_p99_s{};
};

/// Who gets what: the honest part of a run.
struct Fairness {
    Spread by_stake{};
    Spread by_card{};
    std::array<ServiceTenth, 10> tenths{};
    double wait_max_s = 0;           ///< The longest wait before a start.
    double wait_in_vain_max_s = 0;   ///< The longest wait of a task that never started.
    std::uint64_t able_nodes = 0;    ///< Nodes that could run a task of the run, and did not vanish.
    std::uint64_t unpaid_nodes = 0;  ///< Those of them that earned nothing.
};

/// @complexity n log n in nodes.
[[nodiscard]] auto spread_of(std::vector<Earner> earners) -> Spread;

/// Fills in what concerns tasks.
void summarise(Fairness& fairness, const std::vector<Service>& services);

[[nodiscard]] auto fairness_of(const Run& run) -> Fairness;

/// One figure a line, as CSV: its name, its place (a tenth, or a share of means) and its value, empty for never.
[[nodiscard]] auto fairness_csv(const Fairness& fairness) -> std::string;

}  // namespace simulate

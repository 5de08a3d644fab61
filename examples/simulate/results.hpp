#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fairness.hpp"
#include "scenario.hpp"
#include "trace.hpp"

namespace simulate {

/// Mean values of one kind of node at one time.
struct KindSample {
    std::uint64_t nodes = 0;  ///< Nodes present.
    double health = 0;        ///< 0 to 1.
    double long_score = 0;    ///< Mean of the last scores, 0 to 10.
    double score = 0;         ///< The QoS score in the selection weight, 0 to 1.
};

/// The network at one time.
struct Sample {
    std::int64_t time_ms = 0;
    std::uint64_t position = 0;  ///< In the log: how many commands were given before.
    std::uint64_t queued = 0;
    std::uint64_t queue_capacity = 0;
    std::uint64_t busy = 0;
    std::uint64_t present = 0;  ///< Nodes that have not left.
    std::uint64_t excluded = 0;
    std::array<KindSample, kind_count> kinds{};
};

/// Tasks of one tenth by value.
struct Decile {
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t done = 0;
    std::uint64_t evicted = 0;
    double value_min = 0;  ///< Fee units per second.
    double value_max = 0;
    double wait_mean_s = 0;  ///< Of started tasks.
    double wait_p50_s = 0;
    double wait_p95_s = 0;
};

/// One task that waited a second or more.
struct WaitPoint {
    double value = 0;
    double wait_s = 0;
};

/// The expected wait of a task when it was queued, and its actual wait until its start.
struct ExpectedWait {
    std::int64_t expected_ms = 0;
    std::int64_t waited_ms = 0;
};

/// One node's share of the network's stake and of the work done.
struct NodePoint {
    double stake_share = 0;
    double work_share = 0;
    Kind kind = Kind::ordinary;
};

/// All nodes of one kind. Shares are of the whole network, from 0 to 1.
struct KindRow {
    std::uint64_t nodes = 0;
    double stake_share = 0;
    /// Draws won by a free node, relative to an ordinary node (1) of equal stake, in the first hundredth of the
    /// arrivals. Few nodes have scores then.
    double drawn_early = 0;
    double drawn_late = 0;  ///< The same in the last quarter of the arrivals.
    double work_share = 0;  ///< Of work done, in estimated seconds.
    std::uint64_t started = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t kicked_out = 0;
    double score = 0;  ///< Mean QoS score at the end of the arrivals, of nodes present.
};

/// Everything a run yields; what is written depends on this alone.
struct Results {
    std::string trace{};
    std::string world{};   ///< Its name; empty: the trace in full.
    std::string source{};  ///< Where it comes from, unless it is the trace.
    std::string preset{};
    std::string library_version{};
    std::uint64_t seed = 0;
    std::uint32_t scale_milli = 1000;
    std::uint32_t load_percent = 0;
    RowCounts rows{};
    std::uint64_t machines = 0;
    std::uint64_t nodes = 0;
    std::uint64_t groups = 0;
    std::uint64_t copies_milli = 0;
    std::uint64_t compression_milli = 0;
    std::int64_t arrivals_end_ms = 0;
    std::int64_t end_ms = 0;

    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t started_at_once = 0;  ///< Within a second.
    double wait_p50_s = 0;              ///< Of started tasks.
    double wait_p95_s = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t evicted = 0;
    std::uint64_t timed_out_running = 0;
    std::uint64_t timed_out_queued = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t refused = 0;  ///< Commands the dispatcher refused; none is expected.
    std::uint64_t groups_ranked = 0;
    std::uint64_t models_wanted = 0;
    std::uint64_t models_downloaded = 0;
    std::uint64_t exclusions = 0;
    std::uint64_t commands = 0;
    std::uint64_t stake_cap = 0;        ///< Stake of a large honest node, which some presets are told.
    std::uint64_t leased_ms = 0;        ///< Node time with a task, also after the arrivals.
    double decide_seconds = 0;          ///< Wall clock spent inside the dispatcher.
    std::uint64_t memory_peak_mib = 0;  ///< Of the whole process; zero where the system does not tell.
    double utilisation = 0;             ///< Mean share of present nodes that are busy, over the arrivals.

    std::uint64_t vanished = 0;
    std::uint64_t vanished_kicked_out = 0;
    std::uint64_t tasks_before_kick_min = 0;  ///< Tasks given to a vanished node between its end and its removal.
    std::uint64_t tasks_before_kick_median = 0;
    std::uint64_t tasks_before_kick_max = 0;
    std::uint64_t tasks_after_vanishing_max = 0;  ///< Of all vanished nodes, kicked out or not.

    std::vector<Sample> samples{};
    std::array<Decile, 10> deciles{};
    std::vector<WaitPoint> waits{};              ///< An evenly spaced sample.
    std::vector<ExpectedWait> expected_waits{};  ///< Of started tasks; empty unless requested.
    std::vector<NodePoint> node_points{};
    std::array<KindRow, kind_count> kinds{};
    Fairness fairness{};
};

}  // namespace simulate

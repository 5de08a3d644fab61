#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <allot/job/job_processor.hpp>

// What a simulated network is like, and what came of a run in it.

namespace job_test {

using allot::Duration;
using allot::Hash256;
using allot::JobEffects;
using allot::JobProcessor;
using allot::TimePoint;

struct Broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What can go wrong; how often it did is counted by these names.
enum class Fault : std::uint8_t {
    drop,
    duplicate,
    reorder,
    delay,
    partition,
    crash,
    restart_with_old_state,
    clock_offset,
    rate_skew,
    cheat,
    slow,
    give_back,
    told_of_crash,
    count
};
constexpr auto fault_names =
    std::array{"drop",         "duplicate", "reorder", "delay", "partition", "crash",          "restart with old state",
               "clock offset", "rate skew", "cheat",   "slow",  "give back", "told of a crash"};
using FaultCounts = std::array<std::uint64_t, static_cast<std::size_t>(Fault::count)>;

enum class Arbiter : std::uint8_t { intent, store, quorum };

struct Options {
    std::uint32_t nodes = 5;
    std::uint32_t cheaters = 0;  ///< The last ones.
    allot::Slicing slicing{};
    Arbiter arbiter = Arbiter::intent;
    std::uint32_t drop_percent = 0;
    std::uint32_t duplicate_percent = 0;
    std::uint32_t delay_max = 50;    ///< ms; messages overtake each other.
    std::uint32_t late_percent = 0;  ///< So many are late by up to 20 s.
    bool partition = false;
    bool referee_away = false;   ///< Votes decide, and name nobody.
    bool commit_results = true;  ///< Results are committed before they are disclosed.
    std::uint32_t crashes = 0;
    std::uint32_t crash_until = 12'000;   ///< ms after the first three seconds.
    bool told_of_crashes = false;         ///< The transport says so to everybody, at once.
    bool restarts = false;                ///< Who crashed comes back, with what it knew some time before.
    bool clocks = false;                  ///< Clocks stand anywhere and run up to 5 % fast or slow.
    std::uint32_t work_min = 200;         ///< ms a MicroJob takes at least,
    std::uint32_t work_max = 4'000;       ///< and at most so much more.
    bool boots_together = false;          ///< Else within three seconds.
    std::uint32_t slow_percent = 0;       ///< So many take beyond their lease, without renewing.
    std::uint32_t fail_percent = 0;       ///< So many are given back undone.
    std::int64_t faults_until = 120'000;  ///< Then the network is fair.
    std::int64_t give_up_at = 7'200'000;
    std::uint32_t liars = 0;    ///< The last ones; `Lie` says what they do.
    std::uint64_t lies = 0;     ///< A bit for each.
    std::uint32_t sampled = 0;  ///< Blocks of each MacroJob that the contract recomputes in any case.
    bool keep_events = false;   ///< For `events()`.
    bool trace = false;         ///< Says what happens, to whoever looks for a fault.
};

inline auto says(const FaultCounts& faults) -> std::string {
    auto text = std::string{};
    for (std::size_t i = 0; i < faults.size(); ++i) {
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", faults[i], fault_names[i]);
    }
    return text;
}

/// How often a promise was looked at, by its number in the specification of the queue that travels.
enum class Promise : std::uint8_t {
    p1_merge,
    p2_one_holder,
    p3_growing,
    p4_full_length,
    p5_awake,
    p6_one_end,
    p7_coverage,
    p10_few_replies,
    count
};
using PromiseCounts = std::array<std::uint64_t, static_cast<std::size_t>(Promise::count)>;

/// What came of a run.
struct Outcome {
    FaultCounts faults{};
    PromiseCounts looked{};
    [[nodiscard]] auto looks(Promise promise) const -> std::uint64_t {
        return looked[static_cast<std::size_t>(promise)];
    }
    allot::JobOutcome outcome = allot::JobOutcome::complete;
    std::uint64_t executions = 0;
    std::uint64_t requests_to_pay = 0;  ///< Over all nodes.
    std::uint64_t takeovers = 0;
    std::uint64_t dead_letters = 0;  ///< Over all nodes.
    std::uint64_t named_honest = 0;
    std::uint64_t named_cheaters = 0;
    std::uint64_t accepted_lies = 0;
    std::uint64_t unverified = 0;  ///< Parts that are not paid, because nobody verified them.
    std::map<allot::NodeId, std::uint64_t> done_by{};
    std::int64_t ended_at = 0;
    std::uint64_t messages = 0;
};

inline auto node_id(std::uint32_t i) -> allot::NodeId { return allot::NodeId{"node-" + std::to_string(i)}; }
inline auto wallet_id(std::uint32_t i) -> allot::WalletId { return allot::WalletId{"wallet-" + std::to_string(i)}; }

/// The member that settles the jobs.
inline const auto contract = allot::NodeId{"the contract"};

/// A member's signature in the simulation: a hash that nobody else makes here.
inline auto signature_of(const allot::NodeId& author, const Hash256& digest) -> allot::Signature {
    const auto hash = allot::RecordHasher{"signed"}.id(author).hash(digest).finish();
    return {hash.begin(), hash.begin() + 8};
}
constexpr auto proven = [](const allot::NodeId& author, const Hash256& digest, const allot::Signature& signature) {
    return signature == signature_of(author, digest);
};

/// The true hash of a data block.
inline auto block_hash(std::uint64_t block) -> Hash256 { return allot::RecordHasher{"block"}.word(block).finish(); }

}  // namespace job_test

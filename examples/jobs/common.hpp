#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <allot/job.hpp>

// Constants shared by all processes of the example.

namespace jobs {

using namespace std::chrono_literals;

/// Channels of this example, beside the library's. What follows is a member's name: the broker's access list lets each
/// member write, or read, only the channel of its own name.
inline const auto deals_asked = std::string{"Deals/asked/"};
inline const auto deals_given = std::string{"Deals/given/"};
inline const auto store = std::string{"Store/"};
inline const auto escrow_asked = std::string{"Escrow/asked/"};
inline const auto escrow_said = std::string{"Escrow/said/"};
inline const auto reported = std::string{"Report/"};
/// Only the dapp writes here, and all members read.
inline const auto proofs = std::string{"Proof"};
/// Stands before the library's channels, which all members read and write.
inline const auto net = std::string{"Net/"};

/// The member that posts the jobs, holds their seeds, and is the contract that pays.
inline const auto dapp_name = std::string{"dapp"};

/// Blocks of each MacroJob that the contract computes again before it pays. Members know the number from here.
inline constexpr auto samples_promised = 6U;

/// The id of one of the jobs, which are numbered from 0, and its name for people: "A" for the first.
inline auto job_of(std::uint64_t number) -> allot::JobId { return allot::job_id_of(allot::NodeId{dapp_name}, number); }
inline auto name_of(const allot::JobId& job) -> std::string {
    return {static_cast<char>('A' + allot::job_number_of(job).value_or(0))};
}

/// Short durations, so that the example ends within a minute; a worldwide network would keep the defaults.
inline auto parameters() -> allot::JobParameters {
    auto p = allot::JobParameters{};
    p.queue.lock = 6s;
    p.queue.owner_timeout = 3s;
    p.queue.heartbeat = 1s;
    p.queue.stagger = 300ms;
    p.queue.request_retry = 300ms;
    p.queue.request_retry_max = 2s;
    p.queue.request_ttl = 8s;
    p.queue.reply_every = 500ms;
    p.queue.retry_delay = 300ms;
    p.queue.disclose_within = 6s;
    // On a busy machine a process may stand still for seconds and lose its lease. No process is at fault then, and the
    // MicroJob may be fine. So a MicroJob is given up only after many such losses, and after a long time.
    p.queue.abandon_after = 120s;
    p.queue.attempts_max = 40;
    p.answer_wait = 1500ms;  // everybody answers everybody, so it bounds the traffic
    p.ask_retry = 3s;
    p.claim = 9s;
    return p;
}

/// This process' clock. The clocks of other processes may differ: they are never compared.
inline auto now() -> allot::TimePoint {
    const auto elapsed = std::chrono::steady_clock::now().time_since_epoch();
    return allot::TimePoint{std::chrono::duration_cast<allot::Duration>(elapsed)};
}

inline auto read_file(const std::string& path) -> std::string {
    auto in = std::ifstream{path, std::ios::binary};
    if (!in) { throw std::runtime_error{"cannot read " + path + "; pass the path of a readable file"}; }
    return {std::istreambuf_iterator<char>{in}, {}};
}

/// Number of blocks into which a job cuts its file.
inline auto block_count(const allot::Slicing& slicing) -> std::uint64_t {
    return slicing.blocks_per_macro() * slicing.macro_count;
}
/// One of `count` blocks of a file, and its hash, which the job computes.
inline auto block_of(const std::string& file, std::uint64_t block, std::uint64_t count) -> std::string {
    const auto size = (file.size() + count - 1) / count;
    return file.substr(std::min<std::uint64_t>(block * size, file.size()), size);
}
inline auto block_hash(const std::string& file, std::uint64_t block, std::uint64_t count) -> allot::Hash256 {
    return allot::RecordHasher{"file block"}.word(block).text(block_of(file, block, count)).finish();
}

}  // namespace jobs

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <allot/job.hpp>

#include "proof.hpp"

// The library's messages as JSON, one of many possible wire formats. Malformed input gives an empty optional.

namespace jobs {

using Json = nlohmann::json;

/// A message of the library. Its sender is on the envelope (post.hpp).
[[nodiscard]] auto encode(const allot::JobMessage& message) -> std::string;
[[nodiscard]] auto decode(const std::string& text) -> std::optional<allot::JobMessage>;

/// A result for the store.
struct Stored {
    allot::JobId job;
    allot::ResultRecord record;
};
[[nodiscard]] auto encode(const Stored& stored) -> std::string;
[[nodiscard]] auto decode_stored(const std::string& text) -> std::optional<Stored>;

/// A request to the escrow, and its answer.
struct EscrowAsk {
    std::vector<allot::MacroRecord> records;
    allot::FinalRecord as;
};
[[nodiscard]] auto encode(const EscrowAsk& ask) -> std::string;
[[nodiscard]] auto decode_ask(const std::string& text) -> std::optional<EscrowAsk>;
[[nodiscard]] auto encode(const allot::Settlement& settlement) -> std::string;
[[nodiscard]] auto decode_settlement(const std::string& text) -> std::optional<allot::Settlement>;

/// The blocks of a MicroJob; only the holder of the secret knows them. Without blocks: a request for them.
struct Deal {
    allot::JobId job;
    allot::MicroKey key;
    std::vector<std::uint64_t> blocks;
};
[[nodiscard]] auto encode(const Deal& deal) -> std::string;
[[nodiscard]] auto decode_deal(const std::string& text) -> std::optional<Deal>;

/// How often something was refused.
struct Refused {
    std::string what;
    std::uint64_t times = 0;
};
/// What a member tells for the view. Nothing is decided by it, except that the run ends when all know the ends.
struct Report {
    std::string doing;
    std::vector<Refused> refused;
    std::string last;                  ///< The last refusal, in words.
    std::vector<allot::Hash256> ends;  ///< Digests of the final records that it knows.
    std::uint32_t reconnects = 0;
    std::uint32_t resumed = 0;  ///< Number of jobs that it took up from its disk.
    std::uint32_t proven = 0;   ///< Number of jobs whose proof it repeated, and found right.
};
[[nodiscard]] auto encode(const Report& report) -> std::string;
[[nodiscard]] auto decode_report(const std::string& text) -> std::optional<Report>;

[[nodiscard]] auto encode(const Proof& proof) -> std::string;
[[nodiscard]] auto decode_proof(const std::string& text) -> std::optional<Proof>;

/// What a member needs to take up a job after a restart.
struct Saved {
    allot::job_message::JobPosted posted;
    std::vector<allot::job_message::QueueSnapshot> snapshots;
};
[[nodiscard]] auto encode(const std::vector<Saved>& saved) -> std::string;
[[nodiscard]] auto decode_saved(const std::string& text) -> std::optional<std::vector<Saved>>;

}  // namespace jobs

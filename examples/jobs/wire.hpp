#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <allot/job.hpp>

// The library's messages as JSON, one of many possible wire formats. Malformed input gives an empty optional.

namespace jobs {

using Json = nlohmann::json;

/// A message and its sender.
struct Letter {
    allot::NodeId sender;
    allot::JobMessage message;
};
[[nodiscard]] auto encode(const Letter& letter) -> std::string;
[[nodiscard]] auto decode(const std::string& text) -> std::optional<Letter>;

[[nodiscard]] auto encode(const allot::ResultRecord& record) -> std::string;
[[nodiscard]] auto decode_result(const std::string& text) -> std::optional<allot::ResultRecord>;

/// A request to the escrow, and its answer.
struct EscrowAsk {
    allot::NodeId node;
    std::vector<allot::MacroRecord> records;
    allot::FinalRecord as;
};
[[nodiscard]] auto encode(const EscrowAsk& ask) -> std::string;
[[nodiscard]] auto decode_ask(const std::string& text) -> std::optional<EscrowAsk>;
[[nodiscard]] auto encode(const allot::Settlement& settlement) -> std::string;
[[nodiscard]] auto decode_settlement(const std::string& text) -> std::optional<allot::Settlement>;

/// The blocks of a MicroJob; only the holder of the secret knows them.
struct Deal {
    allot::MicroKey key;
    std::vector<std::uint64_t> blocks;
};
[[nodiscard]] auto encode(const Deal& deal) -> std::string;
[[nodiscard]] auto decode_deal(const std::string& text) -> std::optional<Deal>;

}  // namespace jobs

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace replay {

/// Forms of a log.
enum class Format : std::uint8_t { json, binary };

/// Options of the command line.
struct Options {
    std::string log = "-";                 ///< A path; "-" is the standard input.
    std::string compare_with{};            ///< Another log; empty for none.
    std::optional<Format> from{};          ///< Format of both logs; without it, each one's first byte decides.
    std::optional<Format> to{};            ///< Convert to this format instead of playing.
    std::optional<std::uint64_t> until{};  ///< Position to stop before.
    /// Subject to explain where the play stops: "task:ID" or "node:ID"; empty for none.
    std::string explain{};
    bool text = false;      ///< Explain in sentences, not as JSON.
    bool reply = false;     ///< One line for each command, with all its events.
    bool receipts = false;  ///< Print the receipts of all choices instead of the events.
    std::string verify{};   ///< A file of such receipts to be checked; empty for none.
    bool quiet = false;     ///< Print only the last line.
    std::string policies = "crynux_single";
    std::string stake_cap{};  ///< Of the preset `hardened`, which has no default.
};

/// Exit statuses of the program.
enum Status : int { all_well = 0, logs_differ = 1, receipts_refused = 1, input_bad = 2 };

}  // namespace replay

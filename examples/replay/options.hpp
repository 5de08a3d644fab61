#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace replay {

/// How commands are written down.
enum class Format : std::uint8_t { json, binary };

/// What the command line asks for.
struct Options {
    std::string log = "-";                 ///< A path; "-" is the standard input.
    std::string compare_with{};            ///< Another log; empty for none.
    std::optional<Format> from{};          ///< Of both logs; without, each one's first byte tells.
    std::optional<Format> to{};            ///< Convert to this and play nothing.
    std::optional<std::uint64_t> until{};  ///< The position to stop before.
    std::string explain{};                 ///< What to explain where the play stops: "task:ID" or "node:ID"; empty for nothing.
    bool text = false;                     ///< Explain in sentences, not as JSON.
    bool reply = false;                    ///< One line for each command, with all its events.
    bool quiet = false;                    ///< The last line alone.
    std::string policies = "crynux_single";
};

/// The statuses that the program ends with.
enum Status : int { all_well = 0, logs_differ = 1, input_bad = 2 };

}  // namespace replay

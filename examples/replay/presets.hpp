#pragma once

#include "options.hpp"

namespace replay {

class Output;

// One file in presets/ for each, because each takes a while to compile.
auto run_crynux_single(const Options& options, Output& output) -> Status;
auto run_crynux_trio(const Options& options, Output& output) -> Status;
auto run_crynux_contracts_1(const Options& options, Output& output) -> Status;
auto run_crynux_contracts_2(const Options& options, Output& output) -> Status;
auto run_crynux_relay_2026(const Options& options, Output& output) -> Status;
auto run_hardened(const Options& options, Output& output) -> Status;

}  // namespace replay

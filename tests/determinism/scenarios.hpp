#pragma once

#include "determinism/scenario.hpp"

// The scenarios, by the file that has them.
namespace determinism {

void add_defaults(Scenarios& all);
void add_models(Scenarios& all);
void add_presets(Scenarios& all);
void add_own(Scenarios& all);
void add_jobs(Scenarios& all);

}  // namespace determinism

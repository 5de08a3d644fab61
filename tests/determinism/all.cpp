// The whole program as one translation unit: half the time of five. DETERMINISM_SHORT leaves out what a short check can
// spare.
#include "determinism/defaults.cpp"
#include "determinism/jobs.cpp"
#include "determinism/main.cpp"
#include "determinism/own.cpp"
#ifndef DETERMINISM_SHORT
#    include "determinism/models.cpp"
#    include "determinism/presets.cpp"
#endif

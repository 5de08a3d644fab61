// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::CrynuxRelay2026
#include "explain/presets.ipp"

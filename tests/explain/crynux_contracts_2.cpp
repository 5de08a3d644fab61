// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::CrynuxContracts2
#include "explain/presets.ipp"

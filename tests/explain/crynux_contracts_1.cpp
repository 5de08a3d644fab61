// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::CrynuxContracts1
#include "explain/presets.ipp"

// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::CrynuxTrio
#include "explain/presets.ipp"

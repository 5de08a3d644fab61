// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::CrynuxSingle
#include "explain/presets.ipp"

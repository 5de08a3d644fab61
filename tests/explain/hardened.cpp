// Explanations under the preset that ALLOT_MODEL names.
#define ALLOT_MODEL allot::preset::Hardened
#include "explain/presets.ipp"

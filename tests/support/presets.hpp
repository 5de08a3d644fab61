#pragma once

// The dispatchers of the presets, compiled once, as any embedder can have them.
#include <allot/compiled/crynux_contracts.hpp>
#include <allot/compiled/crynux_relay_2026.hpp>
#include <allot/compiled/crynux_single.hpp>
#include <allot/compiled/crynux_trio.hpp>
#include <allot/compiled/hardened.hpp>

#include "support/instances.hpp"

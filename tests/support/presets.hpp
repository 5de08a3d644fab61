#pragma once

#include <allot/preset/crynux_contracts.hpp>
#include <allot/preset/crynux_relay_2026.hpp>
#include <allot/preset/crynux_single.hpp>
#include <allot/preset/crynux_trio.hpp>
#include <allot/preset/hardened.hpp>

#include "support/instances.hpp"

// The dispatchers of the presets, compiled once, in presets.cpp.
extern template class allot::Dispatcher<allot::preset::CrynuxSingle>;
extern template class allot::Dispatcher<allot::preset::CrynuxTrio>;
extern template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;
extern template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
extern template class allot::Dispatcher<allot::preset::CrynuxContracts2>;
extern template class allot::Dispatcher<allot::preset::Hardened>;

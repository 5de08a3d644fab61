#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_contracts.hpp>

/// The dispatchers of both contracts' versions, compiled once. Who includes this links `allot::compiled`, and its own compiler
/// makes no code for the dispatcher.
extern template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
extern template class allot::Dispatcher<allot::preset::CrynuxContracts2>;

#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_relay_2026.hpp>

/// `Dispatcher<preset::CrynuxRelay2026>`, compiled once. Who includes this links `allot::compiled`, and its own compiler makes no code for the dispatcher.
extern template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;

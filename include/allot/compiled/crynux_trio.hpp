#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_trio.hpp>

/// `Dispatcher<preset::CrynuxTrio>`, compiled once. Who includes this links `allot::compiled`, and its own compiler makes no code for the dispatcher.
extern template class allot::Dispatcher<allot::preset::CrynuxTrio>;

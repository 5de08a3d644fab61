#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/hardened.hpp>

/// `Dispatcher<preset::Hardened>`, compiled once. Who includes this links `allot::compiled`, and its own compiler makes no code for the dispatcher.
extern template class allot::Dispatcher<allot::preset::Hardened>;

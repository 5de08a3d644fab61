#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/hardened.hpp>

/// `Dispatcher<preset::Hardened>`, compiled once. A program that includes this header links `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::Hardened>;

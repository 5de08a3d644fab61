#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_single.hpp>

/// `Dispatcher<preset::CrynuxSingle>`, compiled once. A program that includes this header links `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::CrynuxSingle>;

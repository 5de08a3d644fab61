#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_trio.hpp>

/// `Dispatcher<preset::CrynuxTrio>`, compiled once. A program that includes this header links `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::CrynuxTrio>;

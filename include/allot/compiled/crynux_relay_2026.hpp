#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_relay_2026.hpp>

/// `Dispatcher<preset::CrynuxRelay2026>`, compiled once. A program that includes this header links `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;

#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_contracts.hpp>

/// The dispatchers of both generations of the contracts, compiled once. A program that includes this header links
/// `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
extern template class allot::Dispatcher<allot::preset::CrynuxContracts2>;

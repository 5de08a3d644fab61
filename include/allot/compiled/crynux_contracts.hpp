#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/preset/crynux_contracts.hpp>

/// The dispatchers of both contracts' versions, compiled once. A program that includes this header links
/// `allot::compiled`.
extern template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
extern template class allot::Dispatcher<allot::preset::CrynuxContracts2>;

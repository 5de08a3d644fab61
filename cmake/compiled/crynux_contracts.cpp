#include <allot/preset/crynux_contracts.hpp>

template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
template class allot::Dispatcher<allot::preset::CrynuxContracts2>;

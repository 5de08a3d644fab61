#include "support/presets.hpp"

template class allot::Dispatcher<allot::preset::CrynuxSingle>;
template class allot::Dispatcher<allot::preset::CrynuxTrio>;
template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;
template class allot::Dispatcher<allot::preset::CrynuxContracts1>;
template class allot::Dispatcher<allot::preset::CrynuxContracts2>;
template class allot::Dispatcher<allot::preset::Hardened>;

#include <allot/preset/crynux_relay_2026.hpp>

template class allot::Dispatcher<allot::preset::CrynuxRelay2026>;

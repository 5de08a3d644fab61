#include <allot/preset/crynux_single.hpp>

template class allot::Dispatcher<allot::preset::CrynuxSingle>;

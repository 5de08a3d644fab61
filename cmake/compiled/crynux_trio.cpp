#include <allot/preset/crynux_trio.hpp>

template class allot::Dispatcher<allot::preset::CrynuxTrio>;

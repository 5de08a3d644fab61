#include <allot/preset/hardened.hpp>

template class allot::Dispatcher<allot::preset::Hardened>;

#include <allot/allot.hpp>

template class allot::Dispatcher<>;

#include <allot/dispatcher/dispatcher.hpp>

template class allot::Dispatcher<>;

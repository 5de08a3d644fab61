#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/dispatcher/interface.hpp>

/// `Dispatcher<>`, compiled once. A program that includes this header links `allot::compiled`. A file with a dispatcher
/// of other policies includes <allot/dispatcher/dispatcher.hpp> as well.
extern template class allot::Dispatcher<>;

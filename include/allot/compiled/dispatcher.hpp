#pragma once

#include <allot/compiled/guard.hpp>
#include <allot/dispatcher/dispatcher.hpp>

/// `Dispatcher<>`, compiled once. A program that includes this header links `allot::compiled`.
extern template class allot::Dispatcher<>;

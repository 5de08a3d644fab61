#pragma once

#include <allot/allot.hpp>

// The dispatchers that most tests use are compiled once, in instances.cpp, as an embedder would do it
// (examples/extern_template): it halves the time that the tests take to build. A test of one dispatcher alone is built
// sooner without the others: it defines ALLOT_TESTS_OWN_INSTANCES.
#ifndef ALLOT_TESTS_OWN_INSTANCES
#    include <allot/compiled/dispatcher.hpp>

extern template class allot::Dispatcher<allot::Rules>;
extern template class allot::Dispatcher<allot::ValueQueue>;
extern template class allot::Dispatcher<allot::FixedTerms>;
extern template class allot::Dispatcher<allot::RollingQos>;
extern template class allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;
#endif

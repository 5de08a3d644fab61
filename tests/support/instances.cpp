#include "support/instances.hpp"

template class allot::Dispatcher<>;
template class allot::Dispatcher<allot::Rules>;
template class allot::Dispatcher<allot::ValueQueue>;
template class allot::Dispatcher<allot::FixedTerms>;
template class allot::Dispatcher<allot::RollingQos>;
template class allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;

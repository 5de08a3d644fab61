#include "support/instances.hpp"

#include "support/commands.hpp"

template class allot::Dispatcher<allot::Rules>;
template class allot::Dispatcher<allot::ValueQueue>;
template class allot::Dispatcher<allot::FixedTerms>;
template class allot::Dispatcher<allot::RollingQos>;
template class allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;
template class allot::Dispatcher<allot::Rules, allot::GpuGroupPool, allot::ValueQueue, allot::RollingQos,
                                 allot::ThresholdPlacement, allot::FixedTerms, allot::IdKey>;
template class allot::Dispatcher<allot::Rules, allot::LinearPool, allot::LinearQueue, allot::RollingQos,
                                 allot::ThresholdPlacement, allot::FixedTerms, allot::IdKey>;

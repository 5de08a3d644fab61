// The Dispatcher asks of a policy what its concept asks for, and nothing else: it compiles with the least model of each
// role beside the defaults.
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

template class allot::Dispatcher<allot::archetype::Eligibility>;
template class allot::Dispatcher<allot::archetype::Weight>;
template class allot::Dispatcher<allot::archetype::Pool>;
template class allot::Dispatcher<allot::archetype::Queue>;
template class allot::Dispatcher<allot::archetype::QoS>;
template class allot::Dispatcher<allot::archetype::Valuation>;
template class allot::Dispatcher<allot::archetype::Placement>;
template class allot::Dispatcher<allot::archetype::Terms>;

// A policy need not be made from nothing, either.
struct Fixed : allot::archetype::Valuation {
    explicit Fixed(allot::Value value) : worth{value} {}
    auto value(const allot::Task&, const allot::Requirement&) const -> allot::Value { return worth; }
    allot::Value worth;
};
template class allot::Dispatcher<Fixed>;

// error: allot: two policies of one role; give the Dispatcher only one of them
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

auto dispatcher = allot::Dispatcher{allot::ValueQueue{}, allot::HarmonicWeight{}, allot::archetype::Queue{}};

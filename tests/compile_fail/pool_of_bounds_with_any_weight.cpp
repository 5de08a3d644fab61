// error: allot: this pool stores bounds, so the weight policy must keep the law of monotone_weight
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

auto dispatcher = allot::Dispatcher{allot::archetype::Weight{}, allot::GpuGroupPool{}};

// error: allot: the role `rules` is the dispatcher.s own; give the Dispatcher an allot::Rules
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    using role = allot::role::rules;
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: the role `id_key` is the dispatcher.s own; give the Dispatcher an allot::IdKey
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    using role = allot::role::id_key;
};

auto dispatcher = allot::Dispatcher{Mine{}};

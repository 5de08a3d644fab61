// error: allot: a QoS tracker with `unbond` needs `auto unbond.node_data&, Amount, TimePoint. const -> bool`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    void unbond(node_data&, allot::Amount, allot::TimePoint) const {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

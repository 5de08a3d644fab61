// error: allot: a QoS tracker needs `void joined.node_data&, TimePoint. const`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    void joined(node_data&) const {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: a QoS tracker needs `auto record.node_data&, Outcome, TimePoint. const -> Standing`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    void record(node_data&, allot::Outcome, allot::TimePoint) const {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

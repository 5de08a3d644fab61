// error: allot: a QoS tracker needs `auto score.const node_data&, TimePoint. const -> Score`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    auto score(const node_data&, allot::TimePoint) const -> unsigned { return 1; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: a QoS tracker needs `auto score_max.const node_data&. const -> Score`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    auto score_max(node_data&) const -> allot::Score { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

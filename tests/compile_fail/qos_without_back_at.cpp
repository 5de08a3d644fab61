// error: allot: a QoS tracker needs `auto back_at.const node_data&. const -> std::optional<TimePoint>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    auto back_at(const node_data&) const -> allot::TimePoint { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

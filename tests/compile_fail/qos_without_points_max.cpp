// error: allot: a QoS tracker needs `auto points_max.. const -> std::uint32_t`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::QoS {
    auto points_max() const -> int { return 10; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: lease terms need `auto length_max.const Node&, const Task&. const -> Duration`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto length_max() const -> allot::Duration { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: lease terms need `auto patience.const Task&. const -> Duration`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto patience() const -> allot::Duration { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

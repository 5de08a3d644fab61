// error: allot: a model placement needs `auto asked_for.. const -> Duration`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Placement {
    auto asked_for() const -> int { return 1; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

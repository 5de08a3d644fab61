// error: allot: a model placement with `held_for` needs `auto held_for.. const -> Duration`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Placement {
    auto held_for() const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

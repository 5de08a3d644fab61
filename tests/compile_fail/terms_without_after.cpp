// error: allot: lease terms need `auto after.const Task&, OutcomeKind. const -> Next`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto after(const allot::Task&) const -> allot::Next { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

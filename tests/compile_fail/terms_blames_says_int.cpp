// error: allot: lease terms with `blames` need `auto blames.const Task&, OutcomeKind. const -> bool`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto blames(const allot::Task&, allot::OutcomeKind) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

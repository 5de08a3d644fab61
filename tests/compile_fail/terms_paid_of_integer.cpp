// error: allot: lease terms with `paid` need `auto paid.const Task&. const -> Amount`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto paid(const allot::Task&) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

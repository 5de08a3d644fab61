// error: allot: lease terms that draw in rounds need `auto draws_in_rounds.. const -> bool` and `auto drawn_until
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto draws_in_rounds() const -> bool { return true; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: lease terms with `fee_min` need `auto fee_min.Duration. const -> Amount`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto fee_min(allot::Duration) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: lease terms with `forfeit` need `auto forfeit.const Task&, Ending, Duration, Ratio. const -> Amount`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto forfeit(const allot::Task&, allot::Ending, allot::Duration) const -> allot::Amount { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

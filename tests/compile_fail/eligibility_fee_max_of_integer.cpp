// error: allot: an eligibility policy with `fee_max` needs `auto fee_max.. const -> Amount`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Eligibility {
    auto fee_max() const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

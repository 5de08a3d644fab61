// error: allot: an eligibility policy with `stake_min` needs `auto stake_min.Amount fee. const -> Amount`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Eligibility {
    auto stake_min(allot::Amount) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

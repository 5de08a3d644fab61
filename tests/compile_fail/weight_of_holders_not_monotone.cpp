// error: allot: a weight policy with `holder_weight_min` must keep the law of monotone_weight
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Weight : allot::archetype::Weight {
    static auto holder_weight_min() -> allot::Weight { return allot::Weight::from_ratio(1, 1); }
};

auto dispatcher = allot::Dispatcher{Weight{}};

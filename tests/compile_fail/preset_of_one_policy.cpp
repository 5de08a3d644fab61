// error: allot: a preset needs `auto policies.. const` that returns a std::tuple of policies
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    using role = allot::role::preset;
    auto policies() const { return allot::ValueQueue{}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

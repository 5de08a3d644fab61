// error: allot: a policy names its role; write `using role = allot::role::weight.`
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    auto weight(const allot::Node&, const allot::Task&, allot::Factors) const -> allot::Weight { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

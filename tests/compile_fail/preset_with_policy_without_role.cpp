// error: allot: a policy names its role; write `using role = allot::role::weight.`
#include <allot/dispatcher/dispatcher.hpp>

struct Nameless {};

struct Mine {
    using role = allot::role::preset;
    auto policies() const { return std::tuple{allot::GpuGroupPool{}, Nameless{}}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

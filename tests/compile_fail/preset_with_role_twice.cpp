// error: allot: two policies of one role; give the Dispatcher only one of them
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    using role = allot::role::preset;
    auto policies() const { return std::tuple{allot::GpuGroupPool{}, allot::LinearPool{}}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

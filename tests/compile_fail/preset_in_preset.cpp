// error: allot: a preset cannot stand in a preset; list its policies instead
#include <allot/preset/crynux_single.hpp>

struct Mine {
    using role = allot::role::preset;
    auto policies() const { return std::tuple{allot::preset::CrynuxSingle{}, allot::LinearPool{}}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

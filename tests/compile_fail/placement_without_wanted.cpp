// error: allot: a model placement needs `auto wanted.const ModelDemand&. const -> Wanted`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Placement {
    auto wanted(const allot::ModelDemand&) const -> int { return 1; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

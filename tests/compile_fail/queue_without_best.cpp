// error: allot: a task queue needs `auto best.std::span<const RequirementId> groups, fits. const -> std::optional<TaskHandle>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    auto best(std::span<const allot::RequirementId>) const -> std::optional<allot::TaskHandle> { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

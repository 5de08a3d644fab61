// error: allot: a task queue needs `auto worst_of.RequirementId group. const -> std::optional<TaskHandle>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    auto worst_of() const -> std::optional<allot::TaskHandle> { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

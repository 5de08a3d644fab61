// error: allot: a task queue needs `auto worst.. const -> std::optional<TaskHandle>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    auto worst() const -> allot::TaskHandle { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

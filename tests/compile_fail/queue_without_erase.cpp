// error: allot: a task queue needs `void erase.const QueueEntry&.`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    void erase(allot::TaskHandle) {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

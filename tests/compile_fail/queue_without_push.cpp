// error: allot: a task queue needs `void push.const QueueEntry&.`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    void push(allot::TaskHandle) {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

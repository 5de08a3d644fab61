// error: allot: a task queue needs `auto size.. const -> std::uint32_t` and `auto capacity.std::uint32_t nodes. const
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    void size() const {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

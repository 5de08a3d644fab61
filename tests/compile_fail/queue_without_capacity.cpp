// error: allot: a task queue needs `auto size.. const -> std::uint32_t` and `auto capacity.std::uint32_t nodes. const
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Queue {
    auto capacity() const -> std::uint32_t { return 1; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

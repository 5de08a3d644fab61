// error: allot: a candidate pool needs `auto draw.const SamplingFrame&, weigh, Random&. const -> std::optional<Draw>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Pool {
    void draw() const {}
};

auto dispatcher = allot::Dispatcher{Mine{}};

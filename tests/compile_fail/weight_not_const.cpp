// error: allot: a weight policy needs `auto weight.const Node&, const Task&, Factors. const -> Weight`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Weight {
    auto weight(const allot::Node&, const allot::Task&, allot::Factors) -> allot::Weight { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

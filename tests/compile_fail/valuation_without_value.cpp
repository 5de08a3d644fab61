// error: allot: a task valuation needs `auto value.const Task&, const Requirement&. const -> Value`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Valuation {
    auto value(const allot::Task&) const -> allot::Value { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

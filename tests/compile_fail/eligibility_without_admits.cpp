// error: allot: an eligibility policy needs `auto admits.const Node&, const Task&, const Situation&. const -> Reason`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Eligibility {
    auto admits(const allot::Node&, const allot::Task&) const -> allot::Reason { return allot::Reason::none; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

// error: allot: an eligibility policy needs `auto fits.const NodeClass&, const Requirement&. const -> Reason`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Eligibility {
    auto fits(const allot::NodeClass&, const allot::Requirement&) const -> bool { return true; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

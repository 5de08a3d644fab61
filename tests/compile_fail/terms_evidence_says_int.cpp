// error: allot: lease terms with `waits_for_evidence` need `auto waits_for_evidence.OutcomeKind. const -> bool`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Terms {
    auto waits_for_evidence(allot::OutcomeKind) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};

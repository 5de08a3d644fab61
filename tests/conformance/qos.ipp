// The claims of every QoS tracker. ALLOT_MODEL names the tracker.
#include <cstdint>

#include <allot/laws/bounded.hpp>
#include <allot/laws/drawable.hpp>
#include <allot/laws/faithful.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::qos_tracker<ALLOT_MODEL>);

ALLOT_CLAIM("keeps the laws of a QoS tracker") {
    for (std::uint64_t i = 0; i < 5; ++i) { ALLOT_KEEPS(allot::laws::bounded(ALLOT_MODEL{}, support::seed() + i)); }
}

ALLOT_CLAIM("leaves no node both undrawable and unchangeable") {
    for (std::uint64_t i = 0; i < 5; ++i) { ALLOT_KEEPS(allot::laws::drawable(ALLOT_MODEL{}, support::seed() + i)); }
}

/// The score to which a returning node is lifted; zero for a tracker without such a floor.
template <class Tracker>
auto floor_of(const Tracker& tracker) -> allot::Score {
    if constexpr (requires { tracker.parameters().rejoin_floor; }) {
        return tracker.parameters().rejoin_floor;
    } else if constexpr (requires { tracker.service(); }) {
        return floor_of(tracker.service());
    } else {
        return allot::Score::zero();
    }
}

ALLOT_CLAIM("keeps the history of a node: leaving, joining and declining cure nothing") {
    for (std::uint64_t i = 0; i < 5; ++i) {
        ALLOT_KEEPS(allot::laws::faithful(ALLOT_MODEL{}, floor_of(ALLOT_MODEL{}), support::seed() + i));
    }
}

// What every QoS tracker does. ALLOT_MODEL names it.
#include <cstdint>

#include <allot/policy/laws/bounded.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::qos_tracker<ALLOT_MODEL>);

ALLOT_CLAIM("keeps the laws of a QoS tracker") {
    for (std::uint64_t i = 0; i < 5; ++i) {
        ALLOT_KEEPS(allot::laws::bounded(ALLOT_MODEL{}, support::seed() + i));
    }
}

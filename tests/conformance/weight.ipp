// The claims of every weight that declares itself monotone. ALLOT_MODEL names the weight.
#include <cstdint>

#include <allot/laws/monotone.hpp>
#include <allot/laws/pure.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::monotone_weight<ALLOT_MODEL>);

ALLOT_CLAIM("is pure, whatever else was asked of it") {
    ALLOT_KEEPS(allot::laws::pure(ALLOT_MODEL{}, support::seed()));
}

ALLOT_CLAIM("keeps the law of a monotone weight") {
    for (std::uint64_t i = 0; i < 5; ++i) { ALLOT_KEEPS(allot::laws::monotone(ALLOT_MODEL{}, support::seed() + i)); }
}

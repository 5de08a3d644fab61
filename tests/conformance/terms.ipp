// The claims of all lease terms. ALLOT_MODEL names them.
#include <allot/laws/pure.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::lease_terms<ALLOT_MODEL>);

ALLOT_CLAIM("are pure, and positive") { ALLOT_KEEPS(allot::laws::positive(ALLOT_MODEL{}, support::seed())); }

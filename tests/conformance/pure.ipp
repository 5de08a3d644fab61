// The claims of every eligibility policy and every model placement. ALLOT_MODEL names the model.
#include <cstdint>

#include <allot/laws/pure.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::eligibility<ALLOT_MODEL> || allot::model_placement<ALLOT_MODEL>);

ALLOT_CLAIM("is pure") { ALLOT_KEEPS(allot::laws::pure(ALLOT_MODEL{}, support::seed())); }

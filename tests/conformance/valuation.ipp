// The claims of every task valuation. ALLOT_MODEL names the valuation.
#include <allot/laws/pure.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

static_assert(allot::task_valuation<ALLOT_MODEL>);

ALLOT_CLAIM("gives rationals that compare exactly") {
    ALLOT_KEEPS(allot::laws::rational(ALLOT_MODEL{}, support::seed()));
}

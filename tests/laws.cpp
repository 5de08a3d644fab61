#include <allot/eligibility/hardware_fit.hpp>
#include <allot/laws.hpp>
#include <allot/placement/threshold_placement.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/valuation/fee_per_second.hpp>
#include <allot/weight/harmonic_weight.hpp>

#include "support/catch.hpp"

TEST_CASE("one header has a law for each role, and the defaults keep them") {
    namespace laws = allot::laws;
    CHECK_FALSE(laws::pure(allot::HardwareFit{}));
    CHECK_FALSE(laws::pure(allot::HarmonicWeight{}));
    CHECK_FALSE(laws::monotone(allot::HarmonicWeight{}));
    CHECK_FALSE(laws::reversible(allot::GpuGroupPool{}));
    CHECK_FALSE(laws::ordered(allot::ValueQueue{}));
    CHECK_FALSE(laws::bounded(allot::RollingQos{}));
    CHECK_FALSE(laws::rational(allot::FeePerSecond{}));
    CHECK_FALSE(laws::pure(allot::ThresholdPlacement{}));
    CHECK_FALSE(laws::positive(allot::FixedTerms{}));
}

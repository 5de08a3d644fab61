#include <allot/weight/harmonic_weight.hpp>

#define ALLOT_MODEL allot::HarmonicWeight
#include "conformance/weight.ipp"

namespace {

using allot::Factors;
using allot::Score;
using allot::StakeRoot;
using allot::Weight;

auto weight(const Factors& factors) -> Weight { return allot::HarmonicWeight{}.weight({}, {}, factors); }
auto factors(unsigned stake, unsigned largest, Score qos) -> Factors {
    return {StakeRoot::from(stake), StakeRoot::from(largest), qos};
}
constexpr auto half = Score::from_ratio(1, 2);

}  // namespace

TEST_CASE("weights are half the harmonic mean of staking and QoS score") {
    CHECK(weight(factors(400, 400, Score::one())) == Weight::from_ratio(1, 2));
    CHECK(weight(factors(100, 400, half)) == Weight::from_ratio(1, 4));  // S = 0.5
    CHECK(weight(factors(400, 1'600, half)) == Weight::from_ratio(1, 4));
    CHECK(weight(factors(400, 400, half)) == Weight::from_ratio(1, 3));
    CHECK(weight(factors(1, 16, Score::one())) == Weight::from_ratio(1, 5));  // S = 0.25
}

TEST_CASE("no stake or no service gives no weight") {
    CHECK(weight(factors(0, 400, Score::one())).is_zero());
    CHECK(weight(factors(0, 0, Score::one())).is_zero());
    CHECK(weight(factors(400, 400, Score::zero())).is_zero());
}

TEST_CASE("the boost of models multiplies the weight: 1.35, 1.85 and 2 times") {
    auto f = factors(400, 400, Score::one());
    f.boost_den = 20;
    f.boost_num = 27;
    CHECK(weight(f) == Weight::from_ratio(27, 40));
    f.boost_num = 37;
    CHECK(weight(f) == Weight::from_ratio(37, 40));
    f.boost_num = 40;
    CHECK(weight(f) == Weight::from_ratio(1, 1));
}

TEST_CASE("a wealthy node that serves badly stays unlikely, and so does a poor one that serves well") {
    const auto badly = weight(factors(1'000'000, 1'000'000, Score::from_ratio(1, 100)));
    const auto poor = weight(factors(100, 1'000'000, Score::one()));  // S = 0.01
    CHECK(badly < Weight::from_ratio(1, 100));
    CHECK(poor < Weight::from_ratio(1, 100));
}

#include <allot/weight/quality_weight.hpp>

#define ALLOT_MODEL allot::QualityWeight
#include "conformance/weight.ipp"

namespace {

using allot::Factors;
using allot::Score;
using allot::StakeRoot;
using allot::Weight;

auto weight(Score qos, std::uint64_t num, std::uint64_t den, unsigned stake = 400) -> Weight {
    return allot::QualityWeight{}.weight({}, {}, Factors{StakeRoot::from(stake), StakeRoot::from(400U), qos, num, den});
}
constexpr auto half = Score::from_ratio(1, 2);

}  // namespace

TEST_CASE("the weight is the score times the boost") {
    CHECK(weight(half, 1, 1) == Weight::from_ratio(1, 2));
    CHECK(weight(half, 17, 10).raw() == Weight::from_ratio(1, 2).raw() * 17U / 10U);
    CHECK(weight(Score::one(), 2, 1) == Weight::from_ratio(2, 1));
}

TEST_CASE("stake counts for nothing beside the score") {
    CHECK(weight(half, 1, 1, 400) == weight(half, 1, 1, 1));
    CHECK(weight(Score::zero(), 2, 1).is_zero());
}

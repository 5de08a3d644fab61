#include <allot/weight/contract_weight.hpp>

#define ALLOT_MODEL allot::ContractWeight
#include "conformance/weight.ipp"

namespace {

using allot::Factors;
using allot::Score;
using allot::StakeRoot;
using allot::Weight;

auto weight(Score qos, std::uint64_t models, std::uint64_t of, unsigned stake = 400) -> Weight {
    return allot::ContractWeight{}.weight({}, {},
                                          Factors{StakeRoot::from(stake), StakeRoot::from(400U), qos, of + models, of});
}
constexpr auto half = Score::from_ratio(1, 2);

}  // namespace

TEST_CASE("among holders the weight is the score times the number of models held") {
    CHECK(weight(half, 3, 3) == Weight::from_ratio(1, 2));
    CHECK(weight(half, 1, 2) == Weight::from_ratio(1, 4));
    CHECK(weight(half, 2, 4).raw() == weight(half, 1, 4).raw() * 2U);
}

TEST_CASE("where nobody holds a model the score alone decides") {
    CHECK(weight(Score::one(), 0, 3).raw() == weight(half, 0, 3).raw() * 2U);
    CHECK(weight(half, 0, 3) == weight(half, 0, 1));
    CHECK(weight(Score::one(), 0, 64) < weight(Score::one(), 1, 64));
}

TEST_CASE("stake counts for nothing, a score of zero for never") {
    CHECK(weight(half, 1, 1, 400) == weight(half, 1, 1, 1));
    CHECK(weight(Score::zero(), 1, 1).is_zero());
}

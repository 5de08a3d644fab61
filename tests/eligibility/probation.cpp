#include <allot/eligibility/probation.hpp>

#define ALLOT_MODEL allot::Probation
#include "conformance/pure.ipp"

namespace {

using allot::Probation;
using allot::Reason;

auto admits(const Probation& policy, unsigned fee, bool proven) -> Reason {
    auto task = allot::Task{};
    task.fee = fee;
    return policy.admits({}, task, {{}, {}, {}, false, false, proven});
}

}  // namespace

TEST_CASE("a node on probation is given tasks up to a fee, a proven one any") {
    const auto policy = Probation{{.fee_max = 50}};
    CHECK(admits(policy, 50, false) == Reason::none);
    CHECK(admits(policy, 51, false) == Reason::unproven);
    CHECK(admits(policy, 51, true) == Reason::none);
    CHECK(admits(Probation{}, 4'000'000'000, false) == Reason::none);
    CHECK(policy.fits({}, {}) == Reason::none);
}

TEST_CASE("a fee that no task may pay is no bound") {
    CHECK(allot::ProbationParameters{}.valid());
    CHECK_FALSE(allot::ProbationParameters{.fee_max = allot::u128{1} << 96}.valid());
}

#include <cstdint>
#include <random>
#include <stdexcept>

#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/collateral.hpp>
#include <allot/eligibility/hardware_fit.hpp>
#include <allot/eligibility/probation.hpp>

#define ALLOT_MODEL allot::Collateral
#include "conformance/pure.ipp"
#include "support/catch.hpp"

namespace {

using allot::AllOf;
using allot::Amount;
using allot::Collateral;
using allot::CollateralParameters;
using allot::HardwareFit;
using allot::Reason;
using allot::u128;

const auto most = Amount{(u128{1} << 96) - u128{1}};

/// The reason of a policy against a node of this stake and a task of this fee.
auto reason(const auto& policy, Amount stake, Amount fee) -> Reason {
    auto node = allot::Node{};
    node.stake = stake;
    auto task = allot::Task{};
    task.fee = fee;
    const auto node_class = allot::NodeClass{};
    const auto requirement = allot::Requirement{};
    return policy.admits(node, task, {{}, node_class, requirement, false, false});
}
auto admits(const CollateralParameters& parameters, Amount stake, Amount fee) -> bool {
    return reason(Collateral{parameters}, stake, fee) == Reason::none;
}

}  // namespace

TEST_CASE("a stake covers a fee exactly up to the ratio") {
    CHECK(admits({.stake_per_fee = 10}, 100, 10));
    CHECK_FALSE(admits({.stake_per_fee = 10}, 99, 10));
    CHECK(admits({.stake_per_fee = 10}, 0, 0));
    CHECK_FALSE(admits({.stake_per_fee = {1, 1'000'000}}, 0, 1));
    CHECK(admits({.stake_per_fee = {1, 3}}, 1, 3));
    CHECK_FALSE(admits({.stake_per_fee = {1, 3}}, 1, 4));
    CHECK(admits({}, 0, most));
    CHECK(admits({.stake_per_fee = 1}, most, most));
    CHECK_FALSE(admits({.stake_per_fee = 0xFFFF'FFFFU}, most, most));
    CHECK(admits({.stake_per_fee = {0xFFFF'FFFFU, 0xFFFF'FFFFU}}, most, most));
}

TEST_CASE("the greatest fee is what a large stake covers, for any stake and ratio") {
    CHECK(Collateral{}.fee_max() == most);
    CHECK(Collateral{{.stake_per_fee = 10, .stake_max = 1'009}}.fee_max() == Amount{100});
    CHECK(Collateral{{.stake_per_fee = {1, 1'000}, .stake_max = most}}.fee_max() == most);
    CHECK(Collateral{{.stake_per_fee = 1, .stake_max = 0}}.fee_max() == Amount{0});
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        auto parameters = CollateralParameters{};
        parameters.stake_per_fee = {static_cast<std::uint32_t>(random() >> (32 + random() % 32)),
                                    1 + static_cast<std::uint32_t>(random() % 1'000)};
        parameters.stake_max = (u128{random()} << static_cast<int>(random() % 32)) >> static_cast<int>(random() % 90);
        const auto fee = Collateral{parameters}.fee_max();
        REQUIRE(fee <= most);
        REQUIRE(admits(parameters, parameters.stake_max, fee));
        if (fee < most) { REQUIRE_FALSE(admits(parameters, parameters.stake_max, fee.units + u128{1})); }
    }
}

TEST_CASE("several policies refuse what one of them refuses") {
    const auto all = AllOf{HardwareFit{}, Collateral{{.stake_per_fee = 2, .stake_max = 100}},
                           Collateral{{.stake_per_fee = 3, .stake_max = 120}}};
    CHECK(all.fee_max() == Amount{40});
    static_assert(decltype(all)::admits_by_stake);
    static_assert(!AllOf<HardwareFit, allot::Probation>::admits_by_stake);
    static_assert(!allot::has_fee_max<AllOf<HardwareFit, allot::Probation>>);
    CHECK(reason(all, 29, 10) == Reason::stake_too_small);
    CHECK(reason(all, 30, 10) == Reason::none);
}

TEST_CASE("parameters without sense are not valid") {
    CHECK(CollateralParameters{}.valid());
    CHECK_FALSE(CollateralParameters{.stake_per_fee = {1, 0}}.valid());
    CHECK_FALSE(CollateralParameters{.stake_max = u128{1} << 96}.valid());
    CHECK_THROWS_AS((Collateral{CollateralParameters{.stake_per_fee = {1, 0}}}), std::invalid_argument);
    auto policy = Collateral{};
    CHECK_THROWS_AS(policy.configure(CollateralParameters{.stake_per_fee = allot::Ratio(1, 0)}), std::invalid_argument);
    policy.configure({.stake_per_fee = 5});
    CHECK(policy.parameters().stake_per_fee == allot::Ratio{5});
}

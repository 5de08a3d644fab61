#include <tuple>

#include "support/catch.hpp"
#include "support/presets.hpp"

namespace {

/// True when every policy of the preset that has parameters has valid ones.
template <class Preset>
auto valid() -> bool {
    const auto one = [](const auto& policy) {
        if constexpr (requires { policy.parameters().valid(); }) {
            return policy.parameters().valid();
        } else {
            return true;
        }
    };
    return std::apply([&](const auto&... policies) { return (one(policies) && ...); }, Preset{}.policies());
}

}  // namespace

TEST_CASE("the presets of Crynux's generations have valid parameters") {
    CHECK(valid<allot::preset::CrynuxRelay2026>());
    CHECK(valid<allot::preset::CrynuxTrio>());
    CHECK(valid<allot::preset::CrynuxContracts1>());
    CHECK(valid<allot::preset::CrynuxContracts2>());
}

TEST_CASE("the generations differ where their tables say") {
    const auto relay = allot::preset::CrynuxRelay2026{}.policies();
    CHECK(std::get<allot::Rules>(relay).parameters().narrowing == allot::Narrowing::gate);
    CHECK(std::get<allot::ValueQueue>(relay).capacity(0) == 0xFFFF'FFFFU);
    CHECK_FALSE(std::get<allot::RollingQos>(relay).parameters().timeout_scores_zero);
    const auto first = allot::preset::CrynuxContracts1{}.policies();
    const auto second = allot::preset::CrynuxContracts2{}.policies();
    CHECK(std::get<allot::ContractQos>(first).points_max() == 20);
    CHECK(std::get<allot::ContractQos>(second).points_max() == 10);
    CHECK(std::get<allot::ValueQueue>(second).capacity(1'000'000) == 50);
    CHECK(std::get<allot::ThresholdPlacement>(first).wanted({0}).copies == 0);
    CHECK(std::get<allot::ThresholdPlacement>(second).wanted({0}).copies == 10);
}

#include <cstdint>
#include <random>

#include <allot/weight/linear_weight.hpp>

#define ALLOT_MODEL allot::LinearWeight
#include "conformance/weight.ipp"

namespace {

using allot::Factors;
using allot::LinearWeight;
using allot::Score;
using allot::u128;
using allot::Weight;

auto weight(u128 stake, u128 cap, Score qos = Score::one(), std::uint64_t num = 1, std::uint64_t den = 1,
            allot::StakeRoot largest = {}) -> Weight {
    auto node = allot::Node{};
    node.stake = allot::Amount{stake};
    return LinearWeight{{.stake_cap = allot::Amount{cap}}}.weight(node, {}, Factors{{}, largest, qos, num, den});
}

constexpr auto most = (u128{1} << 96) - u128{1};

}  // namespace

TEST_CASE("the weight is stake over cap, times the score and the boost") {
    CHECK(weight(1, 2) == Weight::from_ratio(1, 2));
    CHECK(weight(250, 1'000, Score::from_ratio(1, 2), 17, 10) == Weight::from_ratio(17, 80));
    CHECK(weight(7, 1'000'003) == Weight::from_ratio(7, 1'000'003));
    CHECK(weight(0, 10).is_zero());
    CHECK(weight(5, 10, Score::zero()).is_zero());
}

TEST_CASE("a score above the cap counts as the cap, and holders need as much less") {
    const auto capped = LinearWeight{{.stake_cap = 10, .holder_caps = 3, .score_cap = Score::from_ratio(1, 2)}};
    auto node = allot::Node{};
    node.stake = 10;
    const auto at = [&](Score score) { return capped.weight(node, {}, Factors{{}, {}, score, 1, 1}); };
    CHECK(at(Score::one()) == Weight::from_ratio(1, 2));
    CHECK(at(Score::from_ratio(1, 2)) == Weight::from_ratio(1, 2));
    CHECK(at(Score::from_ratio(1, 4)) == Weight::from_ratio(1, 4));
    CHECK(at(Score::zero()).is_zero());
    CHECK(capped.holder_weight_min() == Weight::from_ratio(3, 2));
    CHECK(LinearWeight{{.holder_caps = 3}}.holder_weight_min() == Weight::from_ratio(3, 1));
    CHECK_FALSE(allot::LinearWeightParameters{.score_cap = Score::zero()}.valid());
    auto node2 = node;
    node2.stake = 1;  // the smallest part of a weight is positive with the smallest cap, too
    CHECK_FALSE(LinearWeight{{.stake_cap = most, .score_cap = Score::from_raw(1)}}
                    .weight(node2, {}, Factors{{}, {}, Score::one(), 1, 1})
                    .is_zero());
}

TEST_CASE("more than the cap counts as the cap, whoever else has how much") {
    CHECK(weight(1'000, 1'000) == weight(most, 1'000));
    CHECK(weight(most, most) >= Weight::from_ratio(1, 1));
    CHECK(weight(3, 10, Score::one(), 1, 1, allot::StakeRoot::from(3U)) ==
          weight(3, 10, Score::one(), 1, 1, allot::StakeRoot::from(most)));
}

TEST_CASE("two stakes weigh what their sum does, within their roundings") {
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto any = [&] {
            return (u128::from_parts(random(), random()) >> 33) >> static_cast<int>(random() % 95);
        };
        const auto a = any();
        const auto b = any();
        const auto cap = a + b + any() + u128{1};
        const auto apart = weight(a, cap).raw() + weight(b, cap).raw();
        const auto together = weight(a + b, cap).raw();
        REQUIRE(apart <= together + u128{2});  // a positive weight is a unit at least
        REQUIRE(together <= apart + u128{2});
        REQUIRE(weight(a, cap) <= weight(a + u128{1}, cap));
    }
}

TEST_CASE("an operator's nodes share so many caps") {
    const auto counts = [](std::uint64_t stake, std::uint64_t sum) {
        auto node = allot::Node{};
        node.stake = stake;
        return LinearWeight{{.stake_cap = 1'000, .operator_caps = 4}}.weight(
            node, {}, Factors{{}, {}, Score::one(), 1, 1, u128{sum}});
    };
    CHECK(counts(100, 4'000) == Weight::from_ratio(1, 10));
    CHECK(counts(100, 8'000) == Weight::from_ratio(1, 20));
    CHECK(counts(1'000, 10'000).raw() + u128{4} >= Weight::from_ratio(4, 10).raw());
    CHECK(counts(1'000, 10'000) <= Weight::from_ratio(4, 10));
    CHECK(counts(10'000, 10'000) == Weight::from_ratio(1, 1));  // one node is no more than one cap, and no less
    CHECK(counts(9'000, 10'000) == Weight::from_ratio(1, 1));
    CHECK(counts(0, 10'000).is_zero());
    CHECK(counts(500, 0) == Weight::from_ratio(1, 2));  // nothing was said of the operator
    CHECK(LinearWeight{{.operator_caps = 4}}.by_operator());
    CHECK_FALSE(LinearWeight{}.by_operator());
}

TEST_CASE("the weight by operator keeps the law of a monotone weight") {
    for (std::uint64_t i = 0; i < 5; ++i) {
        const auto finding = allot::laws::monotone(
            LinearWeight{{.stake_cap = allot::u128{1} << 50, .operator_caps = 4}}, support::seed() + i);
        INFO(finding.value_or(""));
        CHECK_FALSE(finding.has_value());
    }
}

TEST_CASE("a small stake beside a huge cap keeps its share") {
    const auto cap = most;
    const auto one = weight(u128{1} << 60, cap).raw();
    const auto three = weight(u128{3} << 60, cap).raw();
    CHECK(three >= one * 3U);
    CHECK(three <= one * 3U + u128{3});
    CHECK_FALSE(weight(1, cap).is_zero());
}

TEST_CASE("a cap of nothing is not valid") {
    CHECK(allot::LinearWeightParameters{}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.stake_cap = 0}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.operator_caps = 0}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.stake_cap = u128{1} << 96}.valid());
}

TEST_CASE("holders weigh as many caps as the parameters say") {
    CHECK(LinearWeight{}.holder_weight_min().is_zero());
    const auto least = LinearWeight{{.stake_cap = 1'000, .holder_caps = {3, 4}}}.holder_weight_min();
    CHECK(least == Weight::from_ratio(3, 4));
    CHECK(allot::LinearWeightParameters{.holder_caps = 15}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.holder_caps = {151, 10}}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.holder_caps = {1, 0}}.valid());
    CHECK_FALSE(allot::LinearWeightParameters{.holder_caps = {0xFFFF'FFFF, 0x7FFF'FFFF / 8}}.valid());
}

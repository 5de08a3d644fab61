#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <allot/reward/incentive.hpp>
#include <allot/reward/service_scores.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using allot::incentive_score;
using allot::RewardError;
using allot::Score;
using allot::TaskScores;

}  // namespace

TEST_CASE("R is the VRAM over the largest of the network") {
    CHECK(allot::vram_score(24, 24) == Score::one());
    CHECK(allot::vram_score(12, 24) == Score::from_ratio(1, 2));
    CHECK(allot::vram_score(std::uint64_t{8} << 30U, std::uint64_t{80} << 30U) == Score::from_ratio(1, 10));
    CHECK(allot::vram_score(0, 24).error() == RewardError::vram_zero);
    CHECK(allot::vram_score(25, 24).error() == RewardError::vram_exceeds_largest);
}

TEST_CASE("P is one at the least timeout and zero at the longest") {
    CHECK(allot::timeout_score(60s, 60s, 300s) == Score::one());
    CHECK(allot::timeout_score(300s, 60s, 300s) == Score::zero());
    CHECK(allot::timeout_score(180s, 60s, 300s) == Score::from_ratio(1, 2));
    CHECK(allot::timeout_score(60s, 60s, 60s) == Score::one());  // rule 21
    CHECK(allot::timeout_score(59'999ms, 60s, 300s).error() == RewardError::timeout_too_short);
    CHECK(allot::timeout_score(0s, 0s, 300s).error() == RewardError::timeout_too_short);
    CHECK(allot::timeout_score(301s, 60s, 300s).error() == RewardError::timeout_exceeds_longest);
}

TEST_CASE("B is the mean task score over the highest, and nothing without samples") {
    auto own = TaskScores{};
    CHECK(allot::speed_score(own, {}) == std::nullopt);
    auto best = TaskScores{};
    best.add(20);  // first in both rounds
    CHECK(allot::speed_score(own, best) == std::nullopt);
    own.add(12);
    own.add(0);  // let a task go by
    CHECK(own == TaskScores{12, 2});
    CHECK(allot::speed_score(own, best) == Score::from_ratio(6, 20));
    CHECK(allot::speed_score(best, best) == Score::one());
    CHECK(allot::speed_score({0, 3}, best) == Score::zero());
    CHECK(allot::speed_score({0, 3}, {0, 5}) == std::nullopt);  // rule 21
    CHECK(allot::speed_score({21, 1}, best).error() == RewardError::score_exceeds_highest);
    CHECK(allot::speed_score({1, 1}, {0, 5}).error() == RewardError::score_exceeds_highest);
    CHECK(allot::speed_score({1, 1}, {}).error() == RewardError::score_exceeds_highest);
    constexpr auto most = std::uint32_t{0xFFFF'FFFF};
    CHECK(allot::speed_score({most, most}, {most, 1}) == Score::from_ratio(1, most));
}

TEST_CASE("an incentive weight is the weighted mean of R, P and B") {
    const auto half = Score::from_ratio(1, 2);
    const auto scores = allot::ServiceScores{Score::one(), half, Score::zero()};
    CHECK(incentive_score(scores) == half);
    CHECK(incentive_score(scores, {.vram = 1, .timeout = 0, .speed = 0}) == Score::one());
    CHECK(incentive_score(scores, {.vram = 1, .timeout = 2, .speed = 5}) == Score::from_ratio(2, 8));
    CHECK(incentive_score(scores, {.vram = 0, .timeout = 0, .speed = 0}).error() == RewardError::weights_invalid);
    constexpr auto most = std::uint32_t{0xFFFF'FFFF};
    CHECK(incentive_score({Score::one(), Score::one(), Score::one()}, {most, most, most}) == Score::one());
    CHECK(incentive_score({half, half, {}}) == Score::from_ratio(1, 3));  // did nothing, earns nothing for it
    CHECK(incentive_score({half, half, {}}, {.speed_unknown = half}) == half);
}

TEST_CASE("every reason has a sentence of its own") {
    auto sentences = std::vector<std::string_view>{};
    for (std::uint16_t number = 0; number < 100; ++number) {
        const auto text = message(static_cast<RewardError>(number));
        if (text == "unknown error") { continue; }
        CHECK(std::find(sentences.begin(), sentences.end(), text) == sentences.end());
        sentences.push_back(text);
    }
    CHECK(sentences.size() == 13);
}

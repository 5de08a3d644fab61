#include <cstdint>
#include <vector>

#include <allot/reward/fee_split.hpp>
#include <allot/reward/submission_rounds.hpp>

#include "support/catch.hpp"

namespace {

using allot::RewardError;
using Round = allot::SubmissionRounds::Round;
using Scores = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("who submits earlier scores more, round by round") {
    auto rounds = allot::SubmissionRounds{3};
    CHECK_FALSE(rounds.counts());
    CHECK(rounds.submitted(Round::commitment, 2).value() == 10);
    CHECK(rounds.submitted(Round::commitment, 0).value() == 9);
    CHECK(rounds.submitted(Round::disclosure, 0).value() == 10);
    CHECK(rounds.submitted(Round::commitment, 1).value() == 6);
    CHECK(rounds.submitted(Round::disclosure, 2).value() == 9);
    CHECK(rounds.counts());
    CHECK(rounds.scores() == Scores{19, 6, 19});  // the second member never disclosed
}

TEST_CASE("a fee is divided by submission speed") {
    auto rounds = allot::SubmissionRounds{3};
    for (const auto member : {1U, 0U, 2U}) {
        (void)rounds.submitted(Round::commitment, member).value();
        (void)rounds.submitted(Round::disclosure, member).value();
    }
    const auto split = allot::split_fee(100, rounds.scores()).value();  // 18, 20 and 12 of 50
    CHECK(split.paid == std::vector<allot::Amount>{36, 40, 24});
}

TEST_CASE("a submission that cannot be is refused and changes nothing") {
    auto rounds = allot::SubmissionRounds{2};
    (void)rounds.submitted(Round::commitment, 0).value();
    CHECK(rounds.submitted(Round::commitment, 0).error() == RewardError::already_submitted);
    CHECK(rounds.submitted(Round::disclosure, 2).error() == RewardError::member_unknown);
    CHECK(rounds.submitted(Round::commitment, 1).value() == 9);
    CHECK(rounds.scores() == Scores{10, 9});
}

TEST_CASE("of a larger gang all who come late score the last") {
    auto rounds = allot::SubmissionRounds{5, {4, 1}};
    for (auto member = 0U; member < 5; ++member) { (void)rounds.submitted(Round::commitment, member).value(); }
    CHECK(rounds.scores() == Scores{4, 1, 1, 1, 1});
}

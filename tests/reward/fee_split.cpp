#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/reward/fee_split.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Amount;
using allot::Remainder;
using allot::RewardError;
using allot::split_fee;
using boost::multiprecision::cpp_int;
using Scores = std::vector<std::uint32_t>;

constexpr auto largest = allot::FeeSplitParameters{.remainder = Remainder::largest_fraction};

auto wide(Amount amount) -> cpp_int { return (cpp_int{amount.units.high()} << 64U) + amount.units.low(); }

auto amounts(const std::vector<std::uint64_t>& counts) -> std::vector<Amount> { return {counts.begin(), counts.end()}; }

auto refused(Amount fee, const Scores& scores, const allot::FeeSplitParameters& parameters = {}) -> RewardError {
    const auto split = split_fee(fee, scores, parameters);
    REQUIRE_FALSE(split.has_value());
    CHECK_FALSE(message(split.error()).empty());
    return split.error();
}

/// What is paid, by the definition: rounded down, then the units that are left one by one.
auto by_definition(const cpp_int& fee, const Scores& scores, Remainder remainder) -> std::vector<cpp_int> {
    const auto sum = std::accumulate(scores.begin(), scores.end(), cpp_int{0});
    auto paid = std::vector<cpp_int>{};
    auto left = fee;
    for (const auto score : scores) {
        paid.push_back(fee * score / sum);
        left -= paid.back();
    }
    auto served = std::vector<bool>(scores.size());
    for (; left > 0; --left) {
        auto best = scores.size();
        for (std::size_t i = 0; i < scores.size(); ++i) {
            if (scores[i] == 0 || served[i]) { continue; }
            const auto better = remainder == Remainder::last_paid || best == scores.size() ||
                                fee * scores[i] % sum > fee * scores[best] % sum;
            if (better) { best = i; }
        }
        ++paid[best];
        served[best] = remainder == Remainder::largest_fraction;
    }
    return paid;
}

auto check(Amount fee, const Scores& scores) -> void {
    CAPTURE(to_decimal(fee.units), scores);
    for (const auto remainder : {Remainder::last_paid, Remainder::largest_fraction}) {
        const auto split = split_fee(fee, scores, {.remainder = remainder});
        REQUIRE(split.has_value());
        CHECK(split->refund == Amount{});
        const auto expected = by_definition(wide(fee), scores, remainder);
        REQUIRE(split->paid.size() == scores.size());
        auto sum = cpp_int{0};
        for (std::size_t i = 0; i < scores.size(); ++i) {
            REQUIRE(wide(split->paid[i]) == expected[i]);
            sum += expected[i];
            if (scores[i] == 0) { REQUIRE(split->paid[i] == Amount{}); }
        }
        REQUIRE(sum == wide(fee));
        for (std::size_t i = 0; i < scores.size(); ++i) {
            for (std::size_t j = 0; j < scores.size(); ++j) {
                if (scores[i] <= scores[j]) { continue; }
                const auto slack = remainder == Remainder::last_paid ? scores.size() - 1 : 0;
                REQUIRE(expected[i] + slack >=
                        expected[j]);  // more for a higher score, but for the units of the rounding
            }
        }
    }
}

}  // namespace

TEST_CASE("a fee of 100 at scores of 10, 5 and 2 pays 58, 29 and 13") {
    CHECK(split_fee(100, Scores{10, 5, 2})->paid == amounts({58, 29, 13}));
    CHECK(split_fee(100, Scores{10, 5, 2}, largest)->paid == amounts({59, 29, 12}));  // 58.82, 29.41, 11.76
    CHECK(split_fee(100, Scores{10, 9, 6})->paid == amounts({40, 36, 24}));           // the contracts' scores
    CHECK(split_fee(101, Scores{5, 0, 0})->paid == amounts({101, 0, 0}));
    CHECK(split_fee(7, Scores{3})->paid == amounts({7}));
    CHECK(split_fee(0, Scores{10, 5, 2})->paid == amounts({0, 0, 0}));
    CHECK(split_fee(2, Scores{10, 5, 2})->paid == amounts({1, 0, 1}));  // why there is a choice of remainder
    CHECK(split_fee(2, Scores{10, 5, 2}, largest)->paid == amounts({1, 1, 0}));
}

TEST_CASE("parts make up the fee and follow the definition for every small fee and score") {
    for (std::uint32_t fee = 0; fee <= 25; ++fee) {
        for (std::uint32_t code = 1; code < 125; ++code) { check(fee, {code % 5, code / 5 % 5, code / 25}); }
    }
}

TEST_CASE("parts make up the fee and follow the definition for large ones") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 2'000; ++i) {
        auto scores = Scores(1 + random() % 6U);
        for (auto& score : scores) { score = static_cast<std::uint32_t>(random() >> (random() % 64U)); }
        scores[random() % scores.size()] |= 1U;
        check(allot::u128::from_parts(random() >> 32U, random()) >> (random() % 96U), scores);
    }
    check(allot::u128::max() >> 32U, Scores(5, 0xFFFF'FFFFU));
}

TEST_CASE("of a fixed whole, what nobody earned goes back") {
    const auto contract = allot::FeeSplitParameters{.whole = 50};  // two rounds of 10, 9 and 6
    CHECK(split_fee(1'000, Scores{20, 18, 12}, contract)->paid == amounts({400, 360, 240}));
    const auto all = split_fee(51, Scores{20, 18, 12}, contract);
    CHECK(all->paid == amounts({20, 18, 13}));  // 20.4, 18.4, 12.2
    CHECK(all->refund == Amount{});
    const auto two = split_fee(1'003, Scores{20, 18}, contract);
    CHECK(two->paid == amounts({401, 361}));
    CHECK(two->refund == Amount{241});
    const auto none = split_fee(1'000, Scores{0, 0, 0}, contract);
    CHECK(none->paid == amounts({0, 0, 0}));
    CHECK(none->refund == Amount{1'000});
}

TEST_CASE("a split that cannot be is refused with a reason") {
    CHECK(refused(100, {}) == RewardError::no_members);
    CHECK(refused(100, {0, 0}) == RewardError::nothing_scored);
    CHECK(refused(100, {26, 25}, {.whole = 50}) == RewardError::scores_exceed_whole);
    CHECK(refused(allot::u128{1} << 96, {1}) == RewardError::amount_overflow);
}

TEST_CASE("a payment is shared with the network and the delegators, to the last unit") {
    CHECK(allot::share_payment(101, 0, 0) == allot::PaymentShares{0, 0, 101});
    CHECK(allot::share_payment(101, 10, 20) == allot::PaymentShares{10, 18, 73});  // 10.1; 91 × 20 % = 18.2
    CHECK(allot::share_payment(101, 100, 50) == allot::PaymentShares{101, 0, 0});
    CHECK(allot::share_payment(101, 0, 100) == allot::PaymentShares{0, 101, 0});
    CHECK(allot::share_payment(1, 101, 0).error() == RewardError::percent_invalid);
    CHECK(allot::share_payment(1, 0, 101).error() == RewardError::percent_invalid);
    CHECK(allot::share_payment(allot::u128{1} << 96, 0, 0).error() == RewardError::amount_overflow);
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 1'000; ++i) {
        const auto payment = Amount{allot::u128::from_parts(random() >> 32U, random())};
        const auto shares = allot::share_payment(payment, static_cast<std::uint32_t>(random() % 101U),
                                                 static_cast<std::uint32_t>(random() % 101U));
        REQUIRE(shares->network.units + shares->delegators.units + shares->node.units == payment.units);
    }
}

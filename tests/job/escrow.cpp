#include <cstdint>
#include <limits>
#include <random>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace job_test::escrow {
using allot::Amount;
using allot::EscrowShare;
using allot::split_escrow;
using allot::WalletId;

TEST_CASE("shares are the facts of settlement by measured windows") {
    struct Case {
        std::uint32_t a, b, whole;
        std::uint64_t escrow, to_a, to_b, refund;
    };
    const auto c = GENERATE(values<Case>({
        {6'480, 2'160, 8'640, 300, 225, 75, 0},  // 1.8 h and 0.6 h
        {3'600, 3'600, 7'200, 101, 51, 50, 0},   // the odd unit goes to the lowest wallet
        {1'800, 0, 3'600, 300, 150, 0, 150},     // half the window was used
        {0, 0, 3'600, 300, 0, 0, 300},           // nobody did anything
    }));
    const auto split = split_escrow(c.escrow, {{WalletId{"a"}, c.a}, {WalletId{"b"}, c.b}}, c.whole);
    REQUIRE(split);
    CHECK(split->paid[0].second == Amount{c.to_a});
    CHECK(split->paid[1].second == Amount{c.to_b});
    CHECK(split->refund == Amount{c.refund});
}

TEST_CASE("P11: what is paid and what goes back is the escrow, to the last unit") {
    auto random = std::mt19937_64{support::seed()};
    for (auto turn = 0; turn < 2'000; ++turn) {
        auto shares = std::vector<EscrowShare>{};
        auto sum = std::uint32_t{0};
        for (auto i = random() % 6; i > 0; --i) {
            shares.push_back({WalletId{random() % 4 + 1}, static_cast<std::uint32_t>(random() % 1'000)});
            sum += shares.back().part;
        }
        const auto whole = sum + static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % 500);
        const auto escrow = Amount{allot::u128::from_parts(random() >> 32U, random())};
        const auto split = split_escrow(escrow, shares, whole);
        if (whole == 0) {
            CHECK(split.error() == JobError::no_shares);
            continue;
        }
        REQUIRE(split);
        auto total = split->refund.units;
        for (const auto& [wallet, amount] : split->paid) { total = total + amount.units; }
        REQUIRE(total == escrow.units);
        if (sum == whole) { REQUIRE(split->refund == Amount{0}); }
    }
}

TEST_CASE("a split that makes no sense is refused") {
    CHECK(split_escrow(Amount{allot::u128::from_parts(std::uint64_t{1} << 32U, 0)}, {}, 1).error() ==
          JobError::amount_overflow);
    CHECK(split_escrow(1, {{WalletId{"a"}, 2}}, 1).error() == JobError::parameter_invalid);
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    CHECK(split_escrow(1, {{WalletId{"a"}, most}, {WalletId{"a"}, most}}, most).error() == JobError::parameter_invalid);
    CHECK(split_escrow(1, {{WalletId{""}, 1}}, 1).error() == JobError::wallet_invalid);
    CHECK(split_escrow(1, {}, 0).error() == JobError::no_shares);
}

}  // namespace job_test::escrow

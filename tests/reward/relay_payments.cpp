// labels: vectors
#include <cstdint>
#include <string>
#include <vector>

#include <allot/reward/fee_split.hpp>

#include "support/catch.hpp"
#include "vectors/cases.hpp"

namespace {

using allot::Amount;
using allot::u128;

auto amount(const support::Json& text) -> u128 { return allot::parse_decimal(text.get<std::string>()).value(); }

}  // namespace

// Defect D33: the relays add up the remainders of the divisions, which are parts of a unit, and pay the sum as whole
// units to the last member. Fee 100 at 10, 5, 2: they pay 58 + 29 + 45 = 132, we pay 58 + 29 + 13.
TEST_CASE("payments are those of the relays but for the units they pay beyond the fee (D33)") {
    for (const auto& given : support::cases("relay_group_payments")) {
        CAPTURE(given.dump());
        const auto fee = amount(given["fee"]);
        auto scores = std::vector<std::uint32_t>{};
        auto whole = u128{0};
        for (const auto& score : given["scores"]) {
            scores.push_back(score.get<std::uint32_t>());
            whole += scores.back();
        }
        const auto split = allot::split_fee(fee, scores);
        REQUIRE(split.has_value());
        CHECK(split->refund == Amount{});
        const auto& theirs = given["payments"];
        REQUIRE(split->paid.size() == theirs.size());
        auto ours_sum = u128{0};
        auto theirs_sum = u128{0};
        auto remainders = u128{0};  // in units of 1 / whole
        for (std::size_t i = 0; i < scores.size(); ++i) {
            ours_sum += split->paid[i].units;
            theirs_sum += amount(theirs[i]);
            remainders += fee * scores[i] % whole;
            if (i + 1 < scores.size()) { CHECK(split->paid[i].units == amount(theirs[i])); }
        }
        CHECK(ours_sum == fee);
        // The value the real code gives, and what it should have been.
        CHECK(amount(theirs[scores.size() - 1]) == fee * scores.back() / whole + remainders);
        CHECK(split->paid.back().units == fee * scores.back() / whole + remainders / whole);
        CHECK(amount(given["sum"]) == theirs_sum);
        CHECK(amount(given["overpaid"]) == theirs_sum - fee);
        CHECK(amount(given["overpaid"]) == remainders - remainders / whole);
    }
}

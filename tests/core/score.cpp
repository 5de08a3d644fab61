#include <cstdint>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/score.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Score;
using boost::multiprecision::cpp_int;

static_assert(Score::zero() == Score{} && Score::one().raw() == 1U << 30U && Score::fraction_bits == 30);
static_assert(Score::from_ratio(1, 2).raw() == 1U << 29U && Score::zero() < Score::from_raw(1));

}  // namespace

TEST_CASE("a score of a ratio is the ratio rounded down, at most one") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        const auto num = random() >> (random() % 64U);
        const auto den = (random() >> (random() % 64U)) | 1U;
        const auto exact = cpp_int{(cpp_int{num} << 30U) / den};
        CAPTURE(num, den);
        REQUIRE(Score::from_ratio(num, den).raw() == (num >= den ? cpp_int{1} << 30U : exact));
    }
    CHECK(Score::from_ratio(0, 7) == Score::zero());
    CHECK(Score::from_ratio(7, 7) == Score::one());
    CHECK(Score::from_ratio(8, 7) == Score::one());
    CHECK(Score::from_ratio(~std::uint64_t{0} - 1, ~std::uint64_t{0}).raw() == (1U << 30U) - 1U);
}

TEST_CASE("a raw score is cut at one") {
    CHECK(Score::from_raw((1U << 30U) - 1U) < Score::one());
    CHECK(Score::from_raw((1U << 30U) + 1U) == Score::one());
    CHECK(Score::from_raw(~0U) == Score::one());
}

TEST_CASE("a product of scores is rounded down and one is neutral") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        const auto a = Score::from_raw(static_cast<std::uint32_t>(random() % ((1U << 30U) + 1U)));
        const auto b = Score::from_raw(static_cast<std::uint32_t>(random() >> (34U + random() % 30U)));
        REQUIRE((a * b).raw() == cpp_int{(cpp_int{a.raw()} * b.raw()) >> 30U});
        REQUIRE(a * b == b * a);
        REQUIRE(a * Score::one() == a);
        REQUIRE(a * Score::zero() == Score::zero());
        auto c = a;
        c *= b;
        REQUIRE(c == a * b);
    }
}

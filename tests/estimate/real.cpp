#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <type_traits>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/estimate/real.hpp>

#include "support/big.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace real_test {

using allot::Real;
using allot::u128;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;
using support::big;

constexpr auto largest = Real{(std::int64_t{1} << 62) - 1, Real::exponent_limit - 1};
constexpr auto smallest = Real{std::int64_t{1} << 61, 1 - Real::exponent_limit};

// @pre the exponent is small.
auto exact(const Real& value) -> cpp_rational {
    const auto power = cpp_int{1} << static_cast<unsigned>(std::abs(value.exponent));
    return value.exponent < 0 ? cpp_rational{value.mantissa, power} : cpp_rational{value.mantissa * power};
}

// Of any size, and often close to another.
auto any_real(std::mt19937_64& random) -> Real {
    auto value = Real::from(u128::from_parts(random(), random()) >> (random() % 128U));
    value.exponent -= value.mantissa == 0 ? 0 : static_cast<std::int32_t>(random() % 4U * 30U);
    return random() % 2U == 0 ? value : -value;
}

// Cut off towards zero, by less than 2^-places of it.
auto cut_off(const Real& result, const cpp_rational& truth, unsigned places) -> bool {
    const auto found = exact(result);
    const auto missing = cpp_rational{abs(truth) - abs(found)};
    return result.valid() && found * truth >= 0 && missing >= 0 &&
           missing * cpp_rational{cpp_int{1} << places} <= abs(truth);
}

static_assert(Real::from(0) == Real{} && Real::from(1) == Real{std::int64_t{1} << 61, -61} && Real{}.valid());
static_assert(Real::from(3) + Real::from(4) == Real::from(7) && Real::from(3) - Real::from(4) == -Real::from(1));
static_assert(Real::from(3) * Real::from(4) == Real::from(12) && Real::from(12) / Real::from(4) == Real::from(3));
static_assert(Real::ratio(1, 2) + Real::ratio(1, 2) == Real::from(1) && Real::ratio(1, 10) < Real::ratio(1, 9));
static_assert(std::is_trivially_copyable_v<Real>);

TEST_CASE("a real of an integer of 62 digits is exact, of a longer one cut off") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 10'000; ++i) {
        const auto value = u128::from_parts(random(), random()) >> (random() % 128U);
        CAPTURE(to_decimal(value));
        REQUIRE(cut_off(Real::from(value), big(value), 61));
        const auto word = value.low() >> 2U;
        REQUIRE(exact(Real::from(word)) == word);
        REQUIRE(Real::from(word).rounded(0, ~std::uint64_t{0}) == word);
    }
}

TEST_CASE("a result is the exact one cut off") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 10'000; ++i) {
        const auto a = any_real(random);
        auto b = any_real(random);
        if (i % 4 == 0) {  // nearly the same: what is left of a difference is exact
            b = {-a.mantissa + (random() % 2U == 0 ? 1 : -1), a.exponent + (i % 8 == 0 ? 0 : 1)};
            b = b.valid() ? b : a;
        }
        CAPTURE(a.mantissa, a.exponent, b.mantissa, b.exponent);
        const auto sum = exact(a) + exact(b);
        const auto found = exact(a + b);
        REQUIRE((a + b).valid());
        REQUIRE(abs(sum - found) * cpp_rational{cpp_int{1} << 60U} <= abs(sum));
        REQUIRE(a - b == a + -b);
        REQUIRE(cut_off(a * b, exact(a) * exact(b), 61));
        if (b != Real{}) { REQUIRE(cut_off(a / b, exact(a) / exact(b), 61)); }
        REQUIRE((a < b) == (exact(a) < exact(b)));
        REQUIRE((a == b) == (exact(a) == exact(b)));
        REQUIRE(a.negative() == (exact(a) < 0));
    }
}

TEST_CASE("a real is rounded to the nearest integer, the greater of two, and held by a limit") {
    constexpr auto word_max = ~std::uint64_t{0};
    const auto half = Real::ratio(1, 2);
    CHECK(half.rounded(0, word_max) == 1);
    CHECK((half - Real::ratio(1, 1'000)).rounded(0, word_max) == 0);
    CHECK(Real::ratio(5, 2).rounded(0, word_max) == 3);
    CHECK(Real::ratio(5, 2).rounded(1, word_max) == 5);
    CHECK(Real::ratio(5, 2).rounded(3, word_max) == 20);
    CHECK(Real::ratio(5, 2).rounded(3, 19) == 19);
    CHECK(Real{}.rounded(1'000, word_max) == 0);
    CHECK(Real::from(1).rounded(63, word_max) == std::uint64_t{1} << 63U);
    CHECK(Real::from(1).rounded(64, word_max) == word_max);
    CHECK(Real::from(1).rounded(-1, word_max) == 1);
    CHECK(Real::from(1).rounded(-2, word_max) == 0);
    CHECK(largest.rounded(0, 7) == 7);
    CHECK(smallest.rounded(0, 7) == 0);
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 10'000; ++i) {
        const auto value = Real::ratio(random() >> (random() % 64U), (random() >> (random() % 64U)) | 1U);
        const auto shift = static_cast<unsigned>(random() % 64U);
        CAPTURE(value.mantissa, value.exponent, shift);
        const auto doubled = cpp_rational{exact(value) * (cpp_int{2} << shift) + 1};
        const auto nearest = cpp_int{numerator(doubled) / denominator(doubled) / 2};
        REQUIRE(value.rounded(static_cast<int>(shift), word_max) == std::min(nearest, cpp_int{word_max}));
    }
}

TEST_CASE("a real that is too great is the largest, one that is too small is zero") {
    CHECK(largest * largest == largest);
    CHECK(largest * -largest == -largest);
    CHECK(largest + largest == largest);
    CHECK(largest / smallest == largest);
    CHECK(smallest * smallest == Real{});
    CHECK(smallest / largest == Real{});
    CHECK(smallest - smallest == Real{});
    CHECK(largest + smallest == largest);
    CHECK(largest.valid());
    CHECK(smallest.valid());
}

TEST_CASE("only the normal form is valid") {
    CHECK((-largest).valid());
    for (const auto& wrong : {Real{0, 1}, Real{1, 0}, Real{std::int64_t{1} << 62, 0},
                              Real{(std::int64_t{1} << 61) - 1, 0}, Real{std::int64_t{1} << 61, Real::exponent_limit},
                              Real{INT64_MIN, 0}, Real{-1, 0}, Real{std::int64_t{1} << 61, -Real::exponent_limit}}) {
        CAPTURE(wrong.mantissa, wrong.exponent);
        CHECK_FALSE(wrong.valid());
    }
}

}  // namespace real_test

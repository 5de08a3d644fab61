#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/u128.hpp>

#include "support/big.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::u128;
using boost::multiprecision::cpp_int;
using support::big;

const auto modulus = cpp_int{1} << 128U;

// Values near the edges of words: random lengths, with runs of zeros and ones.
auto any(std::mt19937_64& random) -> u128 {
    auto value = u128::from_parts(random(), random()) >> (random() % 129U);
    switch (random() % 6U) {
        case 0: return ~value;
        case 1: return (u128{1} << (random() % 128U)) + u128{random() % 3U} - u128{1};
        case 2: return value & u128::from_parts(random() % 2U == 0 ? 0 : ~std::uint64_t{0}, ~std::uint64_t{0});
        case 3: return u128::from_parts(value.high(), random() % 2U == 0 ? 0 : ~std::uint64_t{0});
        default: return value;
    }
}

static_assert(!std::is_convertible_v<u128, std::uint64_t> && !std::is_convertible_v<u128, bool>);
static_assert(std::is_convertible_v<int, u128> && !std::is_convertible_v<double, u128>);
static_assert(std::is_nothrow_copy_constructible_v<u128> && std::is_trivially_copyable_v<u128> && sizeof(u128) == 16);
static_assert(u128{7} * 6 == 42 && 100 - u128{58} == 42 && (u128{1} << 64) > u128{~std::uint64_t{0}});
static_assert(u128::max() / 3 * 3 == u128::max() && u128::max() % (u128{1} << 100) == (u128{1} << 100) - 1);
static_assert(allot::parse_decimal("340282366920938463463374607431768211455") == u128::max());

}  // namespace

TEST_CASE("u128 computes what a big integer computes modulo 2^128") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 200'000; ++i) {
        const auto a = any(random);
        const auto b = any(random);
        const auto bits = static_cast<unsigned>(random() % 140U);
        CAPTURE(i, big(a), big(b), bits);
        REQUIRE(big(a + b) == (big(a) + big(b)) % modulus);
        REQUIRE(big(a - b) == (big(a) + modulus - big(b)) % modulus);
        REQUIRE(big(a * b) == big(a) * big(b) % modulus);
        if (b) {
            REQUIRE(big(a / b) == big(a) / big(b));
            REQUIRE(big(a % b) == big(a) % big(b));
        }
        REQUIRE(big(a & b) == (big(a) & big(b)));
        REQUIRE(big(a | b) == (big(a) | big(b)));
        REQUIRE(big(a ^ b) == (big(a) ^ big(b)));
        REQUIRE(big(~a) == modulus - 1 - big(a));
        REQUIRE(big(a << bits) == (big(a) << bits) % modulus);
        REQUIRE(big(a >> bits) == big(a) >> bits);
        REQUIRE((a < b) == (big(a) < big(b)));
        REQUIRE((a == b) == (big(a) == big(b)));
        REQUIRE(bit_width(a) == (a ? static_cast<int>(msb(big(a))) + 1 : 0));
        const auto fits = big(a) + big(b) < modulus;
        REQUIRE(allot::checked_add(a, b) == (fits ? std::optional{a + b} : std::nullopt));
        REQUIRE(big(allot::multiply_wide(a.low(), b.low())) == cpp_int{a.low()} * b.low());
        REQUIRE(allot::multiply_high(a.low(), b.low()) == cpp_int{cpp_int{a.low()} * b.low() >> 64U});
    }
}

TEST_CASE("compound operators of u128 do what the plain ones do") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 1'000; ++i) {
        const auto a = any(random);
        const auto b = any(random) | u128{1};
        const auto applied = [a](auto change) {
            auto value = a;
            change(value);
            return value;
        };
        CHECK(applied([&](u128& v) { v += b; }) == a + b);
        CHECK(applied([&](u128& v) { v -= b; }) == a - b);
        CHECK(applied([&](u128& v) { v *= b; }) == a * b);
        CHECK(applied([&](u128& v) { v /= b; }) == a / b);
        CHECK(applied([&](u128& v) { v %= b; }) == a % b);
        CHECK(applied([&](u128& v) { v &= b; }) == (a & b));
        CHECK(applied([&](u128& v) { v |= b; }) == (a | b));
        CHECK(applied([&](u128& v) { v ^= b; }) == (a ^ b));
        CHECK(applied([&](u128& v) { v <<= 7; }) == a << 7);
        CHECK(applied([&](u128& v) { v >>= 71U; }) == a >> 71U);
        CHECK(applied([&](u128& v) { CHECK(++v == a + 1); }) == a + 1);
        CHECK(applied([&](u128& v) { CHECK(v++ == a); }) == a + 1);
        CHECK(applied([&](u128& v) { CHECK(--v == a - 1); }) == a - 1);
        CHECK(applied([&](u128& v) { CHECK(v-- == a); }) == a - 1);
    }
}

TEST_CASE("a u128 is cast like a built-in integer") {
    const auto value = u128::from_parts(1, 0x1234'5678'9ABC'DEF0U);
    CHECK(static_cast<std::uint64_t>(value) == 0x1234'5678'9ABC'DEF0U);
    CHECK(static_cast<std::uint32_t>(value) == 0x9ABC'DEF0U);
    CHECK(static_cast<bool>(u128::from_parts(1, 0)));
    CHECK(static_cast<bool>(u128{1}));
    CHECK_FALSE(static_cast<bool>(u128{}));
    CHECK(u128{std::numeric_limits<long long>::max()} == u128{~std::uint64_t{0} >> 1U});
}

TEST_CASE("decimal text of a u128 is read back") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto value = any(random);
        REQUIRE(allot::to_decimal(value) == big(value).str());
        REQUIRE(allot::parse_decimal(big(value).str()) == value);
    }
    CHECK(allot::to_decimal(u128{}) == "0");
    CHECK(allot::to_decimal(u128{10'000'000'000'000'000'000U}) == "10000000000000000000");
    CHECK(allot::parse_decimal("007") == u128{7});
}

TEST_CASE("text that is no number of 128 bits is refused") {
    for (const auto* text : {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "1.0", "12a",
                             "340282366920938463463374607431768211456", "340282366920938463463374607431768211460",
                             "999999999999999999999999999999999999999", "3402823669209384634633746074317682114550"}) {
        CAPTURE(text);
        CHECK_FALSE(allot::parse_decimal(text).has_value());
    }
}

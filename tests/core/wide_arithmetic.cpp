#include <cstdint>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/wide_arithmetic.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

// These functions are the ground of u128 where the compiler has no 128-bit integer. Here they run on every target.

namespace {

using allot::detail::WideWord;
using boost::multiprecision::cpp_int;

auto big(WideWord value) -> cpp_int { return (cpp_int{value.high} << 64U) + value.low; }

// A word of random length, often next to a power of two: where an estimated digit is wrong.
auto word(std::mt19937_64& random) -> std::uint64_t {
    const auto length = random() % 64U;
    switch (random() % 4U) {
        case 0: return (std::uint64_t{1} << length) - random() % 2U;
        case 1: return ~(random() >> length);
        case 2: return (~std::uint64_t{0} << length) + random() % 3U;
        default: return random() >> length;
    }
}

static_assert(portable_divide(WideWord{1, 0}, std::uint64_t{3}).quotient == WideWord{0, 0x5555'5555'5555'5555U});
static_assert(allot::detail::portable_multiply(~std::uint64_t{0}, ~std::uint64_t{0}) == WideWord{~std::uint64_t{1}, 1});

}  // namespace

TEST_CASE("the portable product is exact") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 300'000; ++i) {
        const auto a = WideWord{word(random), word(random)};
        const auto b = WideWord{word(random), word(random)};
        CAPTURE(i, big(a), big(b));
        REQUIRE(big(allot::detail::portable_multiply(a.low, b.low)) == cpp_int{a.low} * b.low);
        REQUIRE(big(portable_multiply(a, b)) == big(a) * big(b) % (cpp_int{1} << 128U));
    }
}

TEST_CASE("the portable quotient and remainder are exact") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 500'000; ++i) {
        const auto a = WideWord{word(random), word(random)};
        const auto b = WideWord{random() % 2U == 0 ? 0 : word(random), word(random)};
        if (big(b) == 0) { continue; }
        CAPTURE(i, big(a), big(b));
        const auto division = portable_divide(a, b);
        REQUIRE(big(division.quotient) == big(a) / big(b));
        REQUIRE(big(division.remainder) == big(a) % big(b));
    }
}

TEST_CASE("the portable quotient is exact next to each multiple of the divisor") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 200'000; ++i) {
        const auto divisor = WideWord{word(random) | 1U, word(random)};
        const auto factor_max = (cpp_int{1} << 128U) / big(divisor);
        const auto factor = factor_max <= 1 ? cpp_int{1} : cpp_int{1 + word(random) % factor_max};
        const auto value = cpp_int{factor * big(divisor) - random() % 2U};
        const auto split =
            WideWord{static_cast<std::uint64_t>(value >> 64U), static_cast<std::uint64_t>(value & ~std::uint64_t{0})};
        CAPTURE(i, value, big(divisor));
        const auto division = portable_divide(split, divisor);
        REQUIRE(big(division.quotient) == value / big(divisor));
        REQUIRE(big(division.remainder) == value % big(divisor));
    }
}

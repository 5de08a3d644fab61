#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/stake_root.hpp>

#include "support/big.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::isqrt;
using allot::StakeRoot;
using allot::u128;
using boost::multiprecision::cpp_int;
using support::big;

auto any_stake(std::mt19937_64& random) -> u128 { return u128::from_parts(random(), random()) >> (random() % 128U); }

// mantissa * 2^(exponent + 31): whole, because no exponent is below -31.
auto scaled(StakeRoot root) -> cpp_int {
    return cpp_int{root.mantissa()} << static_cast<unsigned>(root.exponent() + 31);
}

// floor of the exact root, its mantissa of 32 bits kept: m * 2^e <= sqrt(stake) < (m + 1) * 2^e.
auto is_floor_of_root(StakeRoot root, u128 stake) -> bool {
    const auto unit = cpp_int{1} << static_cast<unsigned>(root.exponent() + 31);
    const auto square = cpp_int{big(stake) << 62U};
    const auto next = cpp_int{scaled(root) + unit};
    return root.mantissa() >= (1U << 31U) && scaled(root) * scaled(root) <= square && square < next * next;
}

static_assert(isqrt(u128::max()) == ~std::uint64_t{0} && isqrt(0) == 0 && isqrt(99) == 9);
static_assert(StakeRoot::from(0).is_zero() && StakeRoot::from(0).packed() == 0 && StakeRoot::from(1).exponent() == -31);
static_assert(std::is_trivially_copyable_v<StakeRoot> && sizeof(StakeRoot) == 8);

}  // namespace

TEST_CASE("the integer root is exact for all numbers of 16 bits") {
    auto root = std::uint64_t{0};
    for (std::uint64_t n = 0; n < 65'536; ++n) {
        root += static_cast<std::uint64_t>((root + 1) * (root + 1) <= n);
        REQUIRE(isqrt(n) == root);
    }
}

TEST_CASE("the integer root is exact around squares") {
    auto random = std::mt19937_64{allot_test::seed()};
    const auto check = [](std::uint64_t root) {
        CAPTURE(root);
        const auto square = allot::multiply_wide(root, root);
        REQUIRE(isqrt(square) == root);
        REQUIRE(isqrt(square - 1) == root - 1);
        REQUIRE(isqrt(square + 1) == (root == 1 ? 1 : root));
        REQUIRE(isqrt(square + root + root) == root);  // (root + 1)^2 - 1
    };
    for (auto bits = 0U; bits < 64; ++bits) {
        for (std::uint64_t i = 0; i < 50; ++i) {
            check(std::max<std::uint64_t>(1, (std::uint64_t{1} << bits) + i));
            check(std::max<std::uint64_t>(1, (~std::uint64_t{0} >> bits) - i % (~std::uint64_t{0} >> bits)));
        }
    }
    for (auto i = 0; i < 200'000; ++i) { check((random() >> (random() % 64U)) | 1U); }
}

TEST_CASE("the integer root agrees with a big integer") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 50'000; ++i) {
        const auto value = any_stake(random);
        REQUIRE(isqrt(value) == cpp_int{sqrt(big(value))});
    }
}

TEST_CASE("a stake root is the exact root rounded down to 32 bits") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (std::uint64_t stake = 1; stake < 70'000; ++stake) { REQUIRE(is_floor_of_root(StakeRoot::from(stake), stake)); }
    for (auto i = 0; i < 100'000; ++i) {
        const auto stake = any_stake(random);
        CAPTURE(big(stake));
        REQUIRE((stake ? is_floor_of_root(StakeRoot::from(stake), stake) : StakeRoot::from(stake).is_zero()));
    }
    REQUIRE(is_floor_of_root(StakeRoot::from(u128::max()), u128::max()));
    for (auto bits = 0; bits < 128; ++bits) {
        REQUIRE(is_floor_of_root(StakeRoot::from(u128{1} << bits), u128{1} << bits));
        REQUIRE(is_floor_of_root(StakeRoot::from((u128{2} << bits) - 1), (u128{2} << bits) - 1));
    }
}

TEST_CASE("a stake root never falls when the stake rises") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 200'000; ++i) {
        const auto stake = any_stake(random);
        const auto more = allot::checked_add(stake, random() % 2U == 0 ? u128{1} : any_stake(random));
        if (more) { REQUIRE(StakeRoot::from(stake) <= StakeRoot::from(*more)); }
    }
    for (auto bits = 1; bits < 128; ++bits) {
        REQUIRE(StakeRoot::from((u128{1} << bits) - 1) <= StakeRoot::from(u128{1} << bits));
    }
}

TEST_CASE("packed roots order as their values and are read back") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        const auto a = StakeRoot::from(any_stake(random));
        const auto b = StakeRoot::from(any_stake(random));
        REQUIRE(StakeRoot::is_packed(a.packed()));
        REQUIRE(StakeRoot::from_packed(a.packed()) == a);
        REQUIRE((a < b) == (a.packed() < b.packed()));
        REQUIRE((a < b) == (scaled(a) < scaled(b)));
        if (!a.is_zero()) {
            REQUIRE(a.packed() == (static_cast<std::uint64_t>(a.exponent() + 64) << 32U | a.mantissa()));
            REQUIRE(StakeRoot::from_parts(a.mantissa(), a.exponent()) == a);
        }
    }
}

TEST_CASE("a word that no root packs to is recognised") {
    const auto word = [](std::uint64_t exponent, std::uint64_t mantissa) { return exponent << 32U | mantissa; };
    const auto top = std::uint64_t{1} << 31U;
    CHECK(StakeRoot::is_packed(0));
    CHECK(StakeRoot::is_packed(word(33, top)));
    CHECK(StakeRoot::is_packed(word(97, top)));
    CHECK_FALSE(StakeRoot::is_packed(word(33, top - 1)));
    CHECK_FALSE(StakeRoot::is_packed(word(32, top)));
    CHECK_FALSE(StakeRoot::is_packed(word(98, top)));
    CHECK_FALSE(StakeRoot::is_packed(word(33, 0)));
    CHECK_FALSE(StakeRoot::is_packed(top));
    CHECK_FALSE(StakeRoot::is_packed(~std::uint64_t{0}));
}

TEST_CASE("the ceiling of a root is the least power of two not below it") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto root = StakeRoot::from(any_stake(random) | u128{1});
        const auto ceiling = allot::ceil_power_of_two(root);
        REQUIRE(ceiling.mantissa() == 1U << 31U);
        REQUIRE(ceiling >= root);
        REQUIRE(scaled(ceiling) < 2 * scaled(root));
        REQUIRE(allot::ceil_power_of_two(ceiling) == ceiling);
        REQUIRE(exponent_gap(root, ceiling) == (ceiling == root ? 0 : 1));
    }
    CHECK(allot::ceil_power_of_two(StakeRoot{}).is_zero());
    CHECK(allot::ceil_power_of_two(StakeRoot::from(u128::max())).exponent() == 33);
    CHECK(exponent_gap(StakeRoot::from(1), StakeRoot::from(1U << 20U)) == 10);
}

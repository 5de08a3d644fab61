#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/weight.hpp>

#include "support/big.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Factors;
using allot::harmonic;
using allot::Score;
using allot::StakeRoot;
using allot::u128;
using allot::Weight;
using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;
using support::big;
using Real = boost::multiprecision::cpp_bin_float_100;

auto exact(Weight weight) -> cpp_rational { return cpp_rational{big(weight.raw()), cpp_int{1} << 92U}; }
auto exact(Score score) -> cpp_rational { return cpp_rational{score.raw(), 1U << 30U}; }
auto exact(StakeRoot root) -> cpp_rational {
    return cpp_rational{cpp_int{root.mantissa()} << static_cast<unsigned>(root.exponent() + 31), cpp_int{1} << 31U};
}
auto power(int exponent) -> cpp_rational {
    return exponent < 0 ? cpp_rational{1, cpp_int{1} << static_cast<unsigned>(-exponent)}
                        : cpp_rational{cpp_int{1} << static_cast<unsigned>(exponent)};
}
const auto unit = power(-92);
const auto weight_max = (cpp_int{1} << 96) - (cpp_int{1} << 65);

// W = M * S * Q / (S + Q) of the rounded roots.
auto formula(const Factors& f) -> cpp_rational {
    const auto s = cpp_rational{exact(f.stake_root) / exact(f.stake_root_max)};
    const auto q = exact(f.qos);
    return cpp_rational{f.boost_num, f.boost_den} * s * q / (s + q);
}

auto any_stake(std::mt19937_64& random, unsigned bits) -> u128 {
    const auto stake = (u128::from_parts(random(), random()) >> 1) | (u128{1} << 127);
    return stake >> (128U - bits + random() % bits);
}
auto any_score(std::mt19937_64& random) -> Score {
    switch (random() % 8U) {
        case 0: return Score::one();
        case 1: return Score::from_raw(1);
        default: break;
    }
    const auto high = (random() >> 34U) | (1U << 29U);
    return Score::from_raw(static_cast<std::uint32_t>(high >> (random() % 30U)));
}
auto any_factors(std::mt19937_64& random, unsigned bits) -> Factors {
    const auto a = any_stake(random, bits);
    const auto b = any_stake(random, bits);
    return {StakeRoot::from(std::min(a, b)), StakeRoot::from(std::max(a, b)), any_score(random)};
}

static_assert(std::is_trivially_copyable_v<Weight> && Weight::fraction_bits == 92);
static_assert(harmonic({StakeRoot::from(4), StakeRoot::from(4), Score::one()}) == Weight::from_ratio(1, 2));

}  // namespace

TEST_CASE("a weight is the formula of the rounded roots, rounded down to 2^-92") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 60'000; ++i) {
        const auto f = any_factors(random, 128);
        const auto weight = harmonic(f);
        const auto truth = formula(f);
        CAPTURE(i, f.stake_root.packed(), f.stake_root_max.packed(), f.qos.raw());
        REQUIRE(exact(weight) > truth - unit);
        if (weight.raw() != 1) { REQUIRE(exact(weight) <= truth * (1 + power(-60))); }
    }
}

TEST_CASE("a weight without small terms is the floor of the formula") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        auto f = any_factors(random, 128);
        if (exponent_gap(f.stake_root, f.stake_root_max) > 30) {
            f.stake_root = StakeRoot::from_parts(f.stake_root.mantissa(), f.stake_root_max.exponent() - 30);
        }
        const auto scaled = cpp_rational{formula(f) / unit};
        REQUIRE(big(harmonic(f).raw()) == numerator(scaled) / denominator(scaled));
    }
}

TEST_CASE("a boosted weight is off by one unit before and one after the boost") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 30'000; ++i) {
        auto f = any_factors(random, 96);
        f.boost_den = 10 * (1 + random() % 8U);
        f.boost_num = f.boost_den + random() % (f.boost_den + 1);
        if (random() % 4U == 0) {
            f.boost_num *= f.boost_num;  // counts twice
            f.boost_den *= f.boost_den;
        }
        const auto weight = harmonic(f);
        const auto truth = formula(f);
        REQUIRE(exact(weight) > truth - unit * (1 + cpp_rational{f.boost_num, f.boost_den}));
        REQUIRE(exact(weight) <= truth * (1 + power(-60)));
    }
}

TEST_CASE("with stakes below 2^96 the weight is within 2^-29 of the formula with true roots") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto worst = Real{0};
    for (auto i = 0; i < 20'000; ++i) {
        const auto a = any_stake(random, 96);
        const auto b = any_stake(random, 96);
        const auto stake = std::min(a, b);
        const auto stake_max = std::max(a, b);
        const auto qos = any_score(random);
        const auto root = StakeRoot::from(stake);
        const auto root_max = StakeRoot::from(stake_max);

        const auto s = Real{sqrt(Real{big(stake)} / Real{big(stake_max)})};
        const auto q = Real{Real{qos.raw()} / (1U << 30U)};
        const auto truth = Real{s * q / (s + q)};
        const auto weight = Real{Real{big(harmonic({root, root_max, qos}).raw())} / Real{cpp_int{1} << 92U}};
        const auto score = Real{Real{exact(root)} / Real{exact(root_max)}};

        CAPTURE(i, big(stake), big(stake_max), qos.raw());
        REQUIRE(abs(score / s - 1) < ldexp(Real{1}, -30));
        REQUIRE(abs(weight / truth - 1) < ldexp(Real{1}, -29));
        worst = std::max(worst, Real{abs(weight / truth - 1)});
    }
    CHECK(worst > ldexp(Real{1}, -33));  // else the bound above is not worth its name
}

TEST_CASE("a weight never falls when stake, QoS or boost rises") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 200'000; ++i) {
        auto low = any_factors(random, 128);
        low.boost_den = 1 + random() % 30U;
        low.boost_num = 1 + random() % 60U;
        auto high = low;
        switch (random() % 5U) {
            case 0:  // the next root, perhaps with the next exponent
                if (low.stake_root < low.stake_root_max) {
                    const auto mantissa = low.stake_root.mantissa();
                    const auto exponent = low.stake_root.exponent();
                    high.stake_root = mantissa == 0xFFFF'FFFFU ? StakeRoot::from_parts(1U << 31U, exponent + 1)
                                                               : StakeRoot::from_parts(mantissa + 1, exponent);
                }
                break;
            case 1:  // across an exponent
                if (low.stake_root.exponent() < low.stake_root_max.exponent()) {
                    low.stake_root = StakeRoot::from_parts(0xFFFF'FFFFU, low.stake_root.exponent());
                    high.stake_root = StakeRoot::from_parts(1U << 31U, low.stake_root.exponent() + 1);
                }
                break;
            case 2: high.qos = Score::from_raw(low.qos.raw() + 1); break;
            case 3: high.qos = std::max(low.qos, any_score(random)); break;
            default: high.boost_num += random() % 3U; break;
        }
        CAPTURE(i, low.stake_root.packed(), high.stake_root.packed(), low.stake_root_max.packed());
        CAPTURE(low.qos.raw(), high.qos.raw());
        REQUIRE(harmonic(low) <= harmonic(high));
    }
}

TEST_CASE("a weight is positive exactly when every factor is") {
    const auto least = StakeRoot::from(1);
    const auto most = StakeRoot::from(u128::max());
    const auto little = Score::from_raw(1);

    CHECK(harmonic({least, most, little}) > Weight::zero());
    CHECK(harmonic({least, ceil_power_of_two(most), little, 1, ~std::uint64_t{0}}).raw() == 1);
    CHECK(harmonic({StakeRoot{}, most, Score::one()}).is_zero());
    CHECK(harmonic({StakeRoot{}, StakeRoot{}, Score::one()}).is_zero());
    CHECK(harmonic({least, most, Score::zero()}).is_zero());
    CHECK(harmonic({least, most, Score::one(), 0, 1}).is_zero());
    CHECK(harmonic({most, least, Score::one()}) == harmonic({least, least, Score::one()}));
}

TEST_CASE("pinned weights") {
    // Made with Python's fractions and isqrt: floor(2^92 * S * Q / (S + Q)) of the rounded roots, then floor(that
    // * num / den). A change of one of these is a change of the rules.
    const auto weight = [](u128 stake, u128 stake_max, std::uint32_t qos, std::uint64_t num, std::uint64_t den) {
        const auto f = Factors{StakeRoot::from(stake), StakeRoot::from(stake_max), Score::from_raw(qos), num, den};
        return to_decimal(harmonic(f).raw());
    };
    CHECK(weight(400, 400, 1U << 29U, 1, 1) == "1650586719047173699865498965");
    CHECK(weight(1, u128{1} << 95, 1U << 30U, 1, 1) == "24879108103799");
    CHECK(weight(123'456'789, 987'654'321'000, 777'777'777, 17, 10) == "92685438530627130232739514");
    CHECK(weight(3, u128::max(), 1, 2, 1) == "929887696");
}

TEST_CASE("a ratio becomes a weight rounded down, positive and cut") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        const auto num = random() >> (random() % 64U);
        const auto den = (random() >> (random() % 64U)) | 1U;
        const auto floor = cpp_int{(cpp_int{num} << 92U) / den};
        const auto expected = std::min(weight_max, num == 0 ? cpp_int{0} : std::max(floor, cpp_int{1}));
        CAPTURE(num, den);
        REQUIRE(big(Weight::from_ratio(num, den).raw()) == expected);
    }
    CHECK(Weight::from_ratio(16, 1) == Weight::max());
    CHECK(Weight::from_ratio(15, 1) < Weight::max());
    CHECK(big(Weight::max().raw()) == weight_max);
    CHECK(Weight::from_raw(u128::max()) == Weight::max());
    CHECK(Weight::from_ratio(0, 5) == Weight::zero());
}

TEST_CASE("scaling is exact for all words, positive and cut") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 200'000; ++i) {
        const auto weight = Weight::from_raw(u128::from_parts(random(), random()) >> (32U + random() % 97U));
        const auto num = random() >> (random() % 64U);
        const auto den = (random() >> (random() % 64U)) | 1U;
        const auto floor = cpp_int{big(weight.raw()) * num / den};
        const auto positive = !weight.is_zero() && num != 0;
        const auto expected = std::min(weight_max, positive ? std::max(floor, cpp_int{1}) : floor);
        CAPTURE(i, big(weight.raw()), num, den);
        REQUIRE(big(weight.scaled(num, den).raw()) == expected);
        REQUIRE(weight.scaled(den, den) == weight);
    }
}

TEST_CASE("the bound is above the weight by its margin, and tight") {
    auto random = std::mt19937_64{allot_test::seed()};
    const auto check = [](Weight weight) {
        const auto bound = cpp_rational{allot::bound_of(weight), 1U << 28U};
        CAPTURE(big(weight.raw()));
        REQUIRE(bound > exact(weight) * (1 + power(-32)) - unit);
        REQUIRE(bound <= exact(weight) * (1 + power(-32)) + power(-28));
    };
    for (auto i = 0; i < 100'000; ++i) {
        check(Weight::from_raw(((u128::from_parts(random(), random()) >> 32) >> (random() % 97U)) | u128{1})
                  .scaled((1ULL << 32U) - 2, 1ULL << 32U));
    }
    for (std::uint64_t k = 0; k < 1000; ++k) {
        check(Weight::from_raw((u128{k + 1} << 64) - 1));
        check(Weight::from_raw(u128{k + 1} << 64));
    }
    const auto uncut = (u128{0xFFFF'FFFEU} << 64) - (u128{1} << 33);
    check(Weight::from_raw(uncut));
    CHECK(allot::bound_of(Weight::zero()) == 0);
    CHECK(allot::bound_of(Weight::from_raw(1)) == 1);
    CHECK(allot::bound_of(Weight::from_ratio(1, 2)) == (1U << 27U) + 1U);
    CHECK(allot::bound_of(Weight::max()) == 0xFFFF'FFFFU);
}

TEST_CASE("the bound of the best factors covers the rescaled weight of all others") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 100'000; ++i) {
        auto now = any_factors(random, 128);
        now.boost_den = 1 + random() % 30U;
        now.boost_num = now.boost_den + random() % (4 * now.boost_den);
        auto best = now;
        best.qos = std::max(now.qos, random() % 2U == 0 ? now.qos : any_score(random));
        best.stake_root_max = ceil_power_of_two(now.stake_root_max);
        if (best.stake_root_max.exponent() < 30) {
            const auto later = static_cast<int>(random() % 3U);
            best.stake_root_max = StakeRoot::from_parts(1U << 31U, best.stake_root_max.exponent() + later);
        }
        const auto weight = at_stake_root_ceiling(harmonic(now), now.stake_root_max, best.stake_root_max);
        const auto bound = allot::bound_of(harmonic(best));
        CAPTURE(i, now.stake_root.packed(), now.stake_root_max.packed(), now.qos.raw(), best.qos.raw());
        REQUIRE(weight.raw() <= u128{bound} << 64);
    }
}

TEST_CASE("a rescaled weight is weight times maximum by ceiling, rounded down") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 50'000; ++i) {
        const auto raw = u128::from_parts(random(), random()) >> (32U + random() % 97U);
        const auto weight = Weight::from_raw(raw | u128{1});
        const auto now = StakeRoot::from(any_stake(random, 128));
        const auto top = StakeRoot::from(any_stake(random, 128));
        const auto ceiling = ceil_power_of_two(std::max(now, top));
        const auto scaled = cpp_rational{exact(weight) * exact(now) / exact(ceiling) / unit};
        const auto floor = cpp_int{numerator(scaled) / denominator(scaled)};
        REQUIRE(big(at_stake_root_ceiling(weight, now, ceiling).raw()) == std::max(floor, cpp_int{1}));
    }
    const auto ceiling = StakeRoot::from(1U << 20U);
    CHECK(at_stake_root_ceiling(Weight::max(), ceiling, ceiling) == Weight::max());
    CHECK(at_stake_root_ceiling(Weight::zero(), ceiling, ceiling).is_zero());
    CHECK(at_stake_root_ceiling(Weight::max(), StakeRoot{}, ceiling).is_zero());
}

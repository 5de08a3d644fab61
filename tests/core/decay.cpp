#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <allot/core/decay.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::exp_decay;
using allot::recover;
using allot::recovery_time;
using allot::Score;
using Real = boost::multiprecision::cpp_bin_float_100;

const auto one = Real{1U << 30U};
constexpr auto half_hour = std::uint64_t{1'800'000};

auto truth(std::uint64_t elapsed, std::uint64_t tau) -> Real { return exp(-Real{elapsed} / Real{tau}); }

// A decay of any length, seldom long past its end.
struct Elapsed {
    std::uint64_t elapsed;
    std::uint64_t tau;
};
auto any_elapsed(std::mt19937_64& random) -> Elapsed {
    const auto tau = (random() >> (6U + random() % 58U)) + 1U;
    const auto part = allot::multiply_wide(tau, random() % (random() % 2U == 0 ? 70'000U : 3'000U)) / 1'000;
    return {part.low() + random() % 3U, tau};
}
auto some_score(std::mt19937_64& random) -> Score {
    return Score::from_raw(static_cast<std::uint32_t>((random() >> 33U) % ((1U << 30U) + 1U)));
}

static_assert(exp_decay(0, 1) == Score::one() && exp_decay(64, 1) == Score::zero());
static_assert(recovery_time(Score::one(), Score::one(), 1) == 0);

}  // namespace

TEST_CASE("the tables of the decay are what their comment says") {
    const auto rounded = [](const Real& value) { return static_cast<std::uint64_t>(floor(value + Real{0.5})); };
    for (std::size_t i = 0; i < 32; ++i) {
        CHECK(allot::detail::exp2_coarse[i] == rounded(ldexp(exp2(-Real{i} / 32), 62)));
        CHECK(allot::detail::exp2_fine[i] == rounded(ldexp(exp2(-Real{i} / 1024), 62)));
    }
    CHECK(allot::detail::log2_e == rounded(ldexp(1 / log(Real{2}), 56)));
    CHECK(allot::detail::ln_2 == rounded(ldexp(log(Real{2}), 64)));
}

TEST_CASE("the decay is within 2^-30 of the exponential") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto worst = Real{0};
    for (auto i = 0; i < 40'000; ++i) {
        const auto [elapsed, tau] = any_elapsed(random);
        const auto error = Real{abs(Real{exp_decay(elapsed, tau).raw()} - truth(elapsed, tau) * one)};
        CAPTURE(elapsed, tau);
        REQUIRE(error < Real{1});
        worst = std::max(worst, error);
    }
    CHECK(worst < Real{0.6});  // half a unit of rounding, a little of the series
    CHECK(worst > Real{0.45});
}

TEST_CASE("the decay starts at one, never rises and ends at zero") {
    for (const auto tau : {1ULL, 2ULL, 3ULL, 1'000ULL, 20'011ULL}) {
        REQUIRE(exp_decay(0, tau) == Score::one());
        for (std::uint64_t elapsed = 1; elapsed <= 70 * tau; ++elapsed) {
            REQUIRE(exp_decay(elapsed, tau) <= exp_decay(elapsed - 1, tau));
        }
        REQUIRE(exp_decay(64 * tau, tau) == Score::zero());
        REQUIRE(exp_decay(~std::uint64_t{0}, tau) == Score::zero());
    }
    REQUIRE(exp_decay(~std::uint64_t{0}, ~std::uint64_t{0}).raw() == 395007542);
    REQUIRE(exp_decay(0, ~std::uint64_t{0}) == Score::one());
}

TEST_CASE("the decay does not rise where the tables change their entry") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (std::uint64_t k = 1; k < 32 * 1024; ++k) {
        // One step of time is far below one unit of the result, so both sides of the border are seen.
        const auto tau = (random() >> 8U) | (std::uint64_t{1} << 50U);
        const auto border = static_cast<std::uint64_t>(Real{tau} * log(Real{2}) * Real{k} / 1024);
        REQUIRE(exp_decay(border + 2, tau) <= exp_decay(border - 1, tau));
        REQUIRE(exp_decay(border + 1, tau) <= exp_decay(border, tau));
    }
}

TEST_CASE("recovery is within 2^-28 of the formula") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto worst = Real{0};
    for (auto i = 0; i < 40'000; ++i) {
        const auto [elapsed, tau] = any_elapsed(random);
        const auto base = some_score(random);
        const auto expected = Real{one - (one - base.raw()) * truth(elapsed, tau)};
        CAPTURE(elapsed, tau, base.raw());
        const auto error = Real{abs(Real{recover(base, elapsed, tau).raw()} - expected)};
        REQUIRE(error < Real{4});
        worst = std::max(worst, error);
    }
    CHECK(worst < Real{1.1});  // half a unit from the decay, half from the product, a little of the series
}

TEST_CASE("recovery starts at its base, never falls and ends at one") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (std::uint64_t i = 0; i < 100; ++i) {
        const auto base = some_score(random);
        const auto tau = 1 + random() % 300U;
        auto last = base;
        REQUIRE(recover(base, 0, tau) == base);
        for (std::uint64_t elapsed = 1; elapsed <= 64 * tau; ++elapsed) {
            const auto next = recover(base, elapsed, tau);
            REQUIRE(last <= next);
            last = next;
        }
        REQUIRE(last == Score::one());
        REQUIRE(recover(Score::one(), i, tau) == Score::one());
    }
}

TEST_CASE("a higher base stays ahead while both recover") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 50'000; ++i) {
        const auto [elapsed, tau] = any_elapsed(random);
        const auto a = some_score(random);
        const auto b = std::max(a, some_score(random));
        REQUIRE(recover(a, elapsed, tau) <= recover(b, elapsed, tau));
    }
}

TEST_CASE("the recovery time is the first millisecond at which the target is reached") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 20'000; ++i) {
        const auto tau = (random() >> (6U + random() % 57U)) + 1U;
        const auto base = some_score(random);
        const auto target = random() % 8U == 0 ? Score::one() : some_score(random);
        const auto time = recovery_time(base, target, tau);
        CAPTURE(tau, base.raw(), target.raw(), time);
        REQUIRE(recover(base, time, tau) >= target);
        REQUIRE((time == 0 || recover(base, time - 1, tau) < target));
        REQUIRE((time == 0) == (base >= target));
    }
    for (auto i = 0; i < 200; ++i) {
        const auto base = some_score(random);
        const auto target = some_score(random);
        const auto tau = 1 + random() % 50U;
        auto scan = std::uint64_t{0};
        while (recover(base, scan, tau) < target) { ++scan; }
        REQUIRE(recovery_time(base, target, tau) == scan);
    }
}

TEST_CASE("a recovery longer than all time says so") {
    CHECK(recovery_time(Score::zero(), Score::one(), ~std::uint64_t{0}) == ~std::uint64_t{0});
    CHECK(recovery_time(Score::zero(), Score::from_ratio(1, 2), ~std::uint64_t{0}) < ~std::uint64_t{0});
}

TEST_CASE("pinned decays") {
    // Each is the exponential rounded to nearest, so Python gives it too:
    //     round((-Decimal(elapsed) / tau).exp() * 2 ** 30)
    // A change of one of these is a change of the rules.
    CHECK(exp_decay(1, half_hour).raw() == 1073741227);
    CHECK(exp_decay(60'000, half_hour).raw() == 1038540380);
    CHECK(exp_decay(half_hour, half_hour).raw() == 395007542);
    CHECK(exp_decay(7'200'000, half_hour).raw() == 19666268);
    CHECK(exp_decay(20, 1).raw() == 2);
    CHECK(exp_decay(21, 1).raw() == 1);
    CHECK(exp_decay(22, 1).raw() == 0);
    // 0.3 rises to 0.8 after 30 min * ln(0.7 / 0.2) = 2,254,973.3 ms.
    CHECK(recover(Score::from_ratio(3, 10), 2'254'974, half_hour).raw() == 858993538);
    CHECK(recovery_time(Score::from_ratio(3, 10), Score::from_ratio(8, 10), half_hour) == 2254974);
    CHECK(recovery_time(Score::zero(), Score::one(), half_hour) == 38677613);
}

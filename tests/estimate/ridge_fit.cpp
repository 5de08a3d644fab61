#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <allot/estimate/ridge_fit.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::Ratio;
using allot::Real;
using allot::RidgeFit;
using Exact = boost::multiprecision::cpp_bin_float_100;

constexpr auto n = RidgeFit::parts;
constexpr auto ridge = std::uint32_t{1};

struct Sample {
    std::array<std::uint64_t, n> expected;
    std::uint64_t seen;
};

// The equations of the doc block, straight from the samples.
struct Equations {
    std::array<std::array<Exact, n>, n> left{};
    std::array<Exact, n> right{};

    Equations(const std::vector<Sample>& samples, Ratio alpha, std::uint32_t billionths) {
        const auto gain = Exact{alpha.num} / alpha.den;
        auto weight = gain;
        auto trace = Exact{0};
        for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample, weight *= 1 - gain) {
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    left[i][j] += weight * sample->expected[i] * sample->expected[j];
                }
                right[i] += weight * sample->expected[i] * sample->seen;
                trace += weight * sample->expected[i] * sample->expected[i];
            }
        }
        lift = trace * billionths / 1'000'000'000;
        for (std::size_t i = 0; i < n; ++i) {
            left[i][i] += lift;
            right[i] += lift;
        }
    }

    auto solution() const -> std::array<Exact, n> {
        auto rows = left;
        auto found = right;
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t i = 0; i < n; ++i) {
                if (i != k) {
                    const auto times = Exact{rows[i][k] / rows[k][k]};
                    for (std::size_t j = 0; j < n; ++j) { rows[i][j] -= times * rows[k][j]; }
                    found[i] -= times * found[k];
                }
            }
        }
        for (std::size_t k = 0; k < n; ++k) { found[k] /= rows[k][k]; }
        return found;
    }

    Exact lift = 0;
};

auto exact(const Real& value) -> Exact { return ldexp(Exact{value.mantissa}, value.exponent); }

auto fit(const std::vector<Sample>& samples, Ratio alpha = {1, 10}) -> RidgeFit {
    auto result = RidgeFit{};
    for (const auto& sample : samples) {
        auto parts = RidgeFit::Parts{};
        std::transform(sample.expected.begin(), sample.expected.end(), parts.begin(),
                       [](auto z) { return Real::from(z); });
        result.add(parts, Real::from(sample.seen), alpha);
    }
    return result;
}

// The largest difference, as a part of the largest factor.
auto error_of(const RidgeFit::Parts& found, const std::array<Exact, n>& truth) -> Exact {
    auto error = Exact{0};
    auto largest = Exact{0};
    for (std::size_t i = 0; i < n; ++i) {
        error = std::max(error, Exact{abs(exact(found[i]) - truth[i])});
        largest = std::max(largest, Exact{abs(truth[i])});
    }
    return error / largest;
}

auto any_time(std::mt19937_64& random) -> std::uint64_t { return random() >> (32U + random() % 32U); }

}  // namespace

TEST_CASE("before the first sample all factors are one, and those of parts never seen stay so") {
    for (const auto& factor : RidgeFit{}.factors(ridge)) { CHECK(factor == Real::from(1)); }
    const auto factors = fit({{{30'000, 10'000}, 80'000}, {{30'000, 70'000}, 200'000}}).factors(ridge);
    CHECK(abs(exact(factors[0]) - 2) < 1e-6);
    CHECK(abs(exact(factors[1]) - 2) < 1e-6);
    for (auto i = 2U; i < n; ++i) { CHECK(abs(exact(factors[i]) - 1) < 1e-17); }
}

TEST_CASE("factors are the minimum to 2^-50 when the samples settle them") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto inside = 0;
    for (auto run = 0; run < 300; ++run) {
        const auto alpha = Ratio{1 + static_cast<std::uint32_t>(random() % 20U), 100};
        auto samples = std::vector<Sample>{};
        for (auto k = 0; k < 20; ++k) {
            auto sample = Sample{};
            for (auto& part : sample.expected) {
                part = 1'000 + random() % 100'000U;
                sample.seen += part * (1 + random() % 3U);
            }
            samples.push_back(sample);
        }
        const auto truth = Equations{samples, alpha, ridge}.solution();
        if (std::all_of(truth.begin(), truth.end(), [](const Exact& f) { return f > 0; })) {
            ++inside;
            REQUIRE(error_of(fit(samples, alpha).factors(ridge), truth) < ldexp(Exact{1}, -50));
        }
    }
    CHECK(inside > 100);
}

TEST_CASE("factors are the minimum to 2^-24 of the largest when parts depend on each other") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto worst = Exact{0};
    auto inside = 0;
    for (auto run = 0; run < 500; ++run) {
        auto samples = std::vector<Sample>{};
        const auto shape = random() % 3U;
        for (auto k = 0; k < 12; ++k) {
            const auto a = any_time(random);
            const auto b = any_time(random);
            auto sample = Sample{{a, b, 0, 0, 0}, 0};
            if (shape == 0) {
                sample.expected = {a, a, a, a, a};
            } else if (shape == 1) {
                sample.expected = {30'000, a, b, 2 * b, 3 * b + a};
            } else {
                sample.expected = {a, 3 * a + b % 2U, b, 0, 7 * a};
            }
            for (const auto part : sample.expected) { sample.seen += 3 * part; }
            samples.push_back(sample);
        }
        const auto truth = Equations{samples, {1, 10}, ridge}.solution();
        if (std::all_of(truth.begin(), truth.end(), [](const Exact& f) { return f > 0; })) {
            ++inside;
            worst = std::max(worst, error_of(fit(samples).factors(ridge), truth));
        }
    }
    INFO("worst error 2^" << log2(worst));
    CHECK(worst < ldexp(Exact{1}, -24));
    CHECK(inside > 100);
}

TEST_CASE("no factor is negative, and no change of one that is allowed would lower the sum") {
    auto random = std::mt19937_64{allot_test::seed()};
    auto bounded = 0;
    for (auto run = 0; run < 500; ++run) {
        auto samples = std::vector<Sample>(1 + random() % 12U);
        for (auto& sample : samples) {
            for (auto& part : sample.expected) { part = random() % 3U == 0 ? 0 : 1 + any_time(random); }
            sample.seen = any_time(random);
        }
        const auto found = fit(samples).factors(ridge);
        const auto equations = Equations{samples, {1, 10}, ridge};
        // Half the slope of the sum along each factor, beside the largest of what slopes are made of.
        auto slope = std::array<Exact, n>{};
        auto largest = Exact{0};
        for (std::size_t i = 0; i < n; ++i) {
            slope[i] = -equations.right[i];
            for (std::size_t j = 0; j < n; ++j) { slope[i] += equations.left[i][j] * exact(found[j]); }
            largest = std::max(largest, equations.right[i]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            CAPTURE(run, i, slope[i], largest);
            REQUIRE(found[i].valid());
            REQUIRE_FALSE(found[i].negative());
            REQUIRE(slope[i] >= -largest * ldexp(Exact{1}, -50));
            if (found[i] == Real{}) {
                ++bounded;
            } else {
                REQUIRE(slope[i] <= largest * ldexp(Exact{1}, -50));
            }
        }
    }
    CHECK(bounded > 100);
}

TEST_CASE("parts in one proportion share what is left to explain as they would expect it") {
    auto samples = std::vector<Sample>{};
    for (auto k = 1U; k <= 20U; ++k) { samples.push_back({{k * 1'000U, 0, k * 1'000U, k * 2'000U, 0}, k * 12'000U}); }
    const auto factors = fit(samples).factors(ridge);
    CHECK(abs(exact(factors[0]) - exact(factors[2])) < 1e-6);
    CHECK(abs(exact(factors[0]) - (1 + 8.0 / 6)) <
          1e-6);  // 8 of 12 are left, and go by the squares of the shares 1, 1 and 2
    CHECK(abs(exact(factors[3]) - (1 + 16.0 / 6)) < 1e-6);
}

TEST_CASE("a stronger ridge holds the factors nearer to one") {
    auto samples = std::vector<Sample>{};
    for (auto k = 1U; k <= 20U; ++k) { samples.push_back({{30'000, k * 1'000U}, 60'000 + k * 2'000U}); }
    auto last = Exact{3};
    for (const auto billionths : {1U, 1'000U, 1'000'000U, 1'000'000'000U}) {
        const auto factor = exact(fit(samples).factors(billionths)[1]);
        CHECK(factor < last);
        CHECK(factor > 1);
        last = factor;
    }
    CHECK(last < 1.5);
}

TEST_CASE("extreme samples give factors all the same") {
    constexpr auto large = ~std::uint64_t{0};
    for (const auto& samples : std::vector<std::vector<Sample>>{{{{large, large, large, large, large}, large}},
                                                                {{{large, 0, 0, 0, 0}, 1}, {{0, 1, 0, 0, 0}, large}},
                                                                {{{1, 0, 0, 0, 0}, 1}, {{1, large, 0, 0, 0}, 1}},
                                                                {{{1, 1, 1, 1, 1}, large}, {{1, 0, 0, 0, 1}, 1}}}) {
        const auto sums = fit(samples);
        CHECK(sums.valid());
        for (const auto& factor : sums.factors(ridge)) {
            CHECK(factor.valid());
            CHECK_FALSE(factor.negative());
        }
    }
}

TEST_CASE("sums that no samples give are not valid") {
    CHECK(RidgeFit{}.valid());
    auto wrong = RidgeFit{};
    wrong.squares[3] = -Real::from(1);
    CHECK_FALSE(wrong.valid());
    wrong = {};
    wrong.products[4] = {1, 0};
    CHECK_FALSE(wrong.valid());
    CHECK(wrong != RidgeFit{});
}

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::secret_plan {
using allot::SecretPlan;

namespace {

/// Chi-square of counts that should be equal.
auto chi_square(const std::vector<double>& counts) -> double {
    const auto mean = std::accumulate(counts.begin(), counts.end(), 0.0) / double(counts.size());
    return std::accumulate(counts.begin(), counts.end(), 0.0,
                           [&](double sum, double n) { return sum + (n - mean) * (n - mean) / mean; });
}

}  // namespace

TEST_CASE("every data block is dealt to one worker, and every verifier repeats what it picked") {
    const auto slicing = allot::Slicing{3, 7, 2, 17, 2};
    const auto secrets = SecretPlan{spec_of(slicing)};
    auto blocks = std::set<std::uint64_t>{};
    for (std::uint32_t m = 0; m < 3; ++m) {
        const auto secret = secrets.macro(m);
        REQUIRE(secret.verifiers.size() == 2);
        CHECK(secret.verifiers[0] != secret.verifiers[1]);
        for (std::uint32_t k = 0; k < 9; ++k) {
            REQUIRE(secret.blocks[k].size() == 17);  // all lists are as long: length tells nothing
            if (k != secret.verifiers[0] && k != secret.verifiers[1]) {
                blocks.insert(secret.blocks[k].begin(), secret.blocks[k].end());
            }
        }
        for (std::size_t v = 0; v < 2; ++v) {
            auto checked = std::map<std::uint32_t, std::set<std::uint32_t>>{};
            for (std::size_t i = 0; i < 17; ++i) {
                const auto pick = secret.picks[v][i];
                CHECK(secret.blocks[secret.verifiers[v]][i] == secret.blocks[pick.micro][pick.place]);
                CHECK(checked[pick.micro].insert(pick.place).second);  // no block twice
            }
            CHECK(checked.size() == 7);
            for (const auto& [worker, places] : checked) { CHECK((places.size() == 2 || places.size() == 3)); }
        }
    }
    CHECK(blocks.size() == 3 * 7 * 17);
    CHECK(*blocks.rbegin() == 3 * 7 * 17 - 1);
}

TEST_CASE("P9: verifier and picks are drawn evenly") {
    auto positions = std::vector<double>(11);
    auto places = std::vector<double>(10);
    auto first_block = std::vector<double>(100);
    for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
        const auto secret = SecretPlan{spec_of({1, 10, 1, 10, 1}, seed)}.macro(0);
        positions[secret.verifiers[0]] += 1;
        for (const auto& pick : secret.picks[0]) { places[pick.place] += 1; }
        first_block[secret.blocks[secret.verifiers[0] == 0 ? 1 : 0][0]] += 1;
    }
    CHECK(chi_square(positions) < 45.1);  // p = 1e-6 at 10, 9 and 99 degrees of freedom
    CHECK(chi_square(places) < 42.5);
    CHECK(chi_square(first_block) < 177.0);
}

TEST_CASE("P9: equal seeds give equal secrets, on every machine; a beacon and another MacroJob give others") {
    const auto spec = spec_of({2, 10, 1, 10, 1});
    const auto secret = SecretPlan{spec}.macro(0);
    CHECK(secret == SecretPlan{spec}.macro(0));
    CHECK_FALSE(secret == SecretPlan{spec}.macro(1));
    CHECK_FALSE(secret == SecretPlan(spec, allot::Entropy{99}).macro(0));
    const auto again = SecretPlan{spec}.macro(0, 1);  // fresh picks, and nothing else
    CHECK(again.verifiers == secret.verifiers);
    CHECK_FALSE(again.picks == secret.picks);
    for (std::uint32_t k = 0; k < 11; ++k) {
        if (k != secret.verifiers[0]) { CHECK(again.blocks[k] == secret.blocks[k]); }
    }
    CHECK(secret.verifiers[0] == 0);
    CHECK(secret.blocks[secret.verifiers[0]] == std::vector<std::uint64_t>{96, 39, 27, 89, 37, 54, 70, 86, 31, 51});
}

TEST_CASE("a worker's own blocks do not tell which number verifies") {
    // Were blocks dealt in order of the numbers, the last worker's first block would tell whether the verifier stands
    // before it.
    auto before = std::vector<double>(2);
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        const auto secret = SecretPlan{spec_of({1, 2, 1, 4, 1}, seed)}.macro(0);
        if (secret.verifiers[0] == 2) { continue; }
        before[secret.blocks[2][0] < 4 ? 0 : 1] += 1;
    }
    CHECK(chi_square(before) < 24.0);
}

}  // namespace job_test::secret_plan

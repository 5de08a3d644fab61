#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include <allot/validation/adaptive_replication.hpp>
#include <allot/validation/sampling.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::Entropy;
using allot::sampled;
using allot::SamplingRate;
using allot::TaskId;

TEST_CASE("sampling is a function of entropy and task, as often as the rate says") {
    const auto seed = allot_test::seed();
    for (const auto& [num, den] : {std::pair{1U, 100U}, std::pair{1U, 10U}, std::pair{2U, 3U}}) {
        constexpr auto draws = 30'000;
        auto hits = 0;
        for (auto i = 0; i < draws; ++i) {
            const auto entropy = Entropy{std::array<std::uint64_t, 4>{seed, static_cast<std::uint64_t>(i), 0, 0}};
            hits += sampled(entropy, 7, {num, den}) ? 1 : 0;
            REQUIRE(sampled(entropy, 7, {num, den}) == sampled(entropy, 7, {num, den}));
        }
        const auto expected = 1.0 * draws * num / den;
        const auto sigma_squared = expected * (den - num) / den;
        CAPTURE(num, den, hits, expected);
        CHECK((hits - expected) * (hits - expected) < 25 * sigma_squared);  // five sigma
    }
    auto differ = 0;
    for (auto task = 0; task < 64; ++task) {
        differ += sampled(seed, task, {1, 2}) != sampled(seed, task + 64, {1, 2}) ? 1 : 0;
    }
    CHECK(differ > 8);  // the task counts, too
}

TEST_CASE("a rate of one samples all and of zero none") {
    for (auto i = 0; i < 100; ++i) {
        REQUIRE(sampled(i, i, {1, 1}));
        REQUIRE(sampled(i, i, {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()}));
        REQUIRE_FALSE(sampled(i, i, {0, 1}));
    }
    CHECK(SamplingRate{}.valid());
    CHECK_FALSE(SamplingRate{1, 0}.valid());
    CHECK_FALSE(SamplingRate{2, 1}.valid());
}

TEST_CASE("the contracts sample when the VRF output is a multiple") {
    auto bytes = std::array<std::uint8_t, 32>{};
    bytes[31] = 200;  // the lowest byte, for the highest comes first
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, 100));
    bytes[31] = 201;
    CHECK_FALSE(allot::sampled_as_contracts(Entropy{bytes}, 100));
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, 67));
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, 1));
    bytes = {};
    bytes[0] = 1;  // 2^248; 2^248 mod 100 = 56, mod 10 = 6, mod 2^63 = 0, mod 2^64 - 1 = 2^56
    CHECK_FALSE(allot::sampled_as_contracts(Entropy{bytes}, 100));
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, std::uint64_t{1} << 63U));
    bytes[31] = 44;
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, 100));
    bytes[31] = 4;
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, 10));
    bytes.fill(0xFF);  // 2^256 - 1 is a multiple of 2^64 - 1
    CHECK(allot::sampled_as_contracts(Entropy{bytes}, std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("a node is watched less the longer it was right, never not at all, and one bad result starts over") {
    auto node = allot::AdaptiveReplication{{.trusted_after = 10, .one_in_max = 50}};
    for (std::uint32_t right = 0; right < 200; ++right) {
        CHECK(node.consecutive_valid() == right);
        CHECK(node.rate() == (right < 10 ? SamplingRate{1, 1} : SamplingRate{1, right < 50 ? right : 50}));
        REQUIRE(node.rate().valid());
        node.valid();
    }
    node.invalid();
    CHECK(node == allot::AdaptiveReplication{{.trusted_after = 10, .one_in_max = 50}});
    CHECK(node.rate() == SamplingRate{1, 1});
    auto trusted = allot::AdaptiveReplication{};
    for (auto i = 0; i < 10'000; ++i) { trusted.valid(); }
    CHECK(trusted.rate() == SamplingRate{1, 100});  // the floor of the defaults
    CHECK(allot::AdaptiveReplication{{.trusted_after = 0}}.rate() == SamplingRate{1, 1});
    CHECK_FALSE(allot::AdaptiveReplicationParameters{.one_in_max = 0}.valid());
}

#include <algorithm>
#include <cstdint>

#include <allot/laws/sample.hpp>

#include "support/catch.hpp"

using allot::laws::Sampler;

TEST_CASE("equal seeds give equal samples") {
    auto a = Sampler{9};
    auto b = Sampler{9};
    auto other = Sampler{10};
    auto differences = 0;
    for (auto i = 0; i < 100; ++i) {
        REQUIRE(a.node() == b.node());
        REQUIRE(a.task() == b.task());
        REQUIRE(a.requirement() == b.requirement());
        const auto factors = a.factors();
        REQUIRE(factors == b.factors());
        differences += factors == other.factors() ? 0 : 1;
    }
    CHECK(differences > 90);
}

TEST_CASE("samples are what commands would admit") {
    auto sampler = Sampler{1};
    auto zero_stakes = 0;
    auto ones = 0;
    for (auto i = 0; i < 20'000; ++i) {
        const auto f = sampler.factors();
        REQUIRE(f.stake_root <= f.stake_root_max);
        REQUIRE(f.boost_den > 0);
        REQUIRE(f.boost_num >= f.boost_den);
        zero_stakes += f.stake_root.is_zero() ? 1 : 0;
        ones += f.qos == allot::Score::one() ? 1 : 0;
        REQUIRE(sampler.amount().admitted());
        const auto task = sampler.task();
        REQUIRE(task.duration_estimate > allot::Duration{0});
        REQUIRE(task.duration_estimate.count() < std::int64_t{1} << 32);
        const auto requirement = sampler.requirement();
        REQUIRE(requirement.vram_min.count > 0);
        REQUIRE(std::is_sorted(requirement.gpus.begin(), requirement.gpus.end()));
        REQUIRE(std::is_sorted(requirement.platforms.begin(), requirement.platforms.end()));
        REQUIRE(std::adjacent_find(requirement.gpus.begin(), requirement.gpus.end()) == requirement.gpus.end());
        REQUIRE(sampler.outcome(7).points <= 7);
    }
    CHECK(zero_stakes > 0);
    CHECK(ones > 1'000);
}

TEST_CASE("a finding shows fixed-point numbers as the integers they are") {
    using allot::laws::sentence;
    CHECK(sentence("score ", allot::Score::one(), ", root ", allot::StakeRoot::from(4), ", ", 7, " of ", -1) ==
          "score 1073741824/2^30, root 2147483648*2^-30, 7 of -1");
    CHECK(sentence(allot::Weight::from_raw(5), " ", allot::Duration{3}, " ", allot::Value{1, 2}) == "5/2^92 3 ms 1/2");
}

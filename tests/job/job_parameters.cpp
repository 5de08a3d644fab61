#include <cstdint>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::job_parameters {

TEST_CASE("a MacroJob's claim outlives a change of owner") {
    auto p = allot::JobParameters{};
    CHECK(p.valid());
    CHECK(p.claim == 30s);
    CHECK(p.answer_wait == 1s);
    p.claim = p.queue.owner_timeout;
    CHECK_FALSE(p.valid());
    p = {};
    p.answer_wait = 0s;
    CHECK_FALSE(p.valid());
    p = {};
    p.queue.lock = 0s;
    CHECK_FALSE(p.valid());
}

TEST_CASE("each number of jobs is positive and bounded, and a poster's share is no more than all") {
    using Number = std::uint32_t allot::JobParameters::*;
    for (const auto number :
         std::vector<Number>{&allot::JobParameters::jobs_max, &allot::JobParameters::jobs_per_poster,
                             &allot::JobParameters::ended_max}) {
        auto p = allot::JobParameters{};
        p.*number = 0;
        CHECK_FALSE(p.valid());
        p.jobs_max = 1U << 20U;
        p.*number = 1U << 20U;
        CHECK(p.valid());
        p.*number = (1U << 20U) + 1;
        CHECK_FALSE(p.valid());
    }
    auto p = allot::JobParameters{};
    p.jobs_per_poster = p.jobs_max;
    CHECK(p.valid());
    ++p.jobs_per_poster;
    CHECK_FALSE(p.valid());
}

}  // namespace job_test::job_parameters

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

}  // namespace job_test::job_parameters

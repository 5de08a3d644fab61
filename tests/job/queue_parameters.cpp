#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::queue_parameters {
using allot::QueueParameters;

namespace {

template <class F>
auto valid_with(F&& change) -> bool {
    auto p = QueueParameters{};
    change(p);
    return p.valid();
}

}  // namespace

TEST_CASE("the defaults are those of the specification, and make sense") {
    constexpr auto p = QueueParameters{};
    static_assert(p.valid());
    CHECK(p.lock == 15s);
    CHECK(p.owner_timeout == 5s);
    CHECK(p.heartbeat == 1'600ms);
    CHECK(p.stagger == 1s);
    CHECK(p.request_retry == 500ms);
    CHECK(p.request_retry_max == 5s);
    CHECK(p.quota == 1);
    CHECK(p.attempts_max == 5);
    CHECK_FALSE(p.fence_completions);
}

TEST_CASE("times have to be positive and bounded, and an owner has to be heard twice before it is replaced") {
    using P = QueueParameters;
    CHECK_FALSE(valid_with([](P& p) { p.lock = 0s; }));
    CHECK_FALSE(valid_with([](P& p) { p.stagger = -1s; }));
    CHECK_FALSE(valid_with([](P& p) { p.abandon_after = std::chrono::hours{24 * 41}; }));
    CHECK_FALSE(valid_with([](P& p) { p.heartbeat = 3s; }));
    CHECK_FALSE(valid_with([](P& p) { p.request_retry = 6s; }));
    CHECK_FALSE(valid_with([](P& p) { p.attempts_max = 0; }));
    CHECK(valid_with([](P& p) { p.quota = 0; }));
}

}  // namespace job_test::queue_parameters

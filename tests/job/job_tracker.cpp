#include <cstdint>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::job_tracker {
using allot::JobTracker;
using allot::job_message::MacroNews;
using allot::job_message::MicroDone;
using Macros = std::vector<std::uint32_t>;

namespace {

const auto plan = plan_of({3, 2, 0, 1, 0});

auto news(std::uint32_t macro, std::uint64_t epoch, std::uint32_t open) -> MacroNews {
    return {plan.job(), macro, node(1).node, epoch, open, {}, {}};
}
auto record(std::uint32_t macro) -> allot::MacroRecord {
    auto r =
        allot::MacroRecord{plan.job(), macro, 1, node(1).node, allot::JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
    for (std::uint32_t k = 0; k < 2; ++k) {
        r.accepted.push_back({hash_of(10 * macro + k), node(k).node, node(k).wallet});
    }
    r.digest = digest_of(r);
    return r;
}
auto ended(std::uint32_t macro) -> MacroNews {
    auto n = news(macro, 0, 0);
    n.records.push_back(record(macro));
    return n;
}

}  // namespace

TEST_CASE("open MacroJobs are those never claimed and those whose claim expired") {
    auto tracker = JobTracker{plan};
    CHECK(tracker.open_macros(at(0s)) == Macros{0, 1, 2});
    CHECK_FALSE(tracker.hear(news(1, 1, 2), at(0s)));
    CHECK(tracker.open_macros(at(29s)) == Macros{0, 2});
    CHECK(tracker.joinable_macros(at(29s)) == Macros{1});
    CHECK(tracker.open_macros(at(30s)) == Macros{0, 1, 2});
    CHECK(tracker.joinable_macros(at(30s)).empty());
    CHECK_FALSE(tracker.hear(news(1, 1, 0), at(31s)));  // it lives after all, but has nothing to do
    CHECK(tracker.joinable_macros(at(31s)).empty());
    CHECK(tracker.open_macros(at(31s)) == Macros{0, 2});
    CHECK(tracker.next_deadline() == at(61s));
}

TEST_CASE("of an owner of an older epoch nothing is believed") {
    auto tracker = JobTracker{plan};
    CHECK_FALSE(tracker.hear(news(0, 5, 2), at(0s)));
    CHECK_FALSE(tracker.hear(news(0, 4, 0), at(20s)));
    CHECK(tracker.joinable_macros(at(20s)) == Macros{0});
    CHECK(tracker.open_macros(at(30s)) == Macros{0, 1, 2});  // and it renewed nothing
}

TEST_CASE("P7: progress counts what the plan names, once; foreign ids and duplicates never") {
    auto tracker = JobTracker{plan};
    CHECK(tracker.progress() == std::pair<std::uint64_t, std::uint64_t>{0, 6});
    CHECK_FALSE(tracker.hear(MicroDone{plan.job(), {0, 1}, node(1).node, hash_of(1)}));
    CHECK(tracker.hear(MicroDone{plan.job(), {0, 1}, node(1).node, hash_of(1)}) == JobError::result_duplicate);
    CHECK(tracker.hear(MicroDone{plan.job(), {0, 1}, node(1).node, hash_of(2)}) == JobError::result_duplicate);
    CHECK(tracker.hear(MicroDone{plan.job(), {0, 2}, node(1).node, hash_of(1)}) == JobError::micro_unknown);
    CHECK(tracker.hear(MicroDone{plan.job(), {3, 0}, node(1).node, hash_of(1)}) == JobError::micro_unknown);
    CHECK(tracker.hear(MicroDone{allot::JobId{"another"}, {0, 0}, node(1).node, hash_of(1)}) == JobError::job_unknown);
    CHECK(tracker.progress().first == 1);
    CHECK_FALSE(tracker.hear(ended(1), at(0s)));
    CHECK(tracker.progress().first == 3);
    CHECK_FALSE(tracker.records());
}

TEST_CASE("a job is covered when all its MacroJobs have a record, and no more when one is void") {
    auto tracker = JobTracker{plan};
    for (std::uint32_t m = 0; m < 3; ++m) { CHECK_FALSE(tracker.hear(ended(m), at(0s))); }
    REQUIRE(tracker.records());
    CHECK(tracker.records()->size() == 3);
    CHECK(tracker.open_macros(at(0s)).empty());
    auto taken_back = news(2, 0, 0);
    taken_back.rejected.push_back({hash_of(21), {2, 1}, node(1).node, node(1).wallet});
    CHECK_FALSE(tracker.hear(taken_back, at(0s)));
    CHECK_FALSE(tracker.records());
    CHECK(tracker.open_macros(at(0s)) == Macros{2});
    CHECK(tracker.hear(MicroDone{plan.job(), {2, 1}, node(1).node, hash_of(21)}) == JobError::result_rejected);
}

TEST_CASE("news that make no sense are refused and change nothing") {
    auto tracker = JobTracker{plan};
    auto wrong = news(0, 1, 2);
    wrong.job = allot::JobId{"another"};
    CHECK(tracker.hear(wrong, at(0s)) == JobError::job_unknown);
    CHECK(tracker.hear(news(3, 1, 2), at(0s)) == JobError::macro_unknown);
    wrong = news(0, 1, 2);
    wrong.node = allot::NodeId{""};
    CHECK(tracker.hear(wrong, at(0s)) == JobError::node_invalid);
    wrong = news(0, 1, 2);
    wrong.records.push_back(record(1));
    CHECK(tracker.hear(wrong, at(0s)) == JobError::record_invalid);
    wrong = news(0, 1, 2);
    wrong.records.resize((1U << 14U) + 1, record(0));
    CHECK(tracker.hear(wrong, at(0s)) == JobError::message_too_large);
    wrong = news(0, 1, 2);
    wrong.rejected.push_back({hash_of(1), {0, 7}, node(1).node, node(1).wallet});
    CHECK(tracker.hear(wrong, at(0s)) == JobError::micro_unknown);
    CHECK(tracker.open_macros(at(0s)) == Macros{0, 1, 2});
    CHECK(tracker.progress().first == 0);
}

TEST_CASE("K6: an epoch that one message makes up does not keep the true owner's news away for ever") {
    const auto plan = plan_of({1, 2, 0, 1, 0});
    auto tracker = allot::JobTracker{plan, 30s};
    const auto news = [&](std::uint32_t by, std::uint64_t epoch) {
        return allot::job_message::MacroNews{plan.job(), 0, node(by).node, epoch, 1, {}, {}};
    };
    CHECK(tracker.hear(news(9, ~std::uint64_t{0}), at(0s)) == JobError::message_too_large);
    CHECK_FALSE(tracker.hear(news(9, 1'000'000), at(0s)));
    CHECK_FALSE(tracker.hear(news(1, 5), at(31s)));  // the liar's claim has expired
    CHECK(tracker.joinable_macros(at(60s)) == std::vector{0U});
    CHECK(tracker.joinable_macros(at(61s)).empty());
}

}  // namespace job_test::job_tracker

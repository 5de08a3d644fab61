#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::finaliser {
using allot::Finaliser;
using allot::JobOutcome;
using allot::Settlement;
namespace event = allot::job_event;

namespace {

const auto plan = plan_of({2, 1, 0, 1, 0});

auto record(std::uint32_t macro, JobOutcome outcome = JobOutcome::complete) -> allot::MacroRecord {
    auto r = allot::MacroRecord{plan.job(), macro, 1, node(1).node, outcome, {}, {}, 0, {}, {}, {}, {}};
    r.accepted.push_back(outcome == JobOutcome::complete
                             ? allot::AcceptedResult{hash_of(macro), node(1).node, node(1).wallet}
                             : allot::AcceptedResult{});
    r.digest = digest_of(r);
    return r;
}
const auto covered = std::optional{std::vector{record(0), record(1)}};

}  // namespace

TEST_CASE("the escrow is asked for once, under the job's own key, and the answer ends the job") {
    auto f = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    CHECK(f.conclude(std::nullopt, 3).error == JobError::not_covered);
    const auto asked = f.conclude(covered, 3);
    const auto* request = asked.get<event::EscrowReleaseRequested>();
    REQUIRE(request != nullptr);
    CHECK(request->idempotency_key == allot::escrow_key(plan.job()));
    CHECK(request->as.macros == std::vector{record(0).digest, record(1).digest});
    CHECK(f.asking());
    CHECK(f.conclude(covered, 3).events.empty());
    CHECK_FALSE(f.final_record());
    const auto ended = f.on_settlement({plan.job(), true, {}, {}});
    CHECK(ended.get<event::JobEnded>()->record == request->as);
    CHECK(f.final_record() == request->as);
    CHECK(f.conclude(covered, 4).events.empty());
    // The key is the same for whoever asks.
    auto other = Finaliser{plan.job(), plan.slicing().macro_count, node(2).node};
    CHECK(other.conclude(covered, 9).get<event::EscrowReleaseRequested>()->idempotency_key == request->idempotency_key);
}

TEST_CASE("a job with a dead MicroJob ends failed, and its escrow is not released") {
    auto f = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    const auto asked = f.conclude(std::vector{record(0), record(1, JobOutcome::failed)}, 3);
    CHECK(asked.get<event::EscrowReleaseRequested>() == nullptr);
    REQUIRE(asked.get<event::EscrowRefundRequested>() != nullptr);
    CHECK(f.on_settlement({plan.job(), true, {}, {}}).get<event::JobEnded>()->record.outcome == JobOutcome::failed);
}

TEST_CASE("what was settled first is how the job ended, whoever asks later") {
    auto first = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    auto second = Finaliser{plan.job(), plan.slicing().macro_count, node(2).node};
    const auto as = first.conclude(covered, 3).get<event::EscrowReleaseRequested>()->as;
    (void)second.conclude(std::vector{record(0), record(1, JobOutcome::failed)}, 2);
    (void)first.on_settlement({plan.job(), true, as, {}});
    (void)second.on_settlement({plan.job(), true, as, {}});
    CHECK(first.final_record() == second.final_record());
}

TEST_CASE("a refused settlement names the culprits, and the escrow can be asked for again") {
    auto f = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    (void)f.conclude(covered, 3);
    const auto culprit = allot::Rejection{hash_of(0), {0, 0}, node(1).node, node(1).wallet};
    CHECK(f.on_settlement({plan.job(), false, {}, {culprit}}).get<event::SettlementFailed>()->culprits.size() == 1);
    CHECK_FALSE(f.final_record());
    CHECK(f.conclude(covered, 4).get<event::EscrowReleaseRequested>() != nullptr);
}

TEST_CASE("answers nobody asked for are refused and change nothing") {
    auto f = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    CHECK(f.on_settlement({plan.job(), true, {}, {}}).error == JobError::settlement_unasked);
    (void)f.conclude(covered, 3);
    CHECK(f.on_settlement({allot::JobId{"another"}, true, {}, {}}).error == JobError::job_unknown);
    auto wrong = allot::FinalRecord{plan.job(), 1, node(1).node, JobOutcome::complete, {hash_of(1)}, {}, {}};
    CHECK(f.on_settlement({plan.job(), true, wrong, {}}).error == JobError::record_invalid);
    CHECK(f.finish(wrong).error == JobError::record_invalid);
    wrong.macros.resize(3, hash_of(2));  // right in itself, but of another number of MacroJobs
    wrong.digest = digest_of(wrong);
    CHECK(f.finish(wrong).error == JobError::record_invalid);
    CHECK(f.asking());
    CHECK_FALSE(f.final_record());
}

TEST_CASE("of two records of the end the same one stays, whichever is heard first") {
    const auto end = [](JobOutcome outcome, std::uint64_t epoch) {
        auto r = allot::FinalRecord{plan.job(), epoch, node(1).node, outcome, {hash_of(0), hash_of(1)}, {}, {}};
        r.digest = digest_of(r);
        return r;
    };
    const auto a = end(JobOutcome::failed, 1);
    const auto b = end(JobOutcome::complete, 7);
    auto one = Finaliser{plan.job(), plan.slicing().macro_count, node(1).node};
    auto two = one;
    (void)one.finish(a);
    (void)one.finish(b);
    (void)two.finish(b);
    CHECK(two.finish(a).events.empty());
    CHECK(one.final_record() == two.final_record());
    CHECK(one.final_record() == b);
}

}  // namespace job_test::finaliser

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::macro_record {
using allot::JobOutcome;

namespace {

const auto plan = plan_of({2, 3, 1, 4, 1}).macro(1);

template <class F>
auto fault_with(F&& change) -> std::optional<JobError> {
    auto record = allot::MacroRecord{plan.job, 1, 3, node(1).node, JobOutcome::complete, {}, {2}, 0, {}, {}, {}, {}};
    for (std::uint32_t k = 0; k < 4; ++k) { record.accepted.push_back({hash_of(k), node(k).node, node(k).wallet}); }
    change(record);
    record.digest = digest_of(record);
    return fault_of(plan, record);
}

}  // namespace

TEST_CASE("a record of a MacroJob fits its plan or is refused") {
    using R = allot::MacroRecord;
    CHECK(fault_with([](R&) {}) == std::nullopt);
    const auto wrong = std::optional{JobError::record_invalid};
    CHECK(fault_with([](R& r) { r.job = allot::JobId{"another"}; }) == wrong);
    CHECK(fault_with([](R& r) { r.macro = 0; }) == wrong);
    CHECK(fault_with([](R& r) { r.owner = allot::NodeId{""}; }) == wrong);
    CHECK(fault_with([](R& r) { r.accepted.pop_back(); }) == wrong);
    CHECK(fault_with([](R& r) { r.accepted[0].digest = {}; }) == wrong);       // complete, with a dead MicroJob
    CHECK(fault_with([](R& r) { r.outcome = JobOutcome::failed; }) == wrong);  // failed, with none
    CHECK(fault_with([](R& r) { r.accepted[0].wallet = allot::WalletId{""}; }) == wrong);
    CHECK(fault_with([](R& r) { r.verifiers = {4}; }) == wrong);
    CHECK(fault_with([](R& r) { r.verifiers = {1, 2}; }) == wrong);
    auto record = allot::MacroRecord{plan.job, 1, 3, node(1).node, JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
    CHECK(fault_of(plan, record) == wrong);
}

TEST_CASE("complete goes before failed, then the lower epoch, owner and digest") {
    const auto record = [](JobOutcome outcome, std::uint64_t epoch, std::uint32_t owner) {
        auto r = allot::FinalRecord{plan.job, epoch, node(owner).node, outcome, {hash_of(1)}, {}, {}};
        r.digest = digest_of(r);
        return r;
    };
    CHECK(before(record(JobOutcome::complete, 9, 9), record(JobOutcome::failed, 1, 1)));
    CHECK(before(record(JobOutcome::failed, 1, 9), record(JobOutcome::failed, 2, 1)));
    CHECK(before(record(JobOutcome::failed, 1, 1), record(JobOutcome::failed, 1, 2)));
    CHECK_FALSE(before(record(JobOutcome::failed, 1, 1), record(JobOutcome::failed, 1, 1)));
    CHECK(fault_of(plan.job, 1, record(JobOutcome::complete, 1, 1)) == std::nullopt);
    CHECK(fault_of(plan.job, 2, record(JobOutcome::complete, 1, 1)) == JobError::record_invalid);
    CHECK(fault_of(allot::JobId{"another"}, 1, record(JobOutcome::complete, 1, 1)) == JobError::record_invalid);
}

}  // namespace job_test::macro_record

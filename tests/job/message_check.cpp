#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::message_check {

namespace {

auto attempts(std::uint32_t max) -> allot::QueueParameters {
    auto p = allot::QueueParameters{};
    p.attempts_max = max;
    return p;
}

}  // namespace

// The messages themselves are refused in micro_queue_replica.cpp; here is what bounds them.

TEST_CASE("a snapshot may hold as many results as there can be, and no more") {
    const auto plan = plan_of({1, 3, 0, 2, 0}).macro(0);
    auto snapshot = allot::job_message::QueueSnapshot{plan.job, 0, true, {}, {}, {}, {}, {}, {}};
    CHECK(fault_of(plan, snapshot, attempts(5)) == std::nullopt);
    snapshot.results.resize(3 * 14 + 64, result_of(plan, 0, node(1), hashes_of(plan, 0)));
    CHECK(fault_of(plan, snapshot, attempts(5)) == std::nullopt);
    snapshot.results.push_back(snapshot.results[0]);
    CHECK(fault_of(plan, snapshot, attempts(5)) == JobError::message_too_large);
    CHECK(fault_of(plan, snapshot, attempts(6)) == std::nullopt);
}

TEST_CASE("a rejection names a MicroJob of the plan, a node and a wallet") {
    const auto plan = plan_of({2, 3, 0, 2, 0}).macro(1);
    const auto n = node(1);
    CHECK(fault_of(plan, allot::Rejection{hash_of(1), {1, 2}, n.node, n.wallet}) == std::nullopt);
    CHECK(fault_of(plan, allot::Rejection{hash_of(1), {0, 2}, n.node, n.wallet}) == JobError::macro_unknown);
    CHECK(fault_of(plan, allot::Rejection{hash_of(1), {1, 3}, n.node, n.wallet}) == JobError::micro_unknown);
    CHECK(fault_of(plan, allot::Rejection{hash_of(1), {1, 2}, allot::NodeId{""}, n.wallet}) == JobError::node_invalid);
    CHECK(fault_of(plan, allot::Rejection{hash_of(1), {1, 2}, n.node, allot::WalletId{""}}) ==
          JobError::wallet_invalid);
}

}  // namespace job_test::message_check

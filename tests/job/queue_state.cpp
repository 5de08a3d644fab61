#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::queue_state {
using allot::QueueState;

namespace {

const auto plan = plan_of({1, 3, 0, 1, 0}).macro(0);

auto owned(allot::QueueParameters parameters = {}) -> QueueState {
    auto state = QueueState{plan, node(1), parameters};
    state.adopt(state.fresh(1), at(0s));
    return state;
}

}  // namespace

TEST_CASE("the queue's clock runs on from where a snapshot stood, so a hand-over only lengthens a lease") {
    auto state = owned();
    (void)state.lease(0, at(0s));
    state.stamp(at(3s));
    const auto control = state.control();
    CHECK(control.clock == at(3s));
    auto other = QueueState{plan, node(2), {}};
    other.adopt(control, at(1'000s));  // another clock, and the message took its time
    CHECK(other.clock(at(1'000s)) == at(3s));
    CHECK(other.local(control.items[0].hold->expires) == at(1'012s));
    CHECK_FALSE(other.owns());
}

TEST_CASE("a MicroJob is tried as often as may be, and then dead, with a letter that says so") {
    auto p = allot::QueueParameters{};
    p.attempts_max = 2;
    auto state = owned(p);
    auto out = JobEffects{};
    auto time = at(0s);
    auto token = allot::FencingToken{};
    for (auto attempt = 0; attempt < 2; ++attempt) {
        REQUIRE(state.first_for(node(2).node, node(2).wallet, time)->key == 0);
        token = state.lease(0, time);
        time += 15s;
        CHECK(state.settle(time, out));
    }
    const auto* dead = out.get<allot::job_event::MicroDead>();
    REQUIRE(dead != nullptr);
    CHECK(dead->key == MicroKey{0, 0});
    CHECK(dead->attempts == 2);
    CHECK(state.leases().find(0)->closed);
    // Late, but valid: it counts as long as the MacroJob has not ended.
    CHECK_FALSE(state.results().add(result_of(plan, 0, node(1), {hash_of(0)}, token)));
    CHECK(state.settle(time, out));
    CHECK(state.accepted()[0]);
    CHECK(out.get<allot::job_event::MicroCompleted>()->late);
}

TEST_CASE("MicroJobs that nobody may or wants to take die, so that the job ends") {
    auto state = owned();
    auto out = JobEffects{};
    CHECK(state.next_due(at(0s)) == at(600s));
    CHECK_FALSE(state.settle(at(599s), out));
    CHECK(state.settle(at(600s), out));
    CHECK(state.ended());
    const auto record = state.conclude();
    CHECK(record.outcome == allot::JobOutcome::failed);
    CHECK(fault_of(plan, record) == std::nullopt);
}

TEST_CASE("a culprit is not leased anything of its job any more") {
    auto state = owned();
    state.results().reject(rejection_of(result_of(plan, 0, node(2), {hash_of(0)})));
    CHECK(state.first_for(node(2).node, node(9).wallet, at(0s)) == nullptr);
    CHECK(state.first_for(node(9).node, node(2).wallet, at(0s)) == nullptr);
    CHECK(state.first_for(node(3).node, node(3).wallet, at(0s)) != nullptr);
}

TEST_CASE("while enough nodes take part a node gets one MicroJob; those in line count, those barred do not") {
    auto state = owned();
    (void)state.lease(0, at(0s));
    CHECK(state.first_for(node(1).node, node(1).wallet, at(0s)) != nullptr);  // alone
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(0s)}));
    CHECK(state.note_request({node(3).node, node(3).wallet, 1, at(0s)}));
    CHECK(state.first_for(node(1).node, node(1).wallet, at(0s)) == nullptr);
    CHECK(state.first_for(node(2).node, node(2).wallet, at(0s)) != nullptr);
    state.results().reject(rejection_of(result_of(plan, 1, node(3), {hash_of(0)})));
    CHECK(state.first_for(node(1).node, node(1).wallet, at(0s)) != nullptr);
}

TEST_CASE(
    "a node stands in line once, is dropped when it has the queue, and passed over when it was not heard for long") {
    auto state = owned();
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(0s)}));
    CHECK_FALSE(state.note_request({node(2).node, node(2).wallet, 1, at(10s)}));
    CHECK(state.note_request({node(3).node, node(3).wallet, 1, at(11s)}));
    CHECK(state.requests().size() == 2);
    CHECK(state.next_in_line(at(11s))->node == node(2).node);
    CHECK(state.next_in_line(at(25s))->node == node(3).node);
    CHECK(state.next_in_line(at(26s)) == nullptr);
    state.begin_reign({2, node(3).node, 1, state.reign().rank(), false, state.clock(at(26s))}, at(26s));
    CHECK(state.requests().size() == 1);
    CHECK(state.owners_before() == std::vector{node(1).node});
    CHECK_FALSE(state.owns());
}

TEST_CASE("who stands in line and is not heard for long keeps no other from a second MicroJob") {
    auto state = owned();
    (void)state.lease(0, at(10s));
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(0s)}));
    CHECK(state.note_request({node(3).node, node(3).wallet, 1, at(0s)}));
    CHECK(state.first_for(node(1).node, node(1).wallet, at(14s)) == nullptr);
    CHECK(state.first_for(node(1).node, node(1).wallet, at(15s)) != nullptr);
}

TEST_CASE("who stands in line and may have nothing that is open keeps no other from a second MicroJob") {
    auto p = allot::QueueParameters{};
    p.attempts_max = 2;
    auto state = owned(p);
    const auto lease = [&](std::uint32_t by, std::uint32_t micro, allot::TimePoint time) {
        state.begin_reign({state.reign().epoch + 1, node(by).node, 1, state.reign().rank(), false, at(0s)}, time);
        const auto control = state.control();
        state = QueueState{plan, node(by), p};
        state.adopt(control, time);
        (void)state.lease(micro, time);
    };
    lease(3, 0, at(0s));
    lease(2, 1, at(10s));
    lease(1, 2, at(10s));
    // The first MicroJob is open again. Its next lease is the last one, for a node that had none.
    CHECK(state.note_request({node(3).node, node(3).wallet, 1, at(16s)}));
    CHECK(state.first_for(node(3).node, node(3).wallet, at(16s)) == nullptr);
    CHECK(state.first_for(node(1).node, node(1).wallet, at(16s)) != nullptr);
    CHECK(state.note_request({node(4).node, node(4).wallet, 1, at(16s)}));
    CHECK(state.first_for(node(1).node, node(1).wallet, at(16s)) == nullptr);
}

TEST_CASE("whoever had a MicroJob last gets it again one lock later than all others", "[K2]") {
    auto state = owned();
    const auto first_for = [&](std::uint32_t n, TimePoint time) {
        const auto* item = state.first_for(node(n).node, node(n).wallet, time);
        return item == nullptr ? -1 : static_cast<int>(item->key);
    };
    (void)state.lease(0, at(0s));
    CHECK(first_for(2, at(15s)) == 0);
    CHECK(first_for(1, at(15s)) == 1);
    auto out = JobEffects{};
    (void)state.settle(at(16s), out);  // as before, whether the expiry was noticed or not
    CHECK(first_for(2, at(16s)) == 0);
    CHECK(first_for(1, at(30s) - 1ms) == 1);
    CHECK(state.next_due(at(16s)) == at(30s));
    CHECK(first_for(1, at(30s)) == 0);
    (void)state.lease(0, at(30s));
    (void)state.settle(at(45s), out);
    CHECK(first_for(1, at(75s) - 1ms) == 1);  // two locks later than all others
    CHECK(first_for(1, at(75s)) == 0);
}

TEST_CASE("two nodes in turns cannot use up a MicroJob: the last lease is for a node that had none") {
    auto state = owned();
    auto time = at(0s);
    const auto may_have = [&](std::uint32_t n) {
        const auto* item = state.first_for(node(n).node, node(n).wallet, time);
        return item != nullptr && item->key == 0;
    };
    // A second lease waits for one lock more, so that others come first.
    for (const auto& [by, from] : {std::pair{1U, at(0s)}, {2U, at(15s)}, {1U, at(45s)}, {2U, at(75s)}}) {
        while (!may_have(by)) { time += 1s; }
        CHECK(time == from);
        const auto next = state.reign().epoch + 1;
        state.begin_reign({next, node(by).node, 1, state.reign().rank(), false, at(0s)}, time);
        auto control = state.control();
        state = QueueState{plan, node(by), {}};
        state.adopt(control, time);
        (void)state.lease(0, time);
        time += 15s;
    }
    time += 300s;
    CHECK_FALSE(may_have(1));
    CHECK_FALSE(may_have(2));
    CHECK(may_have(3));
}

TEST_CASE("an accepted result that went down with its owner is asked for again, not counted as dead") {
    auto state = owned();
    auto control = state.control();
    control.items[0].closed = true;
    control.items[0].attempts = 1;
    control.accepted[0] = hash_of(1);  // nobody here has its record
    control.revision = 5;
    state.adopt(control, at(1s));
    auto out = JobEffects{};
    CHECK(state.settle(at(1s), out));
    CHECK_FALSE(state.accepted()[0]);
    CHECK(out.get<allot::job_event::MicroDead>() == nullptr);
    CHECK(state.leases().find(0)->is_open(state.clock(at(2s))));
}

TEST_CASE("work that a fork dropped is taken in by an owner that knows its lease, and counts") {
    auto state = owned();
    const auto fork = [&] {
        auto other = QueueState{plan, node(2), {}};
        other.adopt(state.control(), at(0s));  // before the lease
        other.begin_reign({2, node(2).node, 1, state.reign().rank(), true, at(10s)}, at(10s));
        (void)other.lease(1, at(10s));
        return other;
    }();
    const auto token = state.lease(0, at(1s));
    const auto result = result_of(plan, 0, node(1), hashes_of(plan, 0), token);
    const auto promise = commitment_of(result);
    const auto dropped = state.control();

    state.adopt(fork.control(), at(10s));
    CHECK_FALSE(state.gave(node(1).node, 0, token));
    CHECK(state.may_count(promise));
    const auto foreign = allot::FencingToken{token.epoch, token.rank, token.seq + 1};
    state.begin_reign({3, node(1).node, 1, state.reign().rank(), true, at(20s)}, at(20s));
    CHECK_FALSE(state.may_count(node(1).node, 0, foreign));
    auto out = JobEffects{};
    (void)state.settle(at(20s), out);
    CHECK(state.control().given.size() == 1);  // nothing was done under it
    REQUIRE_FALSE(state.results().add(promise));
    CHECK(state.settle(at(20s), out));
    const auto control = state.control();
    CHECK(state.accepted()[0] == promise.digest);
    REQUIRE(control.given.size() == 2);
    CHECK(control.given[0].token == token);
    CHECK(control.items[0].attempts == 1);
    CHECK_FALSE(fault_of(plan, control, {}));
    CHECK_FALSE(state.settle(at(20s), out));  // once

    // Members that know the fork follow; a lease of an owner that is not in the chain counts nothing.
    CHECK_FALSE(fault_of_change(fork.control(), {at(1'000s), 0s, 0s}, control, {}));
    auto another = QueueState{plan, node(3), {}};
    another.adopt(dropped, at(0s));
    another.adopt(another.fresh(7), at(1s));
    CHECK_FALSE(another.may_count(promise));
}

TEST_CASE("work that a fork dropped is taken in at once, however much it is; what cannot be keeps no other out") {
    const auto began = std::chrono::steady_clock::now();
    const auto large = plan_of({1, 4'000, 0, 1, 0}).macro(0);
    auto p = allot::QueueParameters{};
    p.attempts_max = 1;
    auto state = QueueState{large, node(1), p};
    state.adopt(state.fresh(1), at(0s));
    const auto first = state.control();
    auto tokens = std::vector<allot::FencingToken>{};
    for (std::uint32_t k = 0; k < large.items(); ++k) { tokens.push_back(state.lease(k, at(0s))); }
    // In the fork another member was given the only lease of the first MicroJob.
    auto fork = QueueState{large, node(2), p};
    fork.adopt(first, at(0s));
    fork.begin_reign({2, node(2).node, 1, fork.reign().rank(), true, at(10s)}, at(10s));
    (void)fork.lease(0, at(10s));
    state.adopt(fork.control(), at(10s));
    state.begin_reign({3, node(1).node, 1, state.reign().rank(), true, at(20s)}, at(20s));
    for (std::uint32_t k = 0; k < large.items(); ++k) {
        REQUIRE_FALSE(state.results().add(commitment_of(result_of(large, k, node(1), hashes_of(large, k), tokens[k]))));
    }
    auto out = JobEffects{};
    CHECK(state.settle(at(20s), out));
    CHECK_FALSE(state.accepted()[0]);
    CHECK(std::count_if(state.accepted().begin(), state.accepted().end(), [](const auto& a) { return !!a; }) == 3'999);
    CHECK(std::chrono::steady_clock::now() - began < 2s);  // 0.05 s; it took 5 s
}

TEST_CASE("a lease given back or rejected rests longer each time") {
    auto state = owned();
    for (const auto wait : {1s, 2s, 4s, 8s}) {
        const auto time = state.leases().find(0)->not_before;
        const auto token = state.lease(0, time);
        CHECK(state.give_back(0, {9, 9, 9}, time) == allot::LeaseFault::stale);
        CHECK(state.give_back(0, token, time) == allot::LeaseFault::none);
        CHECK(state.leases().find(0)->not_before - time == wait);
    }
}

TEST_CASE("a record counts if it follows from its grounds: an owner hides no part that was not verified") {
    const auto checked = plan_of({1, 1, 1, 2, 1}).macro(0);  // a worker and a verifier
    auto state = QueueState{checked, node(1), {}};
    state.adopt(state.fresh(1), at(0s));
    auto out = JobEffects{};
    for (std::uint32_t k = 0; k < 2; ++k) {
        const auto token = state.lease(k, at(0s));
        CHECK_FALSE(state.results().add(result_of(checked, k, node(1), hashes_of(checked, 2 * k), token)));
    }
    CHECK(state.settle(at(1s), out));
    const auto right = state.conclude();
    REQUIRE(right.unverified == std::vector{0U, 1U});  // one wallet did both
    auto wrong = right;
    wrong.unverified.clear();
    wrong.digest = digest_of(wrong);
    CHECK(state.results().add(wrong));
    state.support();
    CHECK(state.record() == nullptr);
    CHECK(state.results().add(right));
    state.support();
    REQUIRE(state.record() != nullptr);
    CHECK(*state.record() == right);
}

TEST_CASE("an owner that was taken over is passed over in the line until it has rested") {
    auto state = owned();
    state.begin_reign({2, node(2).node, 1, state.reign().rank(), false, at(0s)}, at(0s));
    state.begin_reign({3, node(1).node, 1, state.reign().rank(), true, at(10s)}, at(10s));
    REQUIRE(state.owns());
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(10s)}));
    CHECK(state.next_in_line(at(14'999ms)) == nullptr);
    REQUIRE(state.next_in_line(at(15s)) != nullptr);
    CHECK(state.next_in_line(at(15s))->node == node(2).node);
}

TEST_CASE("a node that owned the queue often and leased nothing is handed it no more") {
    auto state = owned();
    for (std::size_t i = 0; i < allot::QueueControl::reigns_spare; ++i) {
        state.begin_reign({2 * i + 2, node(2).node, 1, state.reign().rank(), false, at(0s)}, at(0s));
        state.begin_reign(
            {2 * i + 3, node(static_cast<std::uint32_t>(10 + i)).node, 1, state.reign().rank(), false, at(0s)}, at(0s));
    }
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(0s)}));
    CHECK(state.next_in_line(at(1s)) == nullptr);
    CHECK(state.note_request({node(3).node, node(3).wallet, 1, at(0s)}));
    CHECK(state.next_in_line(at(1s))->node == node(3).node);
}

}  // namespace job_test::queue_state

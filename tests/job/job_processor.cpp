#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::job_processor {
using allot::JobPhase;
using allot::JobProcessor;
namespace message = allot::job_message;
namespace event = allot::job_event;

// The whole loop, with others and with faults, is in properties.cpp; here are its steps and what it refuses.

namespace {

const auto plan = plan_of({2, 2, 0, 1, 0});

auto processor(std::uint32_t number) -> JobProcessor {
    auto p = JobProcessor{node(number), {}, allot::Intent{}, at(0s)};
    CHECK(p.start(at(0s)).joined == std::vector{allot::jobs_channel()});
    return p;
}

/// Lets time pass until there is work; gives the time.
auto until_work(JobProcessor& p) -> TimePoint {
    auto time = at(0s);
    while (!p.work()) {
        time = p.next_deadline();
        (void)p.tick(time);
    }
    return time;
}

template <class F>
void refuses(JobProcessor& p, F&& input, JobError error) {
    const auto phase = p.phase();
    const auto deadline = p.next_deadline();
    const auto effects = input(p);
    CHECK(effects.error == error);
    CHECK(effects.sends.empty());
    CHECK(effects.events.empty());
    CHECK(p.phase() == phase);
    CHECK(p.next_deadline() == deadline);
}

}  // namespace

TEST_CASE("one node goes through all of the seed's loop: jobs, macro, create, micro, final, jobs") {
    auto p = processor(1);
    CHECK(p.phase() == JobPhase::jobs);
    const auto posted = p.post(plan, at(1s));
    CHECK(posted.get<event::JobAccepted>() != nullptr);
    CHECK(p.phase() == JobPhase::macro);
    CHECK(count_sent<message::MacrosQuery>(posted) == 1);
    auto time = at(1s);
    auto seen = std::vector<JobPhase>{};
    auto asked = std::optional<event::EscrowReleaseRequested>{};
    auto writes = std::vector<std::string>{};
    while (!asked && time < at(60s)) {
        time = p.next_deadline();
        auto effects = p.tick(time);
        if (p.work()) { effects = p.complete(*p.work(), {hash_of(1)}, "out", time); }
        for (const auto& write : effects.writes) {
            writes.push_back(write.path);
            CHECK(write.job == plan.job());
        }
        if (const auto* request = effects.get<event::EscrowReleaseRequested>()) { asked = *request; }
        if (seen.empty() || seen.back() != p.phase()) { seen.push_back(p.phase()); }
    }
    REQUIRE(asked);
    CHECK(seen.front() == JobPhase::create);
    CHECK(std::find(seen.begin(), seen.end(), JobPhase::micro) != seen.end());
    CHECK(writes.size() == 4);
    CHECK(std::count(writes.begin(), writes.end(),
                     allot::result_path(plan.job(), plan.macro_ids()[0], plan.id({0, 0}))) == 1);
    CHECK(p.current()->tracker().progress() == std::pair<std::uint64_t, std::uint64_t>{4, 4});
    CHECK(p.on_settlement({plan.job(), true, {}, {}}, time).get<event::JobEnded>() != nullptr);
    CHECK(p.phase() == JobPhase::jobs);
    CHECK(*p.final_record(plan.job()) == asked->as);
    CHECK(p.current() == nullptr);
    // Whoever still asks is told the end, now and then.
    const auto late = message::MacrosQuery{plan.job(), node(2).node};
    CHECK(count_sent<message::JobEnded>(received(p, late, time + 10s)) == 1);
    CHECK(received(p, late, time + 10'100ms).sends.empty());
}

TEST_CASE("a latecomer asks for jobs, is answered, and joins the queue that lives") {
    auto a = processor(1);
    (void)a.post(plan, at(0s));
    const auto time = until_work(a);
    auto b = processor(2);
    const auto asked = b.tick(time + 10s);
    REQUIRE(count_sent<message::JobsQuery>(asked) == 1);
    auto answered = received(a, asked.sends[0].message, time + 1s);
    answered.append(a.tick(time + 1s + allot::JobParameters{}.answer_wait / 4));
    REQUIRE(count_sent<message::JobPosted>(answered) == 1);
    const auto joined = received(b, *sent<message::JobPosted>(answered), time + 10s);
    REQUIRE(count_sent<message::MacrosQuery>(joined) == 1);
    const auto told = received(a, *sent<message::MacrosQuery>(joined), time + 2s);
    REQUIRE(count_sent<message::MacroNews>(told) == 1);
    CHECK(sent<message::MacroNews>(told)->open == 1);
    const auto entered = received(b, *sent<message::MacroNews>(told), time + 10s);  // at once
    CHECK(entered.get<event::MacroOpened>()->macro == 0);
    CHECK(b.phase() == JobPhase::micro);
    CHECK(count_sent<message::OwnershipRequest>(entered) == 1);
}

TEST_CASE("a processor with nothing to do goes on to another job, and comes back to an earlier one", "[K2]") {
    const auto spec = allot::JobSpec{allot::JobId{"second"}, allot::Entropy{9}, {1, 1, 0, 1, 0}, "code", "data"};
    const auto second = *allot::JobPlan::slice(spec);
    const auto small = plan_of({1, 1, 0, 1, 0});
    auto a = processor(1);
    auto b = processor(2);
    (void)a.post(small, at(0s));
    const auto time = until_work(a);  // the only MicroJob of the first job, and it needs long
    (void)received(b, message::JobPosted{small, {}}, at(0s));
    (void)received(b, message::JobPosted{second, {}}, at(0s));
    (void)received(b, message::MacroNews{small.job(), 0, node(1).node, 1, 0, {}, {}}, at(0s));
    auto now = at(0s);
    while (!b.work() && now < at(60s)) {
        now = b.next_deadline();
        (void)b.tick(now);
    }
    REQUIRE(b.work());
    CHECK(b.work()->job == second.job());
    CHECK(now <= at(0s) + 3 * allot::JobParameters{}.answer_wait);  // one wait a job, and the claim's window
    REQUIRE(b.part(small.job()) != nullptr);                        // and it still hears of the first job
    // Neither a locked job nor an ended one is told to those who ask, but one whose lock expired is; and the processor
    // goes back to the first.
    auto effects = b.complete(*b.work(), {hash_of(1)}, "out", now);
    while (effects.get<event::EscrowReleaseRequested>() == nullptr && now < at(120s)) {
        now = b.next_deadline();
        effects = b.tick(now);
    }
    CHECK(b.on_settlement({second.job(), true, {}, {}}, now).get<event::JobEnded>() != nullptr);
    CHECK(b.part(second.job()) == nullptr);
    CHECK(now < at(30s));
    CHECK(count_sent<message::JobPosted>(received(b, message::JobsQuery{node(3).node}, now)) == 0);
    const auto told = received(b, message::JobsQuery{node(3).node}, at(30s));
    CHECK(count_sent<message::JobPosted>(told) == 1);
    CHECK(sent<message::JobPosted>(told)->plan.job() == small.job());
    for (auto i = 0; i < 20 && b.current() == nullptr; ++i) { (void)b.tick(b.next_deadline()); }
    CHECK(b.current()->plan().job() == small.job());
    CHECK(time < at(60s));
}

TEST_CASE("a processor that knows that a job is locked waits for no answer", "[K2]") {
    const auto small = plan_of({1, 1, 0, 1, 0});
    auto p = processor(1);
    (void)received(p, message::JobPosted{small, {}}, at(1s));
    CHECK(p.phase() == JobPhase::macro);  // nobody has answered yet
    (void)received(p, message::MacroNews{small.job(), 0, node(2).node, 1, 0, {}, {}}, at(1s));
    CHECK(p.phase() == JobPhase::jobs);
    const auto again = p.tick(at(6s));
    CHECK(count_sent<message::MacrosQuery>(again) == 1);
    CHECK(p.phase() == JobPhase::jobs);
}

TEST_CASE("a processor asks thousands of locked jobs in one pass") {
    auto p = processor(1);
    const auto slicing = allot::Slicing{1, 1, 0, 1, 0};
    for (std::uint64_t i = 0; i < 4'000; ++i) {
        auto spec = spec_of(slicing, i);
        spec.authorities.poster = node(static_cast<std::uint32_t>(i / 50)).node;
        spec.job = allot::job_id_of(spec.authorities.poster, i);
        const auto posted = *allot::JobPlan::slice(spec);
        REQUIRE(received(p, message::JobPosted{posted, {}}, at(1s)).accepted());
        (void)received(p, message::MacroNews{posted.job(), 0, node(2).node, 1, 0, {}, {}}, at(1s));
    }
    CHECK(p.phase() == JobPhase::jobs);
    const auto began = std::chrono::steady_clock::now();
    CHECK(count_sent<message::MacrosQuery>(p.tick(at(6s))) == 4'000);
    CHECK(std::chrono::steady_clock::now() - began < 2s);  // 0.03 s; it took 5 s
    CHECK(p.phase() == JobPhase::jobs);
}

TEST_CASE("a query is answered with what was never locked or is locked no longer, and never with what has ended",
          "[K2]") {
    const auto small = plan_of({2, 1, 0, 1, 0});
    auto p = processor(1);
    (void)p.post(small, at(0s));
    auto now = until_work(p);
    auto asker = allot::JobTracker{small};
    const auto asks_for_jobs = [&] {
        now += 2s;  // else it was answered just now
        auto told = count_sent<message::JobPosted>(received(p, message::JobsQuery{node(2).node}, now));
        now += allot::JobParameters{}.answer_wait / 4;
        return told + count_sent<message::JobPosted>(p.tick(now));
    };
    const auto asks_for_macros = [&] {
        now += 2s;
        for (const auto& send : received(p, message::MacrosQuery{small.job(), node(2).node}, now).sends) {
            if (const auto* news = std::get_if<message::MacroNews>(&send.message)) {
                CHECK_FALSE(asker.hear(*news, now));
            }
        }
        return std::pair{asker.open_macros(now), asker.joinable_macros(now)};
    };
    using Macros = std::vector<std::uint32_t>;
    // The first MacroJob is locked by its only MicroJob, the second never was.
    CHECK(asks_for_jobs() == 1);
    CHECK(asks_for_macros() == std::pair{Macros{1}, Macros{}});
    // The MicroJob's lock expires: a MacroJob in use with an open MicroJob.
    auto r = allot::MicroQueueReplica{small.macro(0), node(1), {}, at(0s)};
    (void)r.create(at(0s));
    CHECK(r.open_count(at(0s)) == 1);
    (void)r.want_work(true, at(0s));
    CHECK(r.open_count(at(14s)) == 0);
    CHECK(r.open_count(at(15s)) == 1);
    CHECK(r.complete({hash_of(1)}, "out", at(1s)).accepted());
    CHECK(r.open_count(at(100s)) == 0);
    // The first MacroJob ends; the second is never locked, then it is.
    CHECK(p.complete(*p.work(), {hash_of(1)}, "out", now).accepted());
    CHECK(p.current()->tracker().record(0) != nullptr);
    CHECK(asks_for_jobs() == 1);
    while (!p.work()) { (void)p.tick(now = p.next_deadline()); }
    CHECK(asks_for_jobs() == 0);
    CHECK(asks_for_macros() == std::pair{Macros{}, Macros{}});
    // All MacroJobs have ended, then the job.
    auto effects = p.complete(*p.work(), {hash_of(1)}, "out", now);
    CHECK(asks_for_jobs() == 0);
    CHECK(asks_for_macros() == std::pair{Macros{}, Macros{}});
    CHECK(asker.ended());
    CHECK(p.on_settlement({small.job(), true, {}, {}}, now).get<event::JobEnded>() != nullptr);
    now += 100s;
    CHECK(asks_for_jobs() == 0);
    const auto last = received(p, message::MacrosQuery{small.job(), node(2).node}, now + 2s);
    CHECK(count_sent<message::MacroNews>(last) == 0);
    CHECK(count_sent<message::JobEnded>(last) == 1);
}

TEST_CASE("a culprit in one MacroJob is not handed the queue of another either") {
    auto p = processor(1);
    (void)p.post(plan, at(0s));
    const auto time = until_work(p);
    const auto asks = [](std::uint32_t n) {
        return message::OwnershipRequest{plan.job(), 0, node(n).node, node(n).wallet, 1};
    };
    const auto reject = [&](std::uint32_t n, allot::RejectReason reason) {
        const auto rejection = allot::Rejection{hash_of(n), {1, 0}, node(n).node, node(n).wallet, reason};
        return message::MacroNews{plan.job(), 1, node(9).node, 0, 0, {}, {rejection}};
    };
    CHECK(received(p, reject(2, allot::RejectReason::culprit), time).accepted());
    CHECK(received(p, reject(3, allot::RejectReason::tie_break), time).accepted());
    CHECK(received(p, asks(2), time).get<event::OwnershipGranted>() == nullptr);
    const auto granted = received(p, asks(3), time);
    REQUIRE(granted.get<event::OwnershipGranted>() != nullptr);
    CHECK(granted.get<event::OwnershipGranted>()->owner == node(3).node);
    // Who joins a queue later knows it as well.
    const auto kept = p.current()->replicas().at(0).snapshot();
    auto again = JobProcessor{node(2), {}, allot::Intent{}, at(0s)};
    (void)received(again, message::JobPosted{plan, {}}, at(0s));
    CHECK(received(again, reject(2, allot::RejectReason::culprit), at(0s)).accepted());
    (void)received(again, message::MacroNews{plan.job(), 0, node(1).node, 1, 2, {}, {}}, at(0s));
    for (auto now = at(0s); now < at(20s); now += 500ms) {
        CHECK(count_sent<message::OwnershipRequest>(again.tick(now)) == 0);
        (void)received(again, kept, now);
    }
}

TEST_CASE("whoever posted is told of a MicroJob that nobody could do, and its escrow goes back") {
    const auto small = plan_of({1, 1, 0, 1, 0});
    auto p = processor(1);
    (void)p.post(small, at(0s));
    auto time = at(0s);
    auto dead = std::optional<event::MicroDead>{};
    auto refund = std::optional<event::EscrowRefundRequested>{};
    auto failures = 0;
    while (!refund && time < at(700s)) {
        time = p.next_deadline();
        auto effects = p.tick(time);
        if (p.work()) {
            effects.append(p.fail(*p.work(), time));
            ++failures;
        }
        if (const auto* letter = effects.get<event::MicroDead>()) { dead = *letter; }
        if (const auto* request = effects.get<event::EscrowRefundRequested>()) { refund = *request; }
        CHECK(effects.get<event::EscrowReleaseRequested>() == nullptr);
    }
    CHECK(failures == 4);  // the last lease is for a node that had none; after `abandon_after` it is dead
    REQUIRE(dead);
    CHECK(dead->key == MicroKey{0, 0});
    CHECK(dead->attempts == 4);
    REQUIRE(refund);
    const auto ended = p.on_settlement({small.job(), true, {}, {}}, time);
    CHECK(ended.get<event::JobEnded>()->record.outcome == allot::JobOutcome::failed);
    // Whoever only posted, and took no part, hears of it on the job's channel.
    auto poster = processor(2);
    (void)received(poster, message::JobPosted{small, {}}, at(0s));
    CHECK(received(poster, *sent<message::JobEnded>(ended), at(1s)).get<event::JobEnded>()->record ==
          ended.get<event::JobEnded>()->record);
}

TEST_CASE("what makes no sense to a processor is refused with its own error and changes nothing") {
    auto p = processor(1);
    refuses(
        p,
        [](auto& x) {
            return x.complete({plan.job(), {0, 0}, {}, {}}, {hash_of(1)}, "", at(1s));
        },
        JobError::lease_missing);
    refuses(
        p, [](auto& x) { return x.on_gone(allot::NodeId{""}, at(1s)); }, JobError::node_invalid);
    refuses(
        p,
        [](auto& x) {
            return x.on_settlement({plan.job(), true, {}, {}}, at(1s));
        },
        JobError::job_unknown);
    refuses(
        p,
        [](auto& x) {
            return x.reject(plan.job(), {hash_of(1), {0, 0}, node(1).node, node(1).wallet}, at(1s));
        },
        JobError::job_unknown);
    refuses(
        p,
        [](auto& x) {
            return received(x, message::MacrosQuery{plan.job(), node(2).node}, at(1s));
        },
        JobError::job_unknown);
    refuses(
        p, [](auto& x) { return received(x, message::JobsQuery{allot::NodeId{""}}, at(1s)); }, JobError::node_invalid);
    refuses(
        p,
        [](auto& x) {
            return x.on_store(hash_of(1), {node(1).node, 1}, at(1s));
        },
        JobError::claim_unknown);
    (void)p.post(plan, at(2s));
    refuses(
        p, [](auto& x) { return x.tick(at(1s)); }, JobError::time_went_back);
    refuses(
        p, [](auto& x) { return x.post(plan, at(2s)); }, JobError::job_duplicate);
    refuses(
        p,
        [](auto& x) {
            return received(x, message::JobPosted{plan_of({2, 2, 0, 1, 0}, 8), {}}, at(2s));
        },
        JobError::job_duplicate);
    refuses(
        p,
        [](auto& x) {
            return x.resume({plan, {}}, {}, at(2s));
        },
        JobError::job_duplicate);
    // A result before the queue exists here.
    refuses(
        p,
        [](auto& x) {
            return received(x, message::ResultFound{plan.job(), result_of(plan.macro(0), 0, node(2), {hash_of(1)})},
                            at(2s));
        },
        JobError::queue_missing);
    refuses(
        p,
        [](auto& x) {
            return x.reject(plan.job(), {hash_of(1), {9, 0}, node(1).node, node(1).wallet}, at(2s));
        },
        JobError::macro_unknown);
    refuses(
        p,
        [](auto& x) {
            return x.reject(plan.job(), {hash_of(1), {0, 9}, node(1).node, node(1).wallet}, at(2s));
        },
        JobError::micro_unknown);
    auto judged = spec_of({1, 1, 0, 1, 0});
    judged.job = allot::job_id_of(node(3).node, 1);
    judged.authorities.poster = node(3).node;
    const auto by_others = *allot::JobPlan::slice(judged);
    refuses(
        p,
        [&](auto& x) {
            return x.reject(by_others.job(), {hash_of(1), {0, 0}, node(1).node, node(1).wallet}, at(2s));
        },
        JobError::job_unknown);
    auto knows_it = processor(1);
    (void)knows_it.post(by_others, at(0s));
    refuses(
        knows_it,
        [&](auto& x) {
            return x.reject(by_others.job(), {hash_of(1), {0, 0}, node(1).node, node(1).wallet}, at(0s));
        },
        JobError::author_without_right);
    refuses(
        p,
        [](auto& x) {
            return x.on_settlement({plan.job(), true, {}, {}}, at(2s));
        },
        JobError::settlement_unasked);
    refuses(
        p,
        [](auto& x) {
            return received(x, message::JobEnded{{plan.job(), 1, node(1).node, {}, {}, {}}}, at(2s));
        },
        JobError::record_invalid);
    refuses(
        p,
        [](auto& x) {
            return received(x, message::MicroDone{plan.job(), {0, 7}, node(1).node, hash_of(1)}, at(2s));
        },
        JobError::micro_unknown);
}

TEST_CASE("what is done with work names it: that of another job, MacroJob or lease is refused, though its token be the "
          "same") {
    auto p = processor(1);
    (void)p.post(plan, at(0s));
    const auto time = until_work(p);
    const auto work = *p.work();
    CHECK(work.job == plan.job());
    const auto refuses_all = [&](JobProcessor::Work wrong, JobError error) {
        refuses(
            p, [&](auto& x) { return x.complete(wrong, {hash_of(1)}, "", time); }, error);
        refuses(
            p, [&](auto& x) { return x.fail(wrong, time); }, error);
        refuses(
            p, [&](auto& x) { return x.renew(wrong, 1, hash_of(1), time); }, error);
        CHECK(p.work()->token == work.token);
        CHECK(p.work()->renew_at == work.renew_at);
    };
    refuses_all({allot::JobId{"another"}, work.key, work.token, {}}, JobError::lease_foreign);
    refuses_all({work.job, {1, work.key.micro}, work.token, {}}, JobError::lease_foreign);
    refuses_all({work.job, {work.key.macro, 1}, work.token, {}}, JobError::lease_foreign);
    refuses_all({work.job, {7, 7}, work.token, {}}, JobError::lease_foreign);
    auto stale = work;
    ++stale.token.seq;
    refuses_all(stale, JobError::lease_stale);
    CHECK(p.renew(work, 1, hash_of(1), time).accepted());
    CHECK(p.complete(work, {hash_of(1)}, "", time).accepted());  // renewed or not, it is the same work
    CHECK_FALSE(p.complete(work, {hash_of(1)}, "", time).accepted());
}

TEST_CASE("a worker announces its own result alone, whatever others commit to under its token") {
    auto p = processor(1);
    (void)p.post(plan, at(0s));
    const auto time = until_work(p);
    const auto work = *p.work();
    auto lie = message::QueueSnapshot{plan.job(), work.key.macro, false, {}, {}, {}, {}, {}, {}};
    for (std::uint64_t i = 0; i < 9; ++i) {
        lie.commitments.push_back({hash_of(100 + i), work.key, node(9).node, work.token, {}});
    }
    CHECK(received(p, lie, time).accepted());
    const auto done = p.complete(work, {hash_of(1)}, "out", time);
    const auto own = result_of(plan.macro(work.key.macro), work.key.micro, node(1), {hash_of(1)}, work.token);
    REQUIRE(count_sent<message::MicroDone>(done) == 1);
    CHECK(sent<message::MicroDone>(done)->digest == own.digest);
}

TEST_CASE("after a restart a processor takes up its job, but not the queues it owned") {
    auto p = processor(1);
    (void)p.post(plan, at(0s));
    (void)until_work(p);
    const auto kept = p.current()->replicas().at(0).snapshot();
    auto again = JobProcessor{node(1, 2), {}, allot::Intent{}, at(0s)};
    CHECK(again.resume({plan, {}}, {kept}, at(0s)).accepted());
    CHECK_FALSE(again.current()->replicas().at(0).state().owns());
    CHECK_FALSE(again.work());
    auto broken = kept;
    broken.macro = 2;
    auto third = JobProcessor{node(1, 3), {}, allot::Intent{}, at(0s)};
    CHECK(third.resume({plan, {}}, {broken}, at(0s)).error == JobError::macro_unknown);
    CHECK(third.current() == nullptr);
}

}  // namespace job_test::job_processor

#include <algorithm>
#include <cstdio>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "job/support/fixture.hpp"
#include "job/support/simulation.hpp"
#include "support/catch.hpp"

// Results are committed before they are disclosed (rule 33), so a thief hears no hash that it could still use.

namespace job_test::commitment {

namespace event = allot::job_event;
namespace message = allot::job_message;
using Snapshot = message::QueueSnapshot;

namespace {

const auto plan = plan_of({1, 1, 1, 2, 1}).macro(0);  // two MicroJobs

/// True if a message tells hashes of a result.
auto tells(const JobEffects& effects) -> bool {
    return std::any_of(effects.sends.begin(), effects.sends.end(), [](const auto& send) {
        const auto* snapshot = std::get_if<Snapshot>(&send.message);
        return std::holds_alternative<message::ResultFound>(send.message) ||
               (snapshot != nullptr && !snapshot->results.empty());
    });
}

/// Two replicas, each with one of the two MicroJobs; the second one owns the queue.
struct Pair {
    Pair() {
        (void)a.create(at(0s));
        pass(a.want_work(true, at(0s)), b, at(0s));
        pass(a.tick(at(0s)), b, at(0s));
        pass(b.want_work(true, at(1s)), a, at(1s));
        REQUIRE(a.work()->micro == 0);
        REQUIRE(b.work()->micro == 1);
        REQUIRE(b.state().owns());
    }
    /// Delivers all that was sent, and all that this brings.
    void pass(const JobEffects& effects, allot::MicroQueueReplica& to, TimePoint time) {
        last.append(JobEffects{effects});
        for (const auto& send : effects.sends) {
            auto answer = received(to, send.message, time);
            if (!answer.sends.empty()) { pass(answer, &to == &a ? b : a, time); }
        }
    }

    allot::MicroQueueReplica a{plan, node(1), {}, at(0s)};
    allot::MicroQueueReplica b{plan, node(2), {}, at(0s)};
    JobEffects last{};
};

}  // namespace

TEST_CASE("K4: no hash is told before every MicroJob of the MacroJob is committed; then all are") {
    auto p = Pair{};
    const auto first = p.a.complete(hashes_of(plan, 0), "out", at(2s));
    CHECK_FALSE(tells(first));
    CHECK(first.writes.empty());
    REQUIRE(sent<message::ResultCommitted>(first) != nullptr);
    const auto digest = sent<message::ResultCommitted>(first)->commitment.digest;
    p.last = {};
    p.pass(first, p.b, at(2s));
    CHECK(p.b.state().accepted()[0] == digest);  // done, although its hashes are known to its author alone
    CHECK_FALSE(tells(p.last));
    for (auto time = at(3s); time < at(12s); time += 1s) {
        for (auto* replica : {&p.a, &p.b}) {
            const auto ticked = replica->tick(time);
            CHECK_FALSE(tells(ticked));
            CHECK(replica->snapshot().results.empty());
            p.pass(ticked, replica == &p.a ? p.b : p.a, time);
        }
    }
    CHECK(p.a.saved().results.size() == 1);  // for its own disk only

    // The second and last commitment: both disclose, and the MacroJob ends.
    p.last = {};
    const auto second = p.b.complete(hashes_of(plan, 10), "out", at(12s));
    CHECK(second.writes.size() == 1);
    p.pass(second, p.a, at(12s));
    REQUIRE(p.b.record() != nullptr);
    REQUIRE(p.a.record() != nullptr);
    CHECK(*p.a.record() == *p.b.record());
    CHECK(p.a.record()->accepted[0].digest == digest);
}

TEST_CASE("what is committed and not disclosed in time counts no longer, and is done by another") {
    auto p = Pair{};
    const auto silent = p.a.complete(hashes_of(plan, 0), "out", at(2s));
    (void)received(p.b, *sent<message::ResultCommitted>(silent), at(2s));
    (void)p.b.complete(hashes_of(plan, 10), "out", at(3s));  // and the first node is never heard again
    CHECK(p.b.record() == nullptr);
    CHECK(p.b.tick(at(17s)).events.empty());
    CHECK(p.b.next_deadline() <= at(18s));
    (void)p.b.tick(at(18s));  // disclose_within after the last commitment
    CHECK_FALSE(p.b.state().accepted()[0]);
    CHECK(p.b.state().accepted()[1]);
    const auto control = p.b.state().control();
    CHECK(control.given[0].withheld);
    CHECK_FALSE(control.given[1].withheld);
    CHECK(p.b.snapshot().commitments.size() == 2);  // others see by it that results were to be disclosed
    // Too late.
    CHECK(received(p.b, *sent<message::ResultCommitted>(silent), at(19s)).error == JobError::result_unleased);
    // Nobody else is there, so the owner does it itself; that part may be a copy, and the record says so.
    const auto leased = p.b.tick(at(20s));
    REQUIRE(leased.get<event::MicroLeased>() != nullptr);
    const auto done = p.b.complete(hashes_of(plan, 0), "out", at(21s));
    const auto* ended = done.get<event::MacroEnded>();
    REQUIRE(ended != nullptr);
    CHECK(ended->record.disclosed == 2);
    CHECK(ended->record.unverified == std::vector{0U, 1U});  // one wallet has both, and one part is late
}

TEST_CASE("K4: a thief that commits to another's digest, or copies what it hears, has nothing that counts") {
    auto p = Pair{};
    const auto honest = p.a.complete(hashes_of(plan, 0), "out", at(2s));
    const auto heard = sent<message::ResultCommitted>(honest)->commitment;
    // The second node holds the other MicroJob, and promises the digest that it heard.
    const auto token = p.b.work()->token;
    auto stolen = allot::Commitment{heard.digest, {0, 1}, node(2).node, token, {}};
    CHECK(received(p.b, message::ResultCommitted{plan.job, stolen}, at(2s)).accepted());
    p.pass(honest, p.b, at(2s));
    CHECK(p.b.state().accepted()[0] == heard.digest);  // the honest one's counts all the same
    CHECK(p.b.state().accepted()[1] == heard.digest);
    for (auto time = at(3s); time < at(25s); time += 1s) {
        p.pass(p.a.tick(time), p.b, time);
        p.pass(p.b.tick(time), p.a, time);
    }
    const auto given = p.b.state().control().given;
    CHECK_FALSE(given[0].withheld);
    CHECK(given[1].withheld);  // it cannot keep that promise
    CHECK(p.b.record() == nullptr);
    // A node has one promise under one lease.
    auto second = heard;
    second.digest = hash_of(77);
    const auto twice = message::ResultCommitted{plan.job, second};
    CHECK(received(p.b, twice, at(25s)).get<event::MemberContradicted>()->node == node(1).node);
    CHECK(received(p.b, twice, at(25s)).error == JobError::result_twice);
}

TEST_CASE("K4: an owner's word that all results are committed discloses none") {
    auto p = Pair{};
    p.pass(p.a.complete(hashes_of(plan, 0), "out", at(2s)), p.b, at(2s));
    auto lie = *sent<Snapshot>(p.b.tick(at(4s)));
    lie.control->revision += 1;
    lie.control->items[1].hold.reset();
    lie.control->items[1].closed = true;
    lie.control->accepted[1] = hash_of(99);  // that of a result that nobody has
    const auto heard = received(p.a, lie, at(4s));
    CHECK(heard.accepted());
    CHECK(p.a.state().accepted()[1]);
    CHECK_FALSE(tells(heard));
    CHECK_FALSE(tells(p.a.tick(at(8s))));
}

/// The second node's queue, in which all is committed; it says so again each second until `end`. Returns what it says
/// then: that the first node's result was withheld.
auto called_withheld(Pair& p, Snapshot all_done, TimePoint end) -> Snapshot {
    all_done.control->items[1].hold.reset();
    all_done.control->items[1].closed = true;
    all_done.control->progress = all_done.control->clock;
    for (auto time = at(5s); time < end; time += 1s) {
        all_done.control->revision += 1;
        all_done.control->clock += 1s;
        REQUIRE(received(p.a, all_done, time).accepted());
        (void)p.a.tick(time);
    }
    all_done.control->revision += 1;
    all_done.control->clock += 3s;
    all_done.control->progress = all_done.control->clock;
    all_done.control->given[0].withheld = true;
    all_done.control->items[0].closed = false;
    all_done.control->accepted[0].reset();
    return all_done;
}

TEST_CASE("an owner cannot call a result withheld that nobody may disclose") {
    auto p = Pair{};
    p.pass(p.a.complete(hashes_of(plan, 0), "out", at(2s)), p.b, at(2s));
    auto lie = *sent<Snapshot>(p.b.tick(at(4s)));
    lie.control->accepted[1] = hash_of(99);  // the owner's own, and it keeps the commitment to itself
    const auto told = called_withheld(p, lie, at(25s));
    CHECK(received(p.a, told, at(25s)).error == JobError::history_changed);
    CHECK(p.a.state().accepted()[0]);
    // A node that missed all for long takes the owner's word: others may have seen the commitment.
    auto late = told;
    late.control->revision += 100;
    late.control->clock += 60s;
    CHECK(received(p.a, late, at(83s)).error == JobError::history_changed);
    CHECK(received(p.a, late, at(84s)).accepted());
    CHECK_FALSE(p.a.state().accepted()[0]);
}

TEST_CASE("an owner can call a result withheld once it is to be disclosed, and cannot if it is here") {
    auto p = Pair{};
    p.pass(p.a.complete(hashes_of(plan, 0), "out", at(2s)), p.b, at(2s));
    auto owner = *sent<Snapshot>(p.b.tick(at(4s)));
    const auto own = allot::commitment_of(result_of(plan, 1, node(2), hashes_of(plan, 10), p.b.work()->token));
    owner.control->accepted[1] = own.digest;
    owner.commitments.push_back(own);
    const auto promised = *p.a.state().accepted()[0];
    const auto told = called_withheld(p, owner, at(17s));
    REQUIRE_FALSE(p.a.state().owns());
    CHECK(received(p.a, told, at(17s)).error == JobError::history_changed);  // it has disclosed its result
    // Another node has the commitments, and not the result.
    auto c = allot::MicroQueueReplica{plan, node(3), {}, at(0s)};
    owner.commitments.insert(owner.commitments.end(), p.a.state().results().commitments().begin(),
                             p.a.state().results().commitments().end());
    owner.control->items[1].hold.reset();
    owner.control->items[1].closed = true;
    REQUIRE(received(c, owner, at(7s)).accepted());
    CHECK(c.state().accepted()[0] == promised);
    CHECK(received(c, told, at(18s)).error == JobError::history_changed);
    CHECK(received(c, told, at(19s)).accepted());
    CHECK_FALSE(c.state().accepted()[0]);
    CHECK_FALSE(c.state().may_count(node(1).node, 0, c.state().control().given[0].token));
}

TEST_CASE("a commitment is refused for each fault of it") {
    auto owner = allot::MicroQueueReplica{plan, node(1), {}, at(0s)};
    (void)owner.create(at(0s));
    (void)owner.want_work(true, at(0s));
    const auto right = allot::Commitment{hash_of(1), {0, 0}, node(1).node, owner.work()->token, {}};
    const auto says = [&](auto change) {
        auto c = right;
        change(c);
        return received(owner, message::ResultCommitted{plan.job, c}, at(1s)).error;
    };
    CHECK(says([](auto& c) { c.key.macro = 1; }) == JobError::macro_unknown);
    CHECK(says([](auto& c) { c.key.micro = 2; }) == JobError::micro_unknown);
    CHECK(says([](auto& c) { c.digest = {}; }) == JobError::result_hash_missing);
    CHECK(says([](auto& c) { c.node = allot::NodeId::null(); }) == JobError::node_invalid);
    CHECK(says([](auto& c) { c.node = node(2).node; }) == JobError::result_unleased);
    CHECK(says([](auto& c) { c.token.seq = 9; }) == JobError::result_unleased);
    CHECK(says([](auto&) {}) == std::nullopt);
    CHECK(says([](auto&) {}) == JobError::result_duplicate);
    CHECK(received(owner, message::ResultCommitted{allot::JobId{"another"}, right}, at(1s)).error ==
          JobError::job_unknown);
}

TEST_CASE("members who trust each other save the round of commitments; what it costs is measured") {
    auto sum = std::array<std::int64_t, 2>{};
    auto messages = std::array<std::uint64_t, 2>{};
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const auto commits : {false, true}) {
            auto o = Options{};
            o.nodes = 12;
            o.slicing = {1, 10, 1, 10, 1};
            o.commit_results = commits;
            const auto outcome = Simulation(o, seed).run();
            CHECK(outcome.outcome == allot::JobOutcome::complete);
            CHECK(outcome.executions == 11);
            sum[commits ? 1 : 0] += outcome.ended_at;
            messages[commits ? 1 : 0] += outcome.messages;
        }
    }
    fmt::print(stderr,
               "a MacroJob of 11 parts, mean of 40 runs: {} ms without commitments, {} ms with; {} and {} messages\n",
               sum[0] / 40, sum[1] / 40, messages[0] / 40, messages[1] / 40);
    CHECK(sum[1] - sum[0] < 40 * 1'000);  // one round of messages, whatever the work takes
}

}  // namespace job_test::commitment

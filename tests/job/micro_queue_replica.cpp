#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

namespace job_test::micro_queue_replica {
using allot::MicroQueueReplica;
namespace message = allot::job_message;
namespace event = allot::job_event;

namespace {

const auto plan = plan_of({1, 3, 0, 2, 0}).macro(0);

auto replica(std::uint32_t number, allot::QueueParameters parameters = {}, std::uint64_t boot = 1)
    -> MicroQueueReplica {
    return {plan, node(number, boot), parameters, at(0s)};
}
auto request(std::uint32_t number) -> message::OwnershipRequest {
    return {plan.job, 0, node(number).node, node(number).wallet, 1};
}

/// Two replicas of a queue that the first owns.
struct Pair {
    explicit Pair(allot::QueueParameters p = {}) : a{replica(1, p)}, b{replica(2, p)} {
        tell(a.create(at(0s)), b, at(0s));
    }
    static void tell(const JobEffects& effects, MicroQueueReplica& to, TimePoint time) {
        for (const auto& send : effects.sends) { (void)received(to, send.message, time); }
    }
    MicroQueueReplica a;
    MicroQueueReplica b;
};

/// That the input is refused so, and that nothing changed.
template <class F>
void refuses(MicroQueueReplica& replica, F&& input, JobError error) {
    const auto before = replica.snapshot();
    const auto deadline = replica.next_deadline();
    const auto effects = input(replica);
    CHECK(effects.error == error);
    CHECK(effects.sends.empty());
    CHECK(effects.events.empty());
    CHECK(replica.snapshot() == before);
    CHECK(replica.next_deadline() == deadline);
}

}  // namespace

TEST_CASE("members that make up commitments do not make the snapshots of honest members too large") {
    auto r = replica(1);
    (void)r.create(at(0s));
    (void)r.want_work(true, at(1s));
    REQUIRE(r.work().has_value());
    const auto token = r.work()->token;
    auto made_up = message::QueueSnapshot{plan.job, 0, false, {}, {}, {}, {}, {}, {}};
    for (std::uint64_t i = 0; i < 16; ++i) {
        for (std::uint32_t micro = 0; micro < plan.items(); ++micro) {
            for (const auto number : {3U, 4U, 5U}) {
                made_up.commitments.push_back(
                    {hash_of(1'000 * i + 10 * micro + number), {0, micro}, node(number).node, {9, 9, 9 + i}, {}});
            }
        }
    }
    for (const auto& promise : made_up.commitments) {
        auto one = made_up;
        one.commitments = {promise};
        CHECK(received(r, one, at(3s)).accepted());
    }
    REQUIRE(r.complete(hashes_of(plan, 0), "", at(4s)).accepted());
    for (const auto& kept : {r.snapshot(), r.saved()}) {
        CHECK(fault_of(plan, kept, allot::QueueParameters{}) == std::nullopt);
        REQUIRE(kept.commitments.size() == 1);  // that of the only lease
        CHECK(kept.commitments[0].token == token);
    }
}

TEST_CASE("what makes no sense is refused with its own error and changes nothing") {
    auto r = replica(1);
    refuses(
        r, [](auto& x) { return x.complete(hashes_of(plan, 0), "", at(1s)); }, JobError::lease_missing);
    refuses(
        r, [](auto& x) { return x.fail(at(1s)); }, JobError::lease_missing);
    refuses(
        r, [](auto& x) { return x.renew(1, hash_of(1), at(1s)); }, JobError::lease_missing);
    refuses(
        r, [](auto& x) { return x.on_claim(hash_of(1), true, at(1s)); }, JobError::claim_unknown);
    (void)r.create(at(2s));
    (void)r.want_work(true, at(2s));
    refuses(
        r, [](auto& x) { return x.create(at(2s)); }, JobError::queue_exists);
    refuses(
        r, [](auto& x) { return x.tick(at(1s)); }, JobError::time_went_back);
    refuses(
        r, [](auto& x) { return x.complete({hash_of(1)}, "", at(2s)); }, JobError::result_length_wrong);
    refuses(
        r,
        [](auto& x) {
            return x.complete({hash_of(1), {}}, "", at(2s));
        },
        JobError::result_hash_missing);
    refuses(
        r,
        [](auto& x) {
            return x.reject({hash_of(1), {0, 3}, node(1).node, node(1).wallet}, at(2s));
        },
        JobError::micro_unknown);
    refuses(
        r,
        [](auto& x) {
            return x.reject({hash_of(1), {1, 0}, node(1).node, node(1).wallet}, at(2s));
        },
        JobError::macro_unknown);
}

TEST_CASE("a clock far ahead is refused, unless members insist on it for long enough without a pause") {
    auto p = Pair{};
    auto ahead = p.a.snapshot();
    auto& control = *ahead.control;
    control.clock += 1h;
    control.chain.push_back(
        {{1'000, node(3).node, 1, control.reign().rank(), true, control.clock}, {}});  // a victim that believed it
    REQUIRE(fault_of(plan, control, allot::QueueParameters{}) == std::nullopt);
    const auto hears = [&](allot::Duration time) { return received(p.b, ahead, at(time)).error; };
    for (auto time = 1s; time <= 19s; time += 2s) { CHECK(hears(time) == JobError::message_time_wrong); }
    for (auto time = 30s; time < 50s; time += 2s) { CHECK(hears(time) == JobError::message_time_wrong); }
    CHECK_FALSE(hears(50s));  // 15 s * 4^4 are more than an hour
    CHECK(p.b.state().reign() == control.reign());
    CHECK(p.b.state().clock(at(51s)) == control.clock + 1s);
}

TEST_CASE("a queue that begins with the greatest clock or number of leases is refused, so that it can go on") {
    auto liar = replica(9);
    auto first = *sent<message::QueueSnapshot>(liar.create(at(0s)));
    const auto takes = [&](TimePoint clock, std::uint64_t tokens) {
        auto r = replica(2);
        first.control->clock = clock;
        first.control->tokens = tokens;
        const auto error = received(r, first, at(1s)).error;
        CHECK(r.state().known() == !error);
        return error;
    };
    const auto half = TimePoint{allot::time_point_max.time_since_epoch() / 2};
    CHECK(takes(allot::time_point_max, 0) == JobError::message_time_wrong);
    CHECK(takes(half + 1ms, 0) == JobError::message_time_wrong);
    CHECK(takes(half, 0) == std::nullopt);
    CHECK(takes(at(1s), 16) == JobError::message_too_large);
    CHECK(takes(at(1s), 15) == std::nullopt);  // five leases of each of three MicroJobs in its only reign
    // Honest owners go on from the greatest of both.
    auto r = replica(2);
    first.control->clock = half;
    (void)received(r, first, at(1s));
    (void)r.want_work(true, at(1s));
    auto other = replica(3);
    (void)received(other, first, at(1s));
    while (!r.state().owns()) { (void)r.tick(*r.next_deadline()); }
    REQUIRE(r.work());
    CHECK(received(other, r.snapshot(), at(30s)).accepted());
    CHECK(other.state().reign() == r.state().reign());
    // As long as it is away, a member knows no clock better.
    auto back = replica(2, {}, 2);
    (void)back.resume(r.saved(), at(30s));
    auto ahead = r.snapshot();
    ahead.control->clock = allot::time_point_max;
    ++ahead.control->revision;
    CHECK(received(back, ahead, at(31s)).error == JobError::message_time_wrong);
}

TEST_CASE("a saved state that is refused lets no clock far ahead in") {
    auto p = Pair{};
    auto wrong = p.b.saved();
    wrong.macro = 7;
    CHECK(p.b.resume(wrong, at(1s)).error == JobError::macro_unknown);
    auto ahead = p.a.snapshot();
    ahead.control->clock += 1h;
    ++ahead.control->revision;
    CHECK(received(p.b, ahead, at(1s)).error == JobError::message_time_wrong);
}

TEST_CASE("members that insist on a clock far ahead end no work with it") {
    auto p = Pair{};
    auto ahead = p.a.snapshot();
    auto& control = *ahead.control;
    control.clock += 700s;  // beyond `abandon_after`
    control.chain.push_back({{1'000, node(3).node, 1, control.reign().rank(), true, control.clock}, {}});
    control.items[0].closed = true;
    const auto hears = [&](allot::Duration time) { return received(p.b, ahead, at(time)).error; };
    auto refused = std::map<JobError, int>{};
    for (auto time = 1s; time < 60s; time += 3s) {
        const auto error = hears(time);
        REQUIRE(error);
        ++refused[*error];
    }
    CHECK(refused[JobError::history_changed] > 0);  // the clock itself was taken then
    CHECK(refused.size() == 2);                     // else it was refused for its clock
    CHECK_FALSE(p.b.state().leases().find(0)->closed);
}

TEST_CASE("malformed and foreign messages are refused with their own error and change nothing") {
    auto p = Pair{};
    (void)p.a.want_work(true, at(1s));
    const auto hear = [](auto message) { return [message](auto& x) { return received(x, message, at(2s)); }; };
    const auto good = p.a.snapshot();
    const auto with = [&](auto change) {
        auto snapshot = good;
        change(snapshot);
        return hear(snapshot);
    };
    using S = message::QueueSnapshot;
    refuses(p.a, with([](S& s) { s.job = allot::JobId{"another"}; }), JobError::job_unknown);
    refuses(p.a, with([](S& s) { s.macro = 1; }), JobError::macro_unknown);
    refuses(p.a, with([](S& s) { s.control->items.clear(); }), JobError::message_shape_wrong);
    refuses(p.a, with([](S& s) { s.control->clock = TimePoint::min(); }), JobError::message_time_wrong);
    refuses(p.a, with([](S& s) { s.control->items[1].attempts = 6; }), JobError::message_too_large);
    refuses(p.a, with([](S& s) { s.control->given.resize(200, s.control->given.at(0)); }), JobError::message_too_large);
    refuses(p.a, with([](S& s) { s.results.resize(200, result_of(plan, 0, node(1), hashes_of(plan, 0))); }),
            JobError::message_too_large);
    refuses(p.a, with([](S& s) { s.results.push_back(result_of(plan, 0, node(1), {hash_of(1)})); }),
            JobError::result_length_wrong);
    refuses(p.a, with([](S& s) {
                s.rejected.push_back({hash_of(1), {0, 0}, allot::NodeId{""}, node(1).wallet});
            }),
            JobError::node_invalid);
    refuses(p.a, with([](S& s) {
                s.rejected.push_back({hash_of(1), {0, 9}, node(1).node, node(1).wallet});
            }),
            JobError::micro_unknown);
    refuses(p.a, with([](S& s) {
                s.records.push_back({plan.job, 0, 1, node(1).node, allot::JobOutcome::complete, {}, {}, false, {}});
            }),
            JobError::record_invalid);
    refuses(p.a, with([](S& s) {
                s.final =
                    allot::FinalRecord{plan.job, 1, node(1).node, allot::JobOutcome::complete, {hash_of(1)}, {}, {}};
            }),
            JobError::record_invalid);
    refuses(p.a, with([](S& s) {  // right in itself, but of another number of MacroJobs
                s.final = allot::FinalRecord{plan.job, 1, node(1).node, allot::JobOutcome::complete, {}, {}, {}};
                s.final->macros.resize(plan.macro_count + 1, hash_of(1));
                s.final->digest = digest_of(*s.final);
            }),
            JobError::record_invalid);
    refuses(p.a, hear(message::OwnershipRequest{plan.job, 0, allot::NodeId{""}, node(1).wallet, 1}),
            JobError::node_invalid);
    refuses(p.a, hear(message::OwnershipRequest{plan.job, 0, node(3).node, allot::WalletId{""}, 1}),
            JobError::wallet_invalid);
    refuses(p.a, hear(message::OwnershipRequest{allot::JobId{"another"}, 0, node(3).node, node(3).wallet, 1}),
            JobError::job_unknown);
    refuses(p.a, hear(message::RenewalRequest{plan.job, {0, 0}, node(1).node, {1, 2, 3}, {1, hash_of(1)}}),
            JobError::lease_stale);
    refuses(p.a, hear(message::RenewalRequest{plan.job, {0, 9}, node(1).node, {1, 2, 3}, {1, hash_of(1)}}),
            JobError::micro_unknown);
    refuses(p.a, hear(message::LeaseReturned{plan.job, {0, 1}, node(1).node, {1, 2, 3}}), JobError::lease_missing);
    refuses(p.a, hear(message::LeaseReturned{plan.job, {1, 1}, node(1).node, {1, 2, 3}}), JobError::macro_unknown);
    refuses(p.a, hear(message::JobsQuery{node(1).node}), JobError::message_shape_wrong);
    refuses(p.a,
            hear(message::ResultFound{plan.job,
                                      result_of(plan_of({1, 3, 0, 2, 0}, 8).macro(0), 0, node(3), hashes_of(plan, 0))}),
            JobError::result_of_another_micro);
}

TEST_CASE("results are taken in before any queue is known, and duplicates change nothing") {
    auto r = replica(1);
    const auto found = message::ResultFound{plan.job, result_of(plan, 0, node(3), hashes_of(plan, 0))};
    CHECK(received(r, found, at(1s)).accepted());
    refuses(
        r, [&](auto& x) { return received(x, found, at(1s)); }, JobError::result_duplicate);
    // The same node, under the same lease, with another content: one of the two is a lie.
    const auto other = message::ResultFound{plan.job, result_of(plan, 0, node(3), hashes_of(plan, 9))};
    CHECK(received(r, other, at(1s)).get<event::MemberContradicted>()->node == node(3).node);
    CHECK(r.state().is_barred(node(3).node));
    CHECK_FALSE(r.state().is_barred(node(2).node));
    refuses(
        r, [&](auto& x) { return received(x, other, at(1s)); }, JobError::result_twice);
    // The queue that is created here gave nobody that lease.
    CHECK(r.create(at(2s)).get<event::MicroCompleted>() == nullptr);
    CHECK_FALSE(r.state().leases().find(0)->closed);
}

TEST_CASE("who has no lease, or another's, is paid nothing for hashes, however quick it is", "[K5]") {
    auto owner = replica(1);
    (void)owner.create(at(0s));
    (void)owner.want_work(true, at(0s));
    const auto work = *owner.work();
    const auto claims = [&](std::uint32_t n, std::uint32_t micro, allot::FencingToken token) {
        const auto claim = result_of(plan, micro, node(n), hashes_of(plan, 0), token);
        refuses(
            owner,
            [&](auto& x) {
                return received(x, message::ResultFound{plan.job, claim}, at(1s));
            },
            JobError::result_unleased);
        // Neither does it count in a snapshot.
        (void)received(owner, message::QueueSnapshot{plan.job, 0, false, {}, {}, {claim}, {}, {}, {}}, at(1s));
        CHECK_FALSE(owner.state().accepted()[micro]);
    };
    claims(3, 0, work.token);
    claims(3, 1, {work.token.epoch, work.token.rank, 2});
    claims(3, 2, {work.token.epoch, work.token.rank, 0});
    claims(3, 2, {9, 9, 9});
    claims(1, 1, work.token);
    const auto done = owner.complete(hashes_of(plan, 0), "", at(2s));
    REQUIRE(done.get<event::MicroCompleted>() != nullptr);
    CHECK(done.get<event::MicroCompleted>()->node == node(1).node);
}

TEST_CASE("P7: a rejected result stays rejected, also after the state was kept and loaded") {
    auto r = replica(1, trusting());
    (void)r.create(at(0s));
    (void)r.want_work(true, at(0s));
    const auto result = r.complete(hashes_of(plan, 0), "out", at(1s)).writes.at(0).record;
    CHECK(r.reject(rejection_of(result), at(2s)).get<event::ResultRejected>()->node == node(1).node);
    CHECK_FALSE(r.state().accepted()[0]);
    const auto kept = r.saved();
    auto again = replica(1, trusting(), 2);
    CHECK(received(again, kept, at(0s)).accepted());
    refuses(
        again,
        [&](auto& x) {
            return received(x, message::ResultFound{plan.job, result}, at(1s));
        },
        JobError::result_rejected);
    (void)received(again, message::QueueSnapshot{plan.job, 0, false, {}, {}, {result}, {}, {}, {}}, at(1s));
    CHECK(again.state().results().results().empty());
}

TEST_CASE("who restarts with an old state does not believe to own the queue") {
    auto r = replica(1);
    (void)r.create(at(0s));
    auto again = replica(1, {}, 2);
    (void)received(again, r.snapshot(), at(0s));
    CHECK_FALSE(again.state().owns());
    CHECK(again.next_deadline() == at(5s));  // it was the last owner, so it is the first in line
    CHECK(again.tick(at(5s)).get<event::OwnershipTaken>() != nullptr);
    CHECK(again.state().reign().epoch == 2);
}

TEST_CASE("an owner that restarts with an older state does not contradict itself, and signs no other state") {
    const auto small = plan_of({1, 1, 0, 3, 0}).macro(0);
    auto r = MicroQueueReplica{small, node(1), {}, at(0s)};
    (void)r.want_work(true, at(0s));
    (void)r.create(at(0s));  // it leases the only MicroJob
    const auto told = *sent<message::QueueSnapshot>(received(r, request(2), at(100ms)));
    CHECK(count_sent<message::QueueSnapshot>(received(r, request(2), at(600ms))) == 0);  // noted
    const auto saved = r.saved();
    REQUIRE(saved.control->revision == told.control->revision);
    REQUIRE_FALSE(*saved.control == *told.control);
    auto again = MicroQueueReplica{small, node(1, 2), {}, at(0s)};
    REQUIRE(again.resume(saved, at(700ms)).accepted());
    const auto late = again.on_message(node(9).node, told, at(800ms));
    CHECK(late.get<event::MemberContradicted>() == nullptr);
    CHECK(count_sent<message::ContradictionFound>(late) == 0);
    CHECK_FALSE(again.state().is_barred(node(1).node));
    // Another's contradiction is seen, but not told with a state of its own that it may have told otherwise.
    auto fork = replica(3);
    (void)fork.create(at(0s));
    auto first = *sent<message::QueueSnapshot>(received(fork, request(1), at(1s)));
    auto owner = replica(1);
    (void)received(owner, first, at(1s));
    REQUIRE(owner.state().owns());
    auto back = replica(1, {}, 2);
    REQUIRE(back.resume(owner.saved(), at(2s)).accepted());
    auto rival = replica(3);
    (void)rival.create(at(0s));
    const auto other = *sent<message::QueueSnapshot>(received(rival, request(2), at(1s)));
    const auto heard = received(back, other, at(2s));
    CHECK(heard.get<event::MemberContradicted>()->node == node(3).node);
    CHECK(count_sent<message::ContradictionFound>(heard) == 0);
}

TEST_CASE("an owner that falls silent is replaced, by the owner before it first") {
    auto p = Pair{};
    Pair::tell(received(p.a, request(2), at(1s)), p.b, at(1s));
    REQUIRE(p.b.state().owns());
    // b falls silent. What a heard last was its own hand-over.
    CHECK(p.a.tick(at(6'999ms)).get<event::OwnershipTaken>() == nullptr);
    CHECK(p.a.tick(at(7s)).get<event::OwnershipTaken>()->epoch == 3);  // 1 s + 5 s, and one place in line
}

namespace {

/// Lets an owner send heartbeats to another replica and answer nothing. Returns when the other one takes over, or none.
auto replaced_at(MicroQueueReplica& owner, MicroQueueReplica& other, TimePoint from, TimePoint until)
    -> std::optional<TimePoint> {
    for (auto time = from; time < until; time += 100ms) {
        Pair::tell(owner.tick(time), other, time);
        if (other.tick(time).get<event::OwnershipTaken>() != nullptr) { return time; }
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("an owner that is heard and never hands over is replaced by a node that wants work") {
    auto p = Pair{};
    CHECK_FALSE(replaced_at(p.a, p.b, at(0s), at(60s)));  // nobody wants anything from it
    (void)p.b.want_work(true, at(60s));
    const auto time = replaced_at(p.a, p.b, at(60s), at(120s));
    REQUIRE(time);
    CHECK(*time >= at(75s));  // request_ttl
    CHECK(*time <= at(75s) + 9s);
    CHECK(p.b.work());
}

TEST_CASE("an owner that does not record a result, retract or conclude is replaced as well") {
    auto p = Pair{};
    (void)p.b.want_work(true, at(0s));
    Pair::tell(received(p.a, request(2), at(0s)), p.b, at(0s));
    const auto back = received(p.b, request(1), at(1s));  // it has its MicroJob, and passes the queue on
    Pair::tell(back, p.a, at(1s));
    REQUIRE(p.a.state().owns());
    REQUIRE(p.b.work());
    (void)p.b.want_work(false, at(1s));
    CHECK_FALSE(replaced_at(p.a, p.b, at(1s), at(2s)));
    CHECK(p.b.complete(hashes_of(plan, 0), "out", at(2s)).accepted());
    const auto time = replaced_at(p.a, p.b, at(2s), at(60s));
    REQUIRE(time);
    CHECK(*time >= at(17s));
    CHECK(p.b.state().accepted()[0]);
}

TEST_CASE("who hands one reign to two members is replaced at once, and handed the queue no more") {
    auto p = Pair{};
    auto fork = replica(1);
    (void)fork.create(at(0s));
    const auto to = [&](std::uint32_t n, MicroQueueReplica from) {
        return *sent<message::QueueSnapshot>(received(from, request(n), at(1s)));
    };
    auto c = replica(3);
    (void)received(c, to(4, fork), at(1s));
    CHECK_FALSE(c.state().is_barred(node(1).node));
    const auto heard = received(c, to(5, fork), at(1s));
    REQUIRE(heard.get<event::MemberContradicted>() != nullptr);
    CHECK(heard.get<event::MemberContradicted>()->node == node(1).node);
    CHECK(received(c, to(4, fork), at(2s)).get<event::MemberContradicted>() == nullptr);  // told once
    // Two controls of one revision are a contradiction, too; the same one heard twice is not.
    auto d = replica(3);
    const auto first = *sent<message::QueueSnapshot>(fork.tick(at(2s)));
    auto second = first;
    second.control->requests.push_back({node(9).node, node(9).wallet, 1, at(1s)});
    (void)received(d, first, at(2s));
    CHECK(received(d, first, at(2s)).get<event::MemberContradicted>() == nullptr);
    CHECK(received(d, second, at(2s)).get<event::MemberContradicted>() != nullptr);
    // It owns the queue, and d wants work: it waits for its turn, and not for `request_ttl`.
    (void)d.want_work(true, at(2s));
    const auto time = replaced_at(fork, d, at(2s), at(60s));
    REQUIRE(time);
    CHECK(*time < at(12s));
    (void)received(d, request(1), *time);
    CHECK(d.state().next_in_line(*time) == nullptr);
}

TEST_CASE("a contradiction is told to members that saw one side of it, or none") {
    using Found = message::ContradictionFound;
    auto fork = replica(1);
    (void)fork.create(at(0s));
    const auto first = *sent<message::QueueSnapshot>(fork.tick(at(2s)));
    auto second = first;
    second.control->requests.push_back({node(9).node, node(9).wallet, 1, at(1s)});
    auto d = replica(3);
    (void)received(d, first, at(2s));
    const auto told = *sent<Found>(received(d, second, at(2s)));
    CHECK(count_sent<Found>(received(d, second, at(2s))) == 0);

    auto stranger = replica(4);  // of the queue
    const auto heard = received(stranger, told, at(2s));
    CHECK(heard.get<event::MemberContradicted>()->node == node(1).node);
    CHECK(stranger.state().is_barred(node(1).node));
    CHECK(count_sent<Found>(heard) == 1);
    CHECK(received(stranger, told, at(2s)).sends.empty());
    CHECK_FALSE(stranger.state().known());  // neither side replaces the queue

    // Two controls that do not contradict each other prove nothing, and neither do those of another queue.
    const auto refused = [](auto change, const Found& found) {
        auto r = replica(5);
        auto made_up = found;
        change(made_up);
        const auto effects = received(r, made_up, at(2s));
        CHECK_FALSE(r.state().is_barred(node(1).node));
        return effects.error;
    };
    CHECK(refused([](Found& m) { m.other = m.one; }, told) == JobError::message_shape_wrong);
    CHECK(refused([](Found& m) { ++m.other.revision; }, told) == JobError::message_shape_wrong);
    CHECK(refused([](Found& m) { ++m.macro; }, told) == JobError::macro_unknown);
    CHECK(refused([](Found& m) { m.job = allot::JobId{"another"}; }, told) == JobError::job_unknown);
    CHECK(refused([](Found& m) { m.one.chain.clear(); }, told) == JobError::message_shape_wrong);
    CHECK(refused([](Found& m) { m.other.items.pop_back(); }, told) == JobError::message_shape_wrong);
}

TEST_CASE("two commitments under one lease are a contradiction, whoever relays them") {
    auto p = Pair{};
    (void)p.a.want_work(true, at(1s));
    Pair::tell(p.a.tick(at(2s)), p.b, at(2s));
    REQUIRE(p.a.work());
    const auto one = result_of(plan, 0, node(1), hashes_of(plan, 1), p.a.work()->token);
    const auto other = result_of(plan, 0, node(1), hashes_of(plan, 2), p.a.work()->token);
    const auto told = [](std::vector<allot::Commitment> promises, std::vector<allot::ResultRecord> results) {
        return message::QueueSnapshot{plan.job, 0, false, {}, promises, results, {}, {}, {}};
    };
    const auto bars = [&](const std::vector<allot::JobMessage>& messages) {
        auto r = p.b;
        auto times = 0;
        for (const auto& m : messages) {
            times += received(r, m, at(3s)).get<event::MemberContradicted>() != nullptr ? 1 : 0;
        }
        CHECK(times == (r.state().is_barred(node(1).node) ? 1 : 0));
        return times == 1;
    };
    const auto own = message::ResultCommitted{plan.job, commitment_of(one)};
    CHECK(bars({own, told({commitment_of(other)}, {})}));
    CHECK(bars({told({commitment_of(one), commitment_of(other)}, {}), own}));
    CHECK(bars({own, told({}, {other})}));
    CHECK_FALSE(bars({own, told({commitment_of(one)}, {one}), own}));
}

TEST_CASE("an owner that sees its queue forked tells it beside its own") {
    using Found = message::ContradictionFound;
    auto fork = replica(1);
    (void)fork.create(at(0s));
    const auto to = [&](std::uint32_t n, MicroQueueReplica from) {
        return *sent<message::QueueSnapshot>(received(from, request(n), at(1s)));
    };
    auto owner = replica(3);
    (void)received(owner, to(3, fork), at(1s));
    REQUIRE(owner.state().owns());
    auto rival = to(2, fork);
    for (std::uint32_t n = 4; rival.control->newer_than(owner.state().control()); ++n) { rival = to(n, fork); }
    const auto effects = received(owner, rival, at(1s));
    CHECK(effects.get<event::MemberContradicted>()->node == node(1).node);
    const auto told = *sent<Found>(effects);
    CHECK(told.one == sent<message::QueueSnapshot>(effects)->control);  // signed in one state
    auto other = replica(4);
    CHECK(received(other, told, at(1s)).get<event::MemberContradicted>()->node == node(1).node);
    // A member that is new in the line is told as well. (This one is barred, so the queue stays here.)
    auto late = request(1);
    CHECK(sent<Found>(received(owner, late, at(3s)))->one == told.one);
    CHECK(count_sent<Found>(received(owner, late, at(5s))) == 0);  // it repeats its request
    ++late.boot;
    CHECK(count_sent<Found>(received(owner, late, at(7s))) == 1);  // it was away
    ++late.boot;
    CHECK(count_sent<Found>(received(owner, late, at(7s))) == 0);  // not for each word
}

TEST_CASE("an owner is heard at least every heartbeat, and each word puts off who would replace it") {
    auto p = Pair{};
    auto time = at(0s);
    for (auto i = 0; i < 20; ++i) {
        REQUIRE(*p.a.next_deadline() <= time + 1'600ms);
        time = *p.a.next_deadline();
        const auto said = p.a.tick(time);
        REQUIRE(count_sent<message::QueueSnapshot>(said) == 1);
        Pair::tell(said, p.b, time);
        CHECK(*p.b.next_deadline() >= time + 5s);
    }
}

TEST_CASE("with quota one an owner works once and then serves who waits; with quota none it serves at once") {
    for (const auto quota : {0U, 1U}) {
        auto parameters = allot::QueueParameters{};
        parameters.quota = quota;
        auto r = replica(1, parameters);
        (void)r.create(at(0s));
        const auto asked = received(r, request(2), at(0s));  // does not want work itself: serves
        CHECK(asked.get<event::OwnershipGranted>() != nullptr);
        auto s = replica(1, parameters);
        (void)s.want_work(true, at(0s));
        (void)s.create(at(0s));
        CHECK(s.work());
        CHECK(received(s, request(2), at(1s)).get<event::OwnershipGranted>()->owner == node(2).node);
    }
}

TEST_CASE("an owner that has had its quota lets who waits go first when a MicroJob is open again") {
    const auto four = plan_of({1, 4, 0, 2, 0}).macro(0);
    for (const auto quota : {0U, 1U, 2U}) {
        auto parameters = allot::QueueParameters{};
        parameters.quota = quota;
        auto r = MicroQueueReplica{four, node(1), parameters, at(0s)};
        (void)r.create(at(0s));
        auto leased = r.snapshot();  // all but the first have a holder, and the second lease ends at 3 s
        leased.control->revision = 9;
        const auto passes = [&](const allot::NodeId& to) {
            const auto last = leased.control->reign();
            leased.control->chain.push_back({{last.epoch + 1, to, 1, last.rank(), false, at(0s)}, {}});
        };
        for (const auto k : {1U, 2U, 3U}) {
            const auto holder = node(k == 1 ? 3 : 4).node;
            if (k != 3) { passes(holder); }
            const auto& reign = leased.control->reign();
            const auto token = allot::FencingToken{reign.epoch, reign.rank(), ++leased.control->tokens};
            leased.control->items[k].attempts = 1;
            leased.control->items[k].hold = {holder, token, at(0s), k == 1 ? at(3s) : at(15s), 0};
            leased.control->given.push_back({k, holder, token, false, {}});
        }
        passes(node(1).node);
        REQUIRE(received(r, leased, at(0s)).accepted());
        (void)r.want_work(true, at(0s));
        CHECK(r.complete(hashes_of(four, 0), "", at(1s)).accepted());
        const auto asked = message::OwnershipRequest{four.job, 0, node(2).node, node(2).wallet, 1};
        CHECK(received(r, asked, at(1s)).get<event::OwnershipGranted>() == nullptr);  // it waits in line
        const auto opened = r.tick(at(3s));
        CHECK((opened.get<event::OwnershipGranted>() != nullptr) == (quota < 2));
        CHECK((opened.get<event::MicroLeased>() != nullptr) == (quota == 2));
    }
}

TEST_CASE("a request that is heard while the queue is handed over is not lost") {
    auto p = Pair{};
    (void)received(p.b, request(3), at(1s));
    const auto given = received(p.a, request(2), at(1s));
    const auto effects = received(p.b, *sent<message::QueueSnapshot>(given), at(1s));
    CHECK(effects.get<event::OwnershipGranted>()->owner == node(2).node);
    CHECK(p.b.state().reign().owner == node(3).node);  // passed on at once: b wants nothing
}

TEST_CASE("P10: a grantee who did not hear is told again, but not for each request") {
    auto p = Pair{};
    const auto given = received(p.a, request(2), at(1s));
    const auto again = received(p.a, request(2), at(2s));
    CHECK(sent<message::QueueSnapshot>(again)->control->reign() ==
          sent<message::QueueSnapshot>(given)->control->reign());
    CHECK(received(p.a, request(2), at(2'500ms)).sends.empty());
}

TEST_CASE("a lease is renewed by its holder, at the owner, and only under its token") {
    auto p = Pair{};
    (void)p.b.want_work(true, at(0s));
    auto given = received(p.a, request(2), at(0s));
    Pair::tell(received(p.b, *sent<message::QueueSnapshot>(given), at(0s)), p.a, at(0s));
    REQUIRE(p.b.work());
    CHECK(p.b.work()->renew_at == at(7'500ms));
    CHECK(p.b.renew(1, hash_of(0), at(7s)).get<event::LeaseLengthened>() != nullptr);
    CHECK(p.b.state().leases().find(0)->hold->expires == at(22s));
    Pair::tell(received(p.b, request(1), at(8s)), p.a, at(8s));
    REQUIRE(p.a.state().owns());
    const auto asked = p.b.renew(2, hash_of(1), at(15s));
    REQUIRE(count_sent<message::RenewalRequest>(asked) == 1);
    CHECK(received(p.a, asked.sends[0].message, at(15s)).get<event::LeaseLengthened>()->holder == node(2).node);
    CHECK(p.a.state().leases().find(0)->hold->expires == at(30s));
}

TEST_CASE("a lease is renewed so often and no more, and not once its MicroJob is done") {
    auto parameters = allot::QueueParameters{};
    parameters.renewals_max = 1;
    auto r = replica(1, parameters);
    (void)r.create(at(0s));
    (void)r.want_work(true, at(0s));
    const auto token = r.work()->token;
    CHECK(r.renew(1, hash_of(0), at(1s)).accepted());
    refuses(
        r, [](auto& x) { return x.renew(2, hash_of(1), at(2s)); }, JobError::lease_capped);
    (void)r.complete(hashes_of(plan, 0), "", at(2s));
    const auto late = message::RenewalRequest{plan.job, {0, 0}, node(1).node, token, {2, hash_of(9)}};
    refuses(
        r, [&](auto& x) { return received(x, late, at(2s)); }, JobError::item_ended);
}

TEST_CASE("a renewal needs a further block, and is its holder's alone", "[K2]") {
    auto p = Pair{};
    (void)p.b.want_work(true, at(0s));
    auto given = received(p.a, request(2), at(0s));
    Pair::tell(received(p.b, *sent<message::QueueSnapshot>(given), at(0s)), p.a, at(0s));
    REQUIRE(p.b.work());
    const auto token = p.b.work()->token;
    const auto none = JobError::renewal_without_progress;
    const auto at_owner = [&] {  // the same at the owner and at a holder that is not
        refuses(
            p.b, [](auto& x) { return x.renew(0, hash_of(0), at(1s)); }, none);
        refuses(
            p.b, [](auto& x) { return x.renew(3, hash_of(0), at(1s)); }, none);  // the plan has two
        refuses(
            p.b, [](auto& x) { return x.renew(1, {}, at(1s)); }, JobError::result_hash_missing);
    };
    at_owner();
    CHECK(p.b.renew(1, hash_of(0), at(1s)).accepted());
    refuses(
        p.b, [](auto& x) { return x.renew(1, hash_of(5), at(1s)); }, none);
    Pair::tell(p.b.tick(at(1s)), p.a, at(1s));
    Pair::tell(received(p.b, request(1), at(1s)), p.a, at(1s));
    REQUIRE(p.a.state().owns());
    at_owner();
    const auto asks = [&](std::uint32_t by, std::uint32_t blocks, allot::Hash256 commitment) {
        return [=](auto& x) {
            const auto m = message::RenewalRequest{plan.job, {0, 0}, node(by).node, token, {blocks, commitment}};
            return received(x, m, at(2s));
        };
    };
    refuses(p.a, asks(2, 0, hash_of(1)), none);
    refuses(p.a, asks(2, 1, hash_of(1)), none);
    refuses(p.a, asks(2, 3, hash_of(1)), none);
    refuses(p.a, asks(2, 2, {}), none);
    refuses(p.a, asks(3, 2, hash_of(1)), JobError::lease_stale);
    const auto asked = p.b.renew(2, hash_of(1), at(2s));
    CHECK(received(p.a, asked.sends.at(0).message, at(2s)).get<event::LeaseLengthened>() != nullptr);
    refuses(
        p.a, [&](auto& x) { return received(x, asked.sends.at(0).message, at(2s)); }, none);
    // The result has to have the block to which its author committed.
    const auto lie = result_of(plan, 0, node(2), {hash_of(0), hash_of(7)}, token);
    refuses(
        p.a,
        [&](auto& x) {
            return received(x, message::ResultFound{plan.job, lie}, at(3s));
        },
        JobError::result_contradicts_renewal);
    refuses(
        p.b,
        [](auto& x) {
            return x.complete({hash_of(3), hash_of(4)}, "out", at(3s));
        },
        JobError::result_contradicts_renewal);
    const auto truth = result_of(plan, 0, node(2), hashes_of(plan, 0), token);
    CHECK(received(p.a, message::ResultFound{plan.job, truth}, at(3s)).get<event::MicroCompleted>() != nullptr);
}

TEST_CASE("who fails or leaves gives its lease back, and who owns passes the queue on") {
    auto r = replica(1);
    (void)r.create(at(0s));
    (void)r.want_work(true, at(0s));
    CHECK(r.fail(at(1s)).get<event::LeaseGivenBack>() != nullptr);
    CHECK(r.state().leases().find(0)->attempts == 1);
    REQUIRE(r.work());  // the next one
    CHECK(r.work()->micro == 1);
    (void)received(r, request(2), at(1s));
    auto s = replica(1);
    (void)s.create(at(0s));
    (void)s.want_work(true, at(0s));
    CHECK(s.leave(at(1s)).get<event::LeaseGivenBack>() != nullptr);
    CHECK_FALSE(s.work());
    CHECK(s.next_deadline() == std::nullopt);
    CHECK(received(s, request(2), at(2s)).get<event::OwnershipGranted>()->owner == node(2).node);
}

TEST_CASE("who is known to be gone loses its lease and its place in line at once, and only the owner sees to that") {
    auto p = Pair{};
    (void)p.b.want_work(true, at(0s));
    const auto given = received(p.a, request(2), at(0s));
    Pair::tell(received(p.b, *sent<message::QueueSnapshot>(given), at(0s)), p.a, at(0s));
    Pair::tell(received(p.b, request(1), at(1s)), p.a, at(1s));
    REQUIRE(p.a.state().leases().find(0)->hold->holder == node(2).node);
    REQUIRE(p.a.state().owns());
    refuses(
        p.a, [](auto& x) { return x.on_gone(allot::NodeId{""}, at(2s)); }, JobError::node_invalid);
    for (const auto other : {1U, 3U}) { CHECK(p.a.on_gone(node(other).node, at(1s)).sends.empty()); }
    CHECK(p.b.on_gone(node(1).node, at(1s)).sends.empty());
    const auto gone = p.a.on_gone(node(2).node, at(2s));
    REQUIRE(gone.get<event::LeaseExpired>() != nullptr);
    CHECK(gone.get<event::LeaseExpired>()->holder == node(2).node);
    CHECK(p.a.open_count(at(2s)) == 3);
    CHECK_FALSE(sent<message::QueueSnapshot>(gone)->control->items[0].hold);  // said at once
    CHECK(p.a.on_gone(node(2).node, at(2s)).sends.empty());
    // In line it is forgotten.
    const auto single = plan_of({1, 1, 0, 2, 0}).macro(0);
    for (const auto gone_first : {false, true}) {
        auto r = MicroQueueReplica{single, node(1), {}, at(0s)};
        (void)r.create(at(0s));
        (void)r.want_work(true, at(0s));
        (void)received(r, message::OwnershipRequest{single.job, 0, node(2).node, node(2).wallet, 1}, at(1s));
        if (gone_first) { CHECK(r.on_gone(node(2).node, at(1s)).accepted()); }
        (void)r.fail(at(2s));
        CHECK((r.tick(at(3s)).get<event::OwnershipGranted>() == nullptr) == gone_first);
    }
}

TEST_CASE("the owner of a queue refuses to end or renew a lease of a MicroJob that does not exist", "[K1]") {
    auto owner = replica(1);
    (void)owner.create(at(0s));
    const auto says = [&](const auto& told) { return received(owner, told, at(1s)).error; };
    CHECK(says(message::LeaseReturned{plan.job, {0, 77}, node(3).node, {1, 1, 1}}) == JobError::micro_unknown);
    CHECK(says(message::RenewalRequest{plan.job, {0, 77}, node(3).node, {1, 1, 1}, {1, hash_of(1)}}) ==
          JobError::micro_unknown);
}

TEST_CASE("a completion can be fenced: then only the current lease's result counts") {
    auto fenced = allot::QueueParameters{};
    fenced.fence_completions = true;
    auto r = replica(1, fenced);
    (void)r.create(at(0s));
    refuses(
        r,
        [](auto& x) {
            return received(x, message::ResultFound{plan.job, result_of(plan, 0, node(3), hashes_of(plan, 0))}, at(1s));
        },
        JobError::lease_stale);
}

TEST_CASE("P10: the end is told to whoever lags behind, but not to each of its words") {
    auto p = Pair{};
    auto final = allot::FinalRecord{plan.job, 1, node(1).node, allot::JobOutcome::failed, {hash_of(1)}, {}, {}};
    final.digest = digest_of(final);
    CHECK(received(p.a, message::JobEnded{final}, at(1s)).get<event::JobEnded>() != nullptr);
    CHECK(p.a.next_deadline() == std::nullopt);
    const auto late = p.b.snapshot();
    const auto told = received(p.a, late, at(2s));
    REQUIRE(count_sent<message::QueueSnapshot>(told) == 1);
    CHECK(received(p.a, late, at(2'100ms)).sends.empty());
    CHECK(received(p.a, late, at(3s)).sends.size() == 1);
    (void)received(p.b, told.sends[0].message, at(2s));
    CHECK(p.b.final_record() == p.a.final_record());
    CHECK(
        received(p.a, message::ResultFound{plan.job, result_of(plan, 0, node(3), hashes_of(plan, 0))}, at(4s)).error ==
        JobError::result_late);
}

TEST_CASE("where epochs are arbitrated nobody owns the queue before the claim is won") {
    auto parameters = allot::QueueParameters{};
    parameters.arbitrate_epochs = true;
    auto r = replica(1, parameters);
    const auto asked = r.create(at(0s));
    REQUIRE(asked.claims.size() == 1);
    CHECK_FALSE(r.state().known());
    CHECK(r.tick(at(5s)).claims.size() == 1);  // asked again
    CHECK(r.on_claim(asked.claims[0].claim, false, at(6s)).events.empty());
    auto next = r.tick(*r.next_deadline());
    REQUIRE(next.claims.size() == 1);
    CHECK(next.claims[0].claim != asked.claims[0].claim);  // that epoch is somebody else's
    CHECK(r.on_claim(next.claims[0].claim, true, *r.next_deadline()).get<event::QueueCreated>() != nullptr);
    CHECK(r.state().owns());
}

TEST_CASE("a queue goes on after claims were lost for hours, for want of voters") {
    auto p = allot::QueueParameters{};
    p.arbitrate_epochs = true;
    p.abandon_after = 24h;
    auto owner = replica(3, p);
    const auto created = owner.create(at(0s));
    const auto first = *sent<message::QueueSnapshot>(owner.on_claim(created.claims.at(0).claim, true, at(0s)));
    auto a = replica(1, p);
    auto b = replica(2, p);
    (void)received(a, first, at(0s));
    (void)received(b, first, at(0s));
    auto time = at(0s);
    auto highest = std::uint64_t{0};
    auto names = std::set<allot::Hash256>{};
    for (auto lost = 0; lost <= 1'000; ++lost) {
        auto asked = JobEffects{};
        while (asked.claims.empty()) {
            time = *a.next_deadline();
            asked = a.tick(time);
        }
        time += 4s;
        names.insert(asked.claims[0].claim);
        const auto decided = a.on_claim(asked.claims[0].claim, lost == 1'000, time);
        if (lost < 1'000) { continue; }
        REQUIRE(a.state().owns());
        highest = a.state().reign().epoch;
        CHECK(received(b, *sent<message::QueueSnapshot>(decided), time).accepted());
    }
    CHECK(names.size() == 1'001);  // votes are for ever, so each is for another epoch
    CHECK(highest < allot::epoch_step_max / 4);
    CHECK(b.state().reign() == a.state().reign());
    // Epochs are counted from that reign on.
    auto handed = received(a, request(2), time);
    REQUIRE(handed.claims.size() == 1);
    (void)a.on_claim(handed.claims[0].claim, true, time);
    CHECK(a.state().reign().epoch == highest + 1);
}

TEST_CASE("nobody gives back the lease of another, although its token is public") {
    auto owner = replica(1);
    (void)owner.create(at(0s));
    (void)owner.want_work(true, at(0s));
    const auto token = owner.work()->token;
    const auto back = [&](std::uint32_t by) { return message::LeaseReturned{plan.job, {0, 0}, node(by).node, token}; };
    CHECK(received(owner, back(2), at(1s)).error == JobError::lease_foreign);
    REQUIRE(owner.work());
    CHECK(received(owner, back(1), at(1s)).accepted());
}

TEST_CASE("a line full of requests that fell silent takes a new one") {
    auto state = allot::QueueState{plan, node(1), {}};
    state.adopt(state.fresh(1), at(0s));
    for (std::uint32_t i = 0; i < allot::QueueControl::requests_max; ++i) {
        REQUIRE(state.note_request({node(100 + i).node, node(100 + i).wallet, 1, at(0s)}));
    }
    CHECK_FALSE(state.note_request({node(2).node, node(2).wallet, 1, at(14s)}));
    CHECK(state.note_request({node(2).node, node(2).wallet, 1, at(15s)}));
    CHECK(state.requests().size() == 1);
}

}  // namespace job_test::micro_queue_replica

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Leases: how long they last, who may end them, and what each end means (rules 4, 6; an old token is refused).

namespace {

using allot::FailCause;
using allot::Next;

auto ends_of(const Lease& lease) -> std::int64_t { return lease.deadline.time_since_epoch().count(); }

}  // namespace

TEST_CASE("a lease lasts twice the estimate, within 60 and 7,200 seconds") {
    struct Case {
        Duration estimate;
        Duration length;
    };
    const auto c = GENERATE(values<Case>({
        {1ms, 60s},
        {29'999ms, 60s},
        {30s, 60s},
        {30'001ms, 60'002ms},
        {100s, 200s},
        {3'599'999ms, 7'199'998ms},
        {3'600s, 7'200s},
        {3'601s, 7'200s},
        {4'294'967'295ms, 7'200s},
    }));
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease =
        leased(d.submit(with(plain_task(1), [&](auto& t) { t.duration_estimate = c.estimate; }), at(7s)));
    CAPTURE(c.estimate.count());
    CHECK(lease.deadline == TimePoint{7s + c.length});
    CHECK(d.next_deadline() == lease.deadline);
    CHECK(lease.task == allot::TaskId{1});
    CHECK(lease.node == allot::NodeId{1});
    CHECK(lease.member == 0);
    CHECK(lease.of == 1);
}

TEST_CASE("a lease has expired at its deadline, not before") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    auto early = d;
    CHECK(early.complete(lease, at(200s - 1ms)).get<event::TaskDone>() != nullptr);
    const auto events = d.complete(lease, at(200s));
    CHECK(refusal(events) == Error::task_ended);
    CHECK(std::get<event::LeaseEnded>(events[0]).how == event::LeaseEnd::timed_out);  // what was due comes first
    CHECK(std::holds_alternative<event::TaskTimedOut>(events[1]));
    const auto* expired = events.get<event::TaskTimedOut>();
    CHECK(expired->expiry == event::Expiry::execution);
    CHECK(expired->refunded == allot::Amount{100});
    CHECK(expired->owner == allot::OwnerId{"owner"});
}

TEST_CASE("a completed task pays its node and tells its owner") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto events = d.complete(leased(d.submit(plain_task(1), at(0s))), at(1s));
    const auto* done = events.get<event::TaskDone>();
    REQUIRE(done != nullptr);
    CHECK(done->task == allot::TaskId{1});
    CHECK(done->node == allot::NodeId{1});
    CHECK(done->owner == allot::OwnerId{"owner"});
    CHECK(done->paid == allot::Amount{100});
    CHECK(done->refunded == allot::Amount{0});
    CHECK(state_of(d, 1) == NodeState::available);
    CHECK(d.state().leases().size() == 0);
}

TEST_CASE("tokens only grow, over tasks and over attempts") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    auto last = std::uint64_t{0};
    auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(lease.token > last);
    last = lease.token;
    lease = leased(d.decline(lease, at(0s)));  // the other node
    CHECK(lease.token > last);
    last = lease.token;
    ok(d.complete(lease, at(0s)));
    CHECK(leased(d.submit(plain_task(2), at(0s))).token > last);
}

TEST_CASE("every verb that takes a lease refuses all but the current one") {
    using Verb = Events (*)(allot::Dispatcher<>&, const Lease&);
    const auto verb = GENERATE(
        as<Verb>{}, [](allot::Dispatcher<>& d, const Lease& l) { return d.commit(l, at(1s)); },
        [](allot::Dispatcher<>& d, const Lease& l) { return d.disclose(l, at(1s)); },
        [](allot::Dispatcher<>& d, const Lease& l) { return d.complete(l, at(1s)); },
        [](allot::Dispatcher<>& d, const Lease& l) { return d.fail(l, FailCause::out_of_memory, at(1s)); },
        [](allot::Dispatcher<>& d, const Lease& l) { return d.decline(l, at(1s)); },
        [](allot::Dispatcher<>& d, const Lease& l) { return d.renew(l, at(1s)); });
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    const auto old = leased(d.submit(plain_task(1), at(0s)));
    const auto current = leased(d.decline(old, at(0s)));
    ok(d.submit(with(plain_task("waiting"), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    const auto ended = leased(d.submit(plain_task("ended"), at(0s)));
    ok(d.cancel("ended", at(0s)));

    const auto changed = [&](auto change) { return with(current, change); };
    CHECK(refusal(verb(d, old)) == Error::lease_stale);
    CHECK(refusal(verb(d, changed([](Lease& l) { ++l.token; }))) == Error::lease_stale);
    CHECK(refusal(verb(d, changed([](Lease& l) { l.token = 0; }))) == Error::lease_stale);
    CHECK(refusal(verb(d, changed([&](Lease& l) { l.node = old.node; }))) == Error::lease_stale);
    CHECK(refusal(verb(d, changed([](Lease& l) { l.task = "nobody's"; }))) == Error::task_unknown);
    CHECK(refusal(verb(d, changed([](Lease& l) { l.task = "waiting"; }))) == Error::task_not_leased);
    CHECK(refusal(verb(d, ended)) == Error::task_ended);
}

TEST_CASE("completing twice is refused") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    ok(d.complete(lease, at(1s)));
    CHECK(refusal(d.complete(lease, at(1s))) == Error::task_ended);
    ok(d.advance(at(2h)));  // forgotten
    CHECK(refusal(d.complete(lease, at(2h))) == Error::task_unknown);
}

TEST_CASE("a token of an earlier life of an id is refused") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto old = leased(d.submit(plain_task(1), at(0s)));
    ok(d.complete(old, at(0s)));
    ok(d.advance(at(1h)));
    ok(d.submit(plain_task(1), at(1h)));
    CHECK(refusal(d.complete(old, at(1h))) == Error::lease_stale);
}

TEST_CASE("commit, then disclose, each once; complete needs neither") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(refusal(d.disclose(lease, at(0s))) == Error::lease_not_committed);
    CHECK(d.commit(lease, at(0s)).get<event::TaskCommitted>()->lease == lease);
    CHECK(refusal(d.commit(lease, at(0s))) == Error::lease_already_committed);
    CHECK(d.disclose(lease, at(0s)).get<event::TaskDisclosed>()->lease == lease);
    CHECK(refusal(d.disclose(lease, at(0s))) == Error::lease_already_disclosed);
    CHECK(refusal(d.commit(lease, at(0s))) == Error::lease_already_committed);
    CHECK(d.complete(lease, at(0s)).accepted());
}

TEST_CASE("a renewal counts from now, up to eight hours in all") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    auto lease = leased(d.submit(with(plain_task(1), [](auto& t) { t.duration_estimate = 3'600s; }), at(0s)));
    CHECK(ends_of(lease) == 7'200'000);
    const auto renew = [&](Duration time) {
        const auto events = d.renew(lease, at(time));
        const auto* renewed = events.get<event::LeaseRenewed>();
        return renewed == nullptr ? std::int64_t{0} : ends_of(renewed->lease);
    };
    CHECK(renew(7'000s) == 14'200'000);
    CHECK(renew(14'000s) == 21'200'000);
    CHECK(renew(21'600s - 400s - 1ms) == 28'399'999);
    CHECK(renew(28'000s) == 28'800'000);  // the cap
    CHECK(refusal(d.renew(lease, at(28'100s))) == Error::lease_renewal_capped);
    CHECK(d.next_deadline() == TimePoint{28'800s});
    CHECK(count<event::TaskTimedOut>(d.advance(at(28'800s))) == 1);
}

TEST_CASE("a lease stays the same lease when it is renewed") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    ok(d.renew(lease, at(100s)));
    CHECK(d.complete(lease, at(250s)).get<event::TaskDone>() != nullptr);  // the caller need not keep the new one
}

TEST_CASE("each failure refunds its owner and says its cause") {
    const auto cause = GENERATE(FailCause::out_of_memory, FailCause::model_download, FailCause::execution_error,
                                FailCause::incorrect_result);
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto events = d.fail(leased(d.submit(plain_task(1), at(0s))), cause, at(1s));
    const auto* failed = events.get<event::TaskFailed>();
    REQUIRE(failed != nullptr);
    CHECK(failed->cause == cause);
    CHECK(failed->refunded == allot::Amount{100});
    CHECK(failed->owner == allot::OwnerId{"owner"});
    CHECK(d.ended(1)->ending == allot::Ending::failed);
    CHECK(state_of(d, 1) == NodeState::available);
}

TEST_CASE("a declined task avoids the node, costs it nothing, and goes to another") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    const auto first = leased(d.submit(plain_task(1), at(0s)));
    const auto before = d.node(first.node)->qos;
    const auto events = d.decline(first, at(0s));
    CHECK(events.get<event::LeaseEnded>()->lease == first);
    CHECK(events.get<event::LeaseEnded>()->how == event::LeaseEnd::declined);
    CHECK(d.node(first.node)->qos == before);
    const auto second = leased(events);
    const auto third = leased(d.decline(second, at(0s)));
    CHECK(second.node != first.node);
    CHECK(third.node != first.node);
    CHECK(third.node != second.node);
    const auto last = d.decline(third, at(0s));
    CHECK(last.lease() == nullptr);
    CHECK(last.get<event::TaskQueued>() != nullptr);  // nobody is left; it waits for a newcomer
    CHECK(started(d.match(at(0s))).empty());
    CHECK(where(d.join(plain_node(4), at(0s))) == "4");
}

TEST_CASE("a declined task waits when its moment has no entropy") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 2);
    const auto events = d.decline(leased(d.submit(plain_task(1), at(0s))), dark(0s));
    CHECK(events.get<event::TaskQueued>() != nullptr);
    CHECK(events.lease() == nullptr);
}

TEST_CASE("cancelling a running task frees its node and refunds its owner") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto before = d.node(1)->qos;
    const auto events = d.cancel(1, at(1s));
    CHECK(events.get<event::TaskCancelled>()->refunded == allot::Amount{100});
    CHECK(state_of(d, 1) == NodeState::available);
    CHECK(d.node(1)->qos == before);
    CHECK(refusal(d.complete(lease, at(1s))) == Error::task_ended);
}

TEST_CASE("terms may start a task over: anywhere, elsewhere, and not for ever") {
    SECTION("elsewhere") {
        auto d = allot::Dispatcher{allot::FixedTerms{{.after_timeout = Next::retry_elsewhere}}};
        join_plain(d, 2);
        const auto lease = leased(d.submit(plain_task(1), at(0s)));
        const auto events = d.advance(at(200s));
        CHECK(events.get<event::TaskRetried>()->outcome == allot::OutcomeKind::timeout);
        CHECK(events.get<event::TaskTimedOut>() == nullptr);
        REQUIRE(events.get<event::TaskStarted>() != nullptr);
        CHECK(events.get<event::TaskStarted>()->lease.node != lease.node);
        CHECK(events.lease() == nullptr);  // what was due is not the answer to this command
        CHECK(refusal(d.complete(lease, at(200s))) == Error::lease_stale);
    }
    SECTION("anywhere, three times in all") {
        auto d = allot::Dispatcher{allot::FixedTerms{{.after_failure = Next::retry}}};
        join_plain(d, 1);
        auto lease = leased(d.submit(plain_task(1), at(0s)));
        lease = leased(d.fail(lease, FailCause::execution_error, at(0s)));
        lease = leased(d.fail(lease, FailCause::execution_error, at(0s)));
        const auto events = d.fail(lease, FailCause::execution_error, at(0s));
        CHECK(events.get<event::TaskRetried>() == nullptr);
        CHECK(events.get<event::TaskFailed>() != nullptr);
    }
}

TEST_CASE("a task avoids so many nodes at most; then the oldest is forgotten") {
    auto d = allot::Dispatcher{allot::Rules{{.avoided_max = 2}}};
    join_plain(d, 3);
    auto lease = leased(d.submit(plain_task(1), at(0s)));
    const auto first = lease.node;
    lease = leased(d.decline(lease, at(0s)));
    lease = leased(d.decline(lease, at(0s)));
    CHECK(leased(d.decline(lease, at(0s))).node == first);
}

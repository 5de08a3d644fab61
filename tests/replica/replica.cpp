#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/replica/replica.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"
#include "support/network.hpp"

namespace replica_test {
namespace {

using namespace std::chrono_literals;
using namespace replica_support;
namespace event = allot::event;
namespace command = allot::command;
using allot::Error;
using allot::EventHash;
using allot::ReplicaError;

// A replica that applies the same entries at the same positions.
auto replayed(const Log& log) -> R {
    auto replica = R{D{}, 1};
    for (std::size_t i = 0; i < log.entries.size(); ++i) {
        auto sink = Sink{};
        (void)replica.apply(10 * (i + 1), log.entries[i], sink);
    }
    return replica;
}

}  // namespace

// ---- time -----------------------------------------------------------------------------------------------------------

TEST_CASE("rule 1: an entry that is no tick moves time by ahead_max beyond the last tick at most, and a tick freely") {
    auto log = BegunLog{};
    (void)log.next({}, at(1'003'000));
    CHECK(log.replica.now() == at(1'003'000));
    (void)log.next({}, at(1'001'000));
    CHECK(log.replica.now() == at(1'003'000));
    (void)log.next({}, at(5'000'000));
    CHECK(log.replica.now() == at(1'005'000));
    (void)log.next({}, TimePoint::max());
    (void)log.next({}, TimePoint::min());
    CHECK(log.replica.now() == at(1'005'000));
    log.tick(at(1'004'000));
    CHECK(log.replica.now() == at(1'005'000));
    CHECK(log.replica.last_tick() == at(1'004'000));
    (void)log.next({}, at(5'000'000));
    CHECK(log.replica.now() == at(1'009'000));
    log.tick(TimePoint::max());
    CHECK(log.replica.now() == allot::time_point_max);
    const auto seq = log.open("t");
    CHECK(log.request("t", seq + 1, {join(1)}, TimePoint::max()).answers ==
          std::vector<std::optional<Error>>{std::nullopt});
}

TEST_CASE("rule 1: a late copy of a tick does not let time run ahead") {
    auto log = BegunLog{};
    for (auto i = 0; i < 50; ++i) {
        (void)log.next({}, at(9'000'000));
        (void)log.append(at(1'000'000), body::Tick{1, log.links.link(1)});
    }
    CHECK(log.replica.now() == at(1'005'000));
}

TEST_CASE("rule 1: a client's front whose clock is an hour ahead expires no lease") {
    auto log = BegunLog{};
    (void)log.next({join(1), submit(1)});
    log.tick(at(1'000'100));
    REQUIRE(log.replica.dispatcher().lease(1));
    (void)log.next({}, at(1'000'000 + 3'600'000));
    CHECK(log.replica.dispatcher().lease(1));
    CHECK(log.sink.count<event::LeaseEnded>() == 0);
}

TEST_CASE("rule 1: a request before the first tick is not applied, and after it the same bytes are") {
    auto log = Log{};
    log.head();
    const auto seq = log.open("s") + 1;
    const auto now = at(1'700'000'000'000);
    CHECK(log.replica.check(Request{"s", seq, {submit(1)}, {}}) == Verdict::not_begun);
    CHECK(log.replica.check(Request{"s", seq + 1, {submit(1)}, {}}) == Verdict::gap);
    const auto before = log.replica.clients();
    CHECK(log.request("s", seq, {submit(1)}, now).verdict == Verdict::not_begun);
    CHECK(log.replica.clients() == before);
    CHECK_FALSE(log.replica.dispatcher().task(1));
    log.tick(now);
    CHECK(log.request("s", seq, {submit(1)}, now).verdict == Verdict::applied);
    log.tick(now + 1s);
    CHECK(log.sink.count<event::TaskTimedOut>() == 0);
    REQUIRE(log.replica.dispatcher().task(1));
    CHECK(log.replica.dispatcher().task(1)->state == allot::TaskState::queued);
}

TEST_CASE("rule 2: what is due is settled before the first command, however much it is") {
    auto log = BegunLog{};
    auto rules = allot::RulesParameters{};
    rules.due_max = 1;
    auto seq = std::uint64_t{0};
    (void)log.append(log.replica.now(),
                     body::Operator<Command>{++seq, {command::Configure<D::Configuration>{rules, 1}}});
    REQUIRE(log.sink.replies.at(0).verdict == Verdict::applied);
    auto p = allot::ReplicaParameters{};
    p.outage_max = 0s;
    log.parameters(p);
    auto tasks = std::vector<Command>{};
    for (auto i = 1; i <= 20; ++i) { tasks.push_back(submit(i)); }
    (void)log.next(tasks);
    const auto due = log.replica.dispatcher().next_deadline();
    REQUIRE(due.has_value());
    (void)log.append(*due + 1s, body::Tick{});
    CHECK(log.sink.count<event::TaskTimedOut>() == 20);
    CHECK(log.sink.count<event::Refused>() == 0);
    CHECK(log.next({join(1)}).answers == std::vector<std::optional<Error>>{std::nullopt});
}

TEST_CASE("rule 2: what a command makes due is settled before the next one, in its request and in one after it") {
    auto log = BegunLog{};
    auto rules = allot::RulesParameters{};
    rules.due_max = 64;
    (void)log.append(
        log.replica.now(),
        body::Operator<Command>{1, {command::Configure<D::Configuration>{rules, allot::rules_version_newest}}});
    REQUIRE(log.sink.replies.at(0).verdict == Verdict::applied);
    const auto laden = [&](int id) {
        auto spec = support::plain_node(id);
        spec.models.clear();
        for (auto i = 0; i < 4'096; ++i) { spec.models.push_back(std::to_string(id) + "-" + std::to_string(i)); }
        return Command{command::Join{spec}};
    };
    for (auto id = 1; id <= 3; ++id) { REQUIRE_FALSE(log.next({laden(id)}).answers.at(0)); }
    const auto other = log.open("t", "other");
    const auto leaves = std::vector<Command>{command::Leave{1}, command::Leave{2}, join(4), join(4)};
    (void)log.append(log.replica.now(), body::Requests<Command>{{Request{"s", ++log.seq, leaves, {}},
                                                                 Request{"t", other + 1, {join(7), submit(8)}, {}}}});
    const auto accepted = std::optional<Error>{};
    REQUIRE(log.sink.replies.size() == 2);
    CHECK(log.sink.replies[0].answers ==
          std::vector<std::optional<Error>>{accepted, accepted, accepted, Error::node_duplicate});
    CHECK(log.sink.replies[1].answers == std::vector<std::optional<Error>>{accepted, accepted});
    CHECK(log.sink.count<event::Refused>() == 1);
    (void)log.append(log.replica.now(), body::Operator<Command>{2, {command::Leave{3}, join(9), join(10)}});
    CHECK(log.sink.replies.at(0).answers == std::vector<std::optional<Error>>{accepted, accepted, accepted});
    auto other_replica = replayed(log);
    CHECK(other_replica == log.replica);
    CHECK(other_replica.root() == log.replica.root());
}

// ---- chance ---------------------------------------------------------------------------------------------------------

TEST_CASE("rule 3: only a tick with the next link of the leader's chain draws, and its round is told") {
    auto log = BegunLog{};
    auto waits = [&, id = 0]() mutable {
        (void)log.next({submit(++id)});
        return log.sink.count<event::TaskStarted>() == 0;
    };
    (void)log.next({join(1), join(2), join(3), join(4)});
    REQUIRE(waits());
    CHECK(log.next({command::Match{}}).answers == std::vector<std::optional<Error>>{Error::entropy_missing});
    const auto draws = [&](std::uint64_t round, const allot::Hash256& beacon, allot::ReplicaId proposer = 0) {
        (void)log.append(log.replica.now() + 1ms, body::Tick{round, beacon}, proposer);
        return log.sink.count<event::Matched>() == 1;
    };
    const auto& links = log.links;
    CHECK_FALSE(draws(1, links.link(1)));        // replayed
    CHECK_FALSE(draws(3, links.link(3)));        // skipped
    CHECK_FALSE(draws(2, links.link(3)));        // skipped, and said not to be
    CHECK_FALSE(draws(2, allot::Hash256{1}));    // chosen
    CHECK_FALSE(draws(3, links.link(2)));        // another round
    CHECK_FALSE(draws(2, links.link(2), 1));     // another leader
    CHECK_FALSE(draws(1, allot::Hash256{}, 9));  // a leader without a chain
    CHECK(log.replica.dispatcher().task(1)->state == allot::TaskState::queued);
    CHECK(draws(2, links.link(2)));
    CHECK(log.sink.count<event::TaskStarted>() == 1);
    CHECK(draws(3, links.link(3)));
}

TEST_CASE("a state with more leaders than any parameters allow is refused before they are compared") {
    auto state = allot::detail::ReplicaState{};
    for (std::uint32_t i = 0; i < allot::ReplicaParameters::leaders_most; ++i) {
        state.chains.push_back({.leader = i});
    }
    CHECK(state.is_sound());
    state.chains.push_back({.leader = allot::ReplicaParameters::leaders_most});
    CHECK_FALSE(state.is_sound());
}

TEST_CASE("rule 3: a second head waits, an old head never comes back, and there are no more chains than allowed") {
    auto log = BegunLog{};
    const auto other = allot::BeaconChain{allot::Hash256{9}, 10};
    log.tick(at(1'000'100));
    const auto draws = [&](TimePoint time, const body::Tick& tick) {
        (void)log.append(time, tick);
        return log.sink.count<event::Matched>() == 1;
    };
    (void)log.append(log.replica.now(), body::ChainHead{1, other.head()});  // not a greater number
    (void)log.append(log.replica.now(), body::ChainHead{2, other.head()});
    (void)log.append(log.replica.now(), body::ChainHead{2, log.links.head()});
    CHECK_FALSE(draws(at(1'000'200), {1, other.link(1)}));
    CHECK(draws(at(1'010'099), {3, log.links.link(3)}));
    CHECK_FALSE(draws(at(1'010'100), {4, log.links.link(4)}));
    CHECK(draws(at(1'010'100), {1, other.link(1)}));
    (void)log.append(log.replica.now(), body::ChainHead{1, log.links.head()});  // a late copy of the first
    CHECK_FALSE(draws(at(1'025'000), {1, log.links.link(1)}));
    CHECK(draws(at(1'025'000), {2, other.link(2)}));
    for (auto leader = 1U; leader < 40; ++leader) {
        (void)log.append(log.replica.now(), body::ChainHead{1, other.head()}, leader);
    }
    CHECK(log.replica.chain(15) != nullptr);
    CHECK(log.replica.chain(16) == nullptr);
}

TEST_CASE("rule 3: a public beacon is drawn with once a round") {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.beacon = allot::BeaconKind::given;
    log.parameters(p);
    const auto draws = [&](std::uint64_t round) {
        (void)log.append(log.replica.now(), body::Tick{round, allot::Hash256{3}}, 5);
        return log.sink.count<event::Matched>() == 1;
    };
    CHECK(draws(100));
    CHECK_FALSE(draws(100));
    CHECK_FALSE(draws(99));
    CHECK(draws(105));
    CHECK(log.replica.round() == 105);
}

// ---- requests -------------------------------------------------------------------------------------------------------

TEST_CASE("rule 4: a request is applied once, whatever is sent how often, and its answers come again") {
    auto log = BegunLog{};
    CHECK(log.request("t", 1, {join(1)}).verdict == Verdict::session_unknown);
    CHECK(log.request("s", log.seq, {join(1)}).verdict == Verdict::stale);
    CHECK(log.request("s", log.seq + 2, {join(1)}).verdict == Verdict::gap);
    CHECK(log.replica.dispatcher().node(1) == nullptr);
    const auto first = log.next({join(1), join(1)});
    CHECK(first.verdict == Verdict::applied);
    CHECK(first.answers == std::vector<std::optional<Error>>{std::nullopt, Error::node_duplicate});
    auto again = log.request("s", log.seq, {join(1), join(1)});
    CHECK(again.verdict == Verdict::duplicate);
    CHECK(again.index == first.index);
    CHECK(again.answers == first.answers);
    CHECK(log.sink.events.empty());
    (void)log.next({join(2)});
    CHECK(log.request("s", log.seq - 1, {join(1)}).verdict == Verdict::stale);
}

TEST_CASE("rule 4: requests of one entry are applied in order, doubled ones once") {
    auto log = BegunLog{};
    const auto of = [&](std::uint64_t seq, int node) { return Request{"s", seq, {join(node)}, {1, 2}}; };
    (void)log.append(log.replica.now(), body::Requests<Command>{{of(log.seq + 1, 1), of(log.seq + 1, 1),
                                                                 of(log.seq + 3, 3), of(log.seq + 2, 2)}});
    auto verdicts = std::vector<Verdict>{};
    for (const auto& reply : log.sink.replies) { verdicts.push_back(reply.verdict); }
    CHECK(verdicts == std::vector{Verdict::applied, Verdict::duplicate, Verdict::gap, Verdict::applied});
    CHECK(log.replica.dispatcher().node(2) != nullptr);
    CHECK(log.replica.dispatcher().node(3) == nullptr);
}

TEST_CASE(
    "a client's request that configures or postpones, or is too long, is refused whole and may be sent otherwise") {
    auto log = BegunLog{};
    const auto version = log.replica.dispatcher().state().counters().rules_version;
    const auto configure = Command{command::Configure<D::Configuration>{allot::RulesParameters{}, 9}};
    CHECK(log.request("s", log.seq + 1, {join(1), configure}).verdict == Verdict::operators_only);
    CHECK(log.request("s", log.seq + 1, {command::Postpone{1s}}).verdict == Verdict::operators_only);
    CHECK(log.request("s", log.seq + 1, std::vector<Command>(1'025, join(1))).verdict == Verdict::too_many_commands);
    CHECK(log.replica.dispatcher().node(1) == nullptr);
    CHECK(log.replica.dispatcher().state().counters().rules_version == version);
    CHECK(log.next({join(1)}).verdict == Verdict::applied);
}

TEST_CASE("the operator's entries are applied once and in order, parameters only if they are sound") {
    auto log = BegunLog{};
    const auto verdict = [&](auto body) {
        (void)log.append(log.replica.now(), std::move(body));
        CHECK(log.sink.replies.at(0).session.is_null());
        return log.sink.replies.at(0).verdict;
    };
    const auto postpone = body::Operator<Command>{1, {command::Postpone{1s}}};
    CHECK(verdict(body::Operator<Command>{0, {}}) == Verdict::stale);
    CHECK(verdict(postpone) == Verdict::applied);
    CHECK(log.sink.count<event::Postponed>() == 1);
    CHECK(verdict(postpone) == Verdict::duplicate);
    CHECK(log.sink.count<event::Postponed>() == 0);
    auto p = allot::ReplicaParameters{};
    p.replicas = 0;
    CHECK(verdict(body::Parameters{3, {}}) == Verdict::gap);
    CHECK(verdict(body::Parameters{2, p}) == Verdict::parameter_invalid);
    CHECK(log.replica.parameters().replicas == 3);
    p.replicas = 5;
    CHECK(verdict(body::Parameters{2, p}) == Verdict::applied);
    CHECK(log.replica.parameters().replicas == 5);
    CHECK(verdict(body::Parameters{1, {}}) == Verdict::stale);
    CHECK(verdict(body::Operator<Command>{3, std::vector<Command>(1'025, join(1))}) == Verdict::too_many_commands);
    CHECK(verdict(body::Operator<Command>{3, {command::Configure<D::Configuration>{allot::RulesParameters{}, 4}}}) ==
          Verdict::applied);
    CHECK(log.replica.dispatcher().state().counters().rules_version == 4);
}

TEST_CASE("a front's check is the verdict that the entry would get") {
    auto log = BegunLog{};
    (void)log.next({join(1)});
    for (const auto& request : {Request{"s", log.seq, {}, {}}, Request{"s", log.seq + 1, {}, {}},
                                Request{"s", log.seq + 2, {}, {}}, Request{"s", log.seq - 1, {}, {}},
                                Request{"?", 1, {}, {}}, Request{"s", log.seq + 1, {command::Postpone{1s}}, {}}}) {
        auto copy = log;
        const auto expected = log.replica.check(request);
        CHECK(copy.request(request.session, request.seq, request.commands).verdict == expected);
    }
}

// ---- outages --------------------------------------------------------------------------------------------------------

TEST_CASE("an outage postpones leases and sessions once, by the gap beyond gap_max and at most outage_max") {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.session_ttl = 600s;
    log.parameters(p);
    (void)log.next({join(1), submit(1)});
    log.tick(at(1'000'100));
    const auto lease = log.replica.dispatcher().lease(1);
    REQUIRE(lease);
    log.tick(at(1'010'100));
    CHECK(log.sink.count<event::Postponed>() == 0);
    log.tick(at(1'010'100 + 3'600'000));
    CHECK(log.sink.count<event::Postponed>() == 1);
    CHECK(log.replica.dispatcher().lease(1)->deadline == lease->deadline + 3'590s);
    CHECK(log.sink.count<event::LeaseEnded>() == 0);
    (void)log.append(at(1'010'100 + 3'600'000), body::Tick{});
    CHECK(log.sink.count<event::Postponed>() == 0);
    CHECK(log.next({}).verdict == Verdict::applied);
    log.tick(log.replica.now() + 24h * 8);
    REQUIRE(log.sink.count<event::Postponed>() == 1);
    CHECK(log.next({}).verdict == Verdict::session_unknown);  // more than a session's life and the longest outage
}

TEST_CASE("sessions that were opened before the first tick are as old as that tick") {
    auto log = Log{};
    const auto seq = log.open("s");
    log.tick(at(1'700'000'000'000));
    CHECK(log.request("s", seq + 1, {}).verdict == Verdict::applied);
}

TEST_CASE(
    "a session ends at its expiry in log time, whether it was opened before the first tick or an outage follows") {
    const auto expiry = at(1'700'000'000'000) + 1h;
    const auto still_open = [&](bool before, Duration outage, TimePoint time) {
        auto log = Log{};
        if (!before) { log.tick(expiry - 1h); }
        (void)log.append(expiry - 1h, body::Register{"s", "client", expiry});
        const auto seq = log.sink.replies.at(0).seq;
        log.tick(expiry - 1h);
        if (outage > 0s) { log.tick(expiry - 1h + outage); }
        log.tick(time);
        return log.request("s", seq + 1, {}).verdict == Verdict::applied;
    };
    for (const auto before : {false, true}) {
        for (const auto outage : {Duration{0s}, Duration{30min}}) {
            CHECK(still_open(before, outage, expiry - 1ms));
            CHECK_FALSE(still_open(before, outage, expiry));
        }
        CHECK_FALSE(still_open(before, 23h, expiry + 22h));
    }
}

// ---- positions, hashes, faults -------------------------------------------------------------------------------------

TEST_CASE("an entry that is delivered again changes nothing, and equal logs give equal replicas") {
    auto log = BegunLog{};
    (void)log.next({join(1), join(2), submit(1)});
    log.tick(at(1'001'000));
    const auto before = log.replica;
    for (std::size_t i = 0; i < log.entries.size(); ++i) {
        auto sink = Sink{};
        CHECK_FALSE(log.replica.apply(10 * (i + 1), log.entries[i], sink));
        CHECK_FALSE(log.replica.apply(10 * i + 3, Bytes{1, 2, 3}, sink));
        CHECK(sink.events.empty());
        CHECK(sink.replies.empty());
    }
    CHECK(log.replica == before);
    auto other = replayed(log);
    CHECK(other == log.replica);
    CHECK(other.root() == log.replica.root());
    CHECK(other.own_bytes() == log.replica.own_bytes());
    CHECK(log.replica.index() == log.entries.size());
    CHECK(log.replica.position() == 10 * log.entries.size());
}

TEST_CASE("the event hash is that of the events that the sink got, which are numbered within their entry") {
    auto log = BegunLog{};
    auto hash = EventHash{log.replica.events_hash()};
    for (auto i = 1; i < 20; ++i) {
        (void)log.next({join(i), submit(i)});
        for (std::size_t n = 0; n < log.sink.events.size(); ++n) {
            const auto& [id, e] = log.sink.events[n];
            CHECK(id == allot::EffectId{log.replica.index(), static_cast<std::uint32_t>(n)});
            hash.add(e);
        }
    }
    CHECK(hash.value() == log.replica.events_hash());
}

TEST_CASE("rule 5: the event hash is attested every attest_every entries, the state root every state_every") {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.attest_every = 3;
    p.state_every = 4;
    log.parameters(p);
    const auto before = log.entries.size();
    auto attested = std::vector<std::string>{};
    for (auto n = before + 1; n <= before + 12; ++n) {
        (void)log.next({join(static_cast<int>(n))});
        auto replica = log.replica;
        auto kind = std::string{"-"};
        if (!log.sink.attested.empty()) {
            const auto& a = log.sink.attested.at(0);
            CHECK(a.index == replica.index());
            CHECK(a.events == replica.events_hash());
            kind = a.state ? "state" : "events";
        }
        CHECK(kind == (n % 4 == 0 ? "state" : n % 3 == 0 ? "events" : "-"));
    }
    for (auto i = 0; i < 20; ++i) {
        (void)log.append(log.replica.now(), body::Attest{});
        CHECK(log.sink.attested.empty());  // attestations do not call for more of them
    }
}

TEST_CASE("rule 5: the state root that is kept up to date is that from scratch") {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.attest_every = 0;
    p.state_every = 2;
    log.parameters(p);
    for (auto i = 1; i < 30; ++i) {
        (void)log.next({join(i), submit(i), command::Pause{i / 2}, command::Cancel{i / 3}});
        if (i % 3 == 0) { log.tick(log.replica.now() + 1s); }
        auto scratch = replayed(log);
        REQUIRE(log.replica.root() == scratch.root());
    }
}

TEST_CASE("rule 6: the majority stops a replica that differs, and names one that differs from it") {
    auto logs = std::vector<BegunLog>(3);
    auto p = allot::ReplicaParameters{};
    p.attest_every = 4;
    for (auto& log : logs) { log.parameters(p); }
    // Replica 2 applies a command that no other has. Its next attestation tells.
    auto& bad = logs[2];
    auto sink = Sink{};
    bad.entries.push_back({});
    (void)bad.replica.apply(
        10 * bad.entries.size(),
        allot::encode_entry(
            Entry{0, 0, bad.replica.now(), body::Requests<Command>{{Request{"s", bad.seq + 1, {join(7)}, {}}}}}),
        sink);
    for (auto i : {0U, 1U}) {
        logs[i].entries.push_back({});
        (void)logs[i].replica.apply(
            10 * logs[i].entries.size(),
            allot::encode_entry(Entry{0, 0, logs[i].replica.now(),
                                      body::Requests<Command>{{Request{"s", logs[i].seq + 1, {join(8)}, {}}}}}),
            sink);
    }
    auto votes = std::vector<allot::Attestation>{};
    for (auto n = 0; n < 4 && votes.empty(); ++n) {
        for (auto id = 0U; id < 3; ++id) {
            ++logs[id].seq;
            (void)logs[id].append(logs[id].replica.now(), body::Requests<Command>{});
            for (auto a : logs[id].sink.attested) {
                a.replica = id;
                votes.push_back(a);
            }
        }
    }
    REQUIRE(votes.size() == 3);
    for (auto id = 0U; id < 3; ++id) {  // a vote in another's name does not count
        const auto before = logs[id].replica.tally();
        (void)logs[id].append(logs[id].replica.now(), body::Attest{votes[2]}, 1);
        CHECK(logs[id].replica.tally() == before);
    }
    auto faults = std::vector<std::optional<allot::ReplicaFault>>(3);
    auto suspects = std::vector<std::size_t>(3);
    for (const auto& vote : votes) {
        for (auto id = 0U; id < 3; ++id) {
            const auto fault = logs[id].append(logs[id].replica.now(), body::Attest{vote}, vote.replica);
            faults[id] = faults[id] ? faults[id] : fault;
            for (const auto& s : logs[id].sink.suspects) {
                CHECK(s.replica == 2);
                ++suspects[id];
            }
        }
    }
    CHECK_FALSE(faults[0]);
    CHECK_FALSE(faults[1]);
    CHECK(suspects == std::vector<std::size_t>{1, 1, 0});
    REQUIRE(faults[2]);
    CHECK(faults[2]->error == ReplicaError::diverged);
    CHECK(faults[2]->divergence->kind == allot::DivergenceKind::events);
    CHECK(faults[2]->divergence->mine == votes[2].events);
    CHECK(faults[2]->divergence->theirs == votes[0].events);
    const auto before = bad.replica;
    CHECK(bad.append(at(9'999'999'999), body::Tick{}) == faults[2]);
    CHECK(bad.replica == before);
    CHECK(bad.replica.fault() == faults[2]);
}

TEST_CASE("rule 7: an entry of unknown form stops the replica, which then skips nothing") {
    auto log = BegunLog{};
    const auto before = log.replica;
    auto sink = Sink{};
    auto newer = log.entries.back();
    newer[0] = allot::entry_version + 1;
    const auto fault = log.replica.apply(1'000, newer, sink);
    REQUIRE(fault);
    CHECK(fault->error == ReplicaError::entry_unknown);
    CHECK(fault->decode->error == allot::DecodeError::version_unknown);
    CHECK(fault->position == 1'000);
    CHECK(log.replica == before);
    CHECK(log.append(log.replica.now(), body::Tick{}) == fault);
    CHECK(log.replica == before);
}

TEST_CASE("any truncation and any flipped byte of an entry is a fault that changes nothing, or an entry") {
    auto log = BegunLog{};
    (void)log.next({join(1), submit(1)});
    log.tick(at(1'000'100));
    log.parameters({});
    (void)log.append(log.replica.now(), body::Operator<Command>{2, {command::Postpone{1s}}});
    (void)log.append(log.replica.now(), body::Attest{{0, 3, {}, allot::Hash256{}}});
    const auto entries = log.entries;
    auto accepted = 0;
    for (const auto& bytes : entries) {
        const auto tries = [&](const Bytes& tried) {
            auto replica = log.replica;
            auto sink = Sink{};
            if (const auto fault = replica.apply(100'000, tried, sink)) {
                REQUIRE(fault->error == ReplicaError::entry_unknown);
                REQUIRE(replica == log.replica);
                return false;
            }
            return true;
        };
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            REQUIRE_FALSE(tries({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}));
        }
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            auto flipped = bytes;
            flipped[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
            accepted += tries(flipped) ? 1 : 0;
        }
    }
    CHECK(accepted > 100);
}

TEST_CASE(
    "an exception while an entry is applied leaves the replica as before it, and the entry can be applied again") {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.attest_every = p.state_every = 1;
    log.parameters(p);
    (void)log.next({join(1), join(2)});
    const auto before = log.replica;
    const auto tried = [&](const Entry& entry) {
        auto replica = log.replica;
        const auto root = replica.root();
        CHECK_THROWS_AS(
            replica.apply_decoded(1'000, entry, [](const auto&) { throw std::runtime_error{"out of something"}; }),
            std::runtime_error);
        CHECK(replica == before);
        CHECK(replica.root() == root);
        const auto again = replica.apply_decoded(1'000, entry);
        auto clean = before;
        CHECK(clean.apply_decoded(1'000, entry).attestation == again.attestation);
        CHECK(clean == replica);
    };
    const auto now = log.replica.now();
    tried({0, 0, now, body::Requests<Command>{{Request{"s", log.seq + 1, {join(3), submit(1)}, {}}}}});
    tried({0, 0, now + 1h, body::Tick{2, log.links.link(2)}});
    tried({0, 0, now, body::Register{"t", "client", {}}});
    tried({0, 0, now, body::Parameters{2, {}}});
    tried({0, 0, now, body::Operator<Command>{2, {join(9)}}});
    tried({0, 0, now, body::ChainHead{2, {}}});
    tried({0, 0, now, body::Attest{{0, log.replica.index(), {}, {}}}});
}

TEST_CASE("a follower sees the records that an entry touched, before they are committed") {
    auto log = BegunLog{};
    auto seen = std::size_t{0};
    const auto follow = [&](const allot::Session<D>& session) {
        for (const auto& section : session.touched()) { seen += section.size(); }
    };
    (void)log.replica.apply_decoded(
        1'000, {0, 0, log.replica.now(), body::Requests<Command>{{Request{"s", log.seq + 1, {join(1), join(2)}, {}}}}},
        follow);
    CHECK(seen >= 2);
}

}  // namespace replica_test

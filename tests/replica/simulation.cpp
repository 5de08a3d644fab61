// labels: slow

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/replica.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// Three replicas, clients, and a log whose proposals are lost, delayed, doubled and reordered. Replicas crash within
// entries, and start again from any checkpoint; answers are lost; clocks leap; one replica is corrupted. The audit at
// the end knows the log and what the clients saw, and nothing of the replicas' client table.
namespace simulation_test {
namespace {

using namespace std::chrono_literals;
using namespace replica_support;
namespace event = allot::event;
namespace command = allot::command;
using allot::Error;

// What happened, over all seeds. A kind that never happened fails the run.
struct Counts {
    std::uint64_t entries = 0, acknowledged = 0, duplicates = 0, unknown = 0, lost = 0, doubled = 0, late = 0,
                  crashes = 0, thrown = 0, restarts = 0, redelivered = 0, leaps = 0, answers_lost = 0, draws = 0,
                  outages = 0, corrupted = 0, found = 0, suspects = 0, started = 0;
};
ALLOT_FIELDS(Counts, entries, acknowledged, duplicates, unknown, lost, doubled, late, crashes, thrown, restarts,
             redelivered, leaps, answers_lost, draws, outages, corrupted, found, suspects, started)

struct Thrown {};

struct Checkpoint {
    std::uint64_t position = 0;
    allot::Hash256 root{};
    Bytes snapshot{};
};

struct Client {
    allot::ClientId id = "?";
    SessionId session = SessionId::null();
    bool open = false;
    std::uint64_t seq = 0;  // of the last request that was answered
    std::optional<Request> flight{};
    allot::TaskId task = allot::TaskId::null();  // that the request in flight submits
};

// What a client was told about one request.
struct Told {
    std::uint64_t index = 0;
    std::vector<std::optional<Error>> answers{};
    allot::TaskId task = allot::TaskId::null();
};

class Simulation {
public:
    Simulation(std::uint64_t seed, Counts& counts, bool corrupting)
        : random_{seed}, counts_{counts}, corrupting_{corrupting} {
        for (auto i = 0U; i < 3; ++i) {
            machines_.push_back({R{D{}, i}, 0, true});
            chains_.emplace_back(allot::Hash256{static_cast<std::uint8_t>(i + 1), static_cast<std::uint8_t>(seed)},
                                 600);
        }
        for (auto i = 0U; i < 4; ++i) {
            auto client = Client{};
            client.id = allot::ClientId{i / 2};  // two programs of each client
            clients_.push_back(client);
        }
        auto p = allot::ReplicaParameters{};
        p.attest_every = 8;
        p.state_every = state_every;
        p.attested_max = corrupting ? 64 : 8;  // votes may be late, but no divergence may stay unseen
        p.sessions_max = 6;
        p.sessions_per_client_max = 3;
        p.session_ttl = 5s;
        p.head_delay = 1s;
        append(encode(0, body::Parameters{1, p}));
        for (auto i = 0U; i < 3; ++i) { append(encode(i, body::ChainHead{1, chains_[i].head()})); }
        append(encode(0, body::Tick{}));
        auto joins = std::vector<Command>{};
        for (auto i = 1; i <= 4; ++i) { joins.push_back(join(i)); }
        append(encode(0, body::Operator<Command>{2, std::move(joins)}));
    }

    void run(int steps) {
        for (auto step = 0; step < steps; ++step) {
            switch (below(16)) {
                case 0:
                case 1:
                case 2: speak(clients_[below(clients_.size())]); break;
                case 3:
                case 4:
                case 5:
                    for (auto n = below(4); n > 0; --n) { arrive(); }
                    break;
                case 6: tick(); break;
                case 7:
                    if (below(4) == 0) { crash(machine()); }
                    break;
                case 8:
                    if (below(3) == 0) { keep(machine()); }
                    break;
                case 9: clock_ += Duration{below(20) == 0 ? 30'000 : static_cast<int>(below(400))}; break;
                default: {
                    auto& m = machine();
                    for (auto n = below(6); n > 0; --n) { advance(m, below(20) == 0); }
                    break;
                }
            }
            if (corrupting_ && step == steps / 2) { corrupt(machines_[2]); }
        }
        settle();
        for (auto i = 0; corrupting_ && machines_[2].good; ++i) {
            REQUIRE(i < state_every);  // all attest within one more interval
            append(encode(0, body::Tick{}));
            settle();
        }
        audit();
    }

private:
    struct Machine {
        R replica;
        std::size_t next;  // index of the next entry in log_
        bool good;
    };

    static constexpr auto state_every = 32;

    auto below(std::uint64_t n) -> std::uint64_t { return random_() % n; }
    auto machine() -> Machine& { return machines_[below(machines_.size())]; }

    // A clock near the true one, that leaps by an hour or to any time now and then.
    auto clock(bool may_leap = true) -> TimePoint {
        auto time = clock_ + Duration{static_cast<int>(below(200))};
        if (may_leap && below(25) == 0) {
            ++counts_.leaps;
            constexpr auto leaps = std::array{3'600'000LL, -3'600'000LL, 1LL << 50, -(1LL << 50)};
            time += Duration{leaps[below(leaps.size())]};
        }
        return time;
    }

    template <class Body>
    auto encode(allot::ReplicaId proposer, Body body) -> Bytes {
        const auto is_tick = std::is_same_v<Body, body::Tick>;
        return allot::encode_entry(Entry{proposer, ++nonce_, clock(!is_tick), std::move(body)});
    }
    static auto position(std::size_t place) -> std::uint64_t { return 3 * place + 2; }
    void append(const Bytes& bytes) { log_.push_back(bytes); }

    void propose(const Bytes& bytes, bool may_be_lost = true) {
        if (may_be_lost && below(10) == 0) {
            ++counts_.lost;
            return;
        }
        flying_.push_back(bytes);
        if (below(8) == 0) {
            ++counts_.doubled;
            flying_.push_back(bytes);
        }
    }
    // All proposals arrive and are applied, with the attestations that follow.
    void settle() {
        const auto is_behind = [&](const Machine& m) { return m.good && m.next < log_.size(); };
        while (!flying_.empty() || std::any_of(machines_.begin(), machines_.end(), is_behind)) {
            while (!flying_.empty()) { arrive(); }
            for (auto& m : machines_) {
                while (is_behind(m)) { advance(m, false); }
            }
        }
    }

    // Any proposal on its way arrives, mostly an early one; some are very late.
    void arrive() {
        if (flying_.empty()) { return; }
        const auto at = below(10) == 0 ? below(flying_.size()) : below(std::min<std::uint64_t>(4, flying_.size()));
        counts_.late += at > 0 ? 1 : 0;  // others overtook one
        append(flying_[at]);
        if (below(30) != 0) { flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(at)); }  // or it comes again
    }

    void speak(Client& client) {
        const auto front = static_cast<allot::ReplicaId>(below(3));
        if (client.flight && below(3) != 0) { return; }
        if (!client.open) {
            if (client.session.is_null() || below(4) == 0) { client.session = SessionId{++sessions_}; }
            propose(encode(front, body::Register{client.session, client.id, {}}));
            return;
        }
        if (!client.flight) {
            client.task = allot::TaskId{++tasks_};
            auto commands = std::vector<Command>{command::Submit{support::plain_task(client.task)}};
            if (below(2) == 0) { commands.push_back(command::Cancel{allot::TaskId{below(tasks_) + 1}}); }
            if (!leases_.empty() && below(2) == 0) {
                commands.push_back(command::Complete{leases_[below(leases_.size())]});
            }
            client.flight = Request{client.session, client.seq + 1, std::move(commands), {}};
        }
        auto requests = body::Requests<Command>{{*client.flight}};
        if (below(6) == 0) { requests.requests.push_back(*client.flight); }
        propose(encode(front, std::move(requests)));
    }

    void tick() {
        const auto& m = machine();
        if (!m.good) { return; }
        const auto leader = m.replica.id();
        const auto* chain = m.replica.chain(leader);
        const auto round = chain == nullptr ? 1 : chain->round + 1;
        if (round > 600) { return; }
        propose(encode(leader, body::Tick{round, chains_[leader].link(round)}));
    }

    // One more entry, at which the replica may fail: then it tries again, or starts again.
    void advance(Machine& m, bool failing) {
        if (!m.good || m.next >= log_.size()) { return; }
        const auto entry = allot::decode_entry<Command>(log_[m.next]);
        REQUIRE(entry);
        if (failing) {
            const auto before = m.replica;
            try {
                (void)m.replica.apply_decoded(position(m.next), *entry, [](const auto&) { throw Thrown{}; });
                ++counts_.redelivered;
            } catch (const Thrown&) { ++counts_.thrown; }
            REQUIRE(m.replica == before);
            if (below(2) == 0) {
                crash(m);
                return;
            }
        }
        const auto effects = m.replica.apply_decoded(position(m.next), *entry);
        ++m.next;
        ++counts_.entries;
        if (effects.is_redelivery) {
            ++counts_.redelivered;
            return;
        }
        const auto is_corrupted = corrupted_ && m.replica.id() == 2;  // its answers are wrong until it stops
        for (const auto& reply : effects.replies) {
            if (!is_corrupted) { answer(reply); }
        }
        for (const auto& e : effects.events) {
            if (const auto* started = std::get_if<event::TaskStarted>(&e)) { leases_.push_back(started->lease); }
        }
        for (const auto& s : effects.suspects) {
            REQUIRE(corrupted_);
            REQUIRE(s.replica == 2);
            ++counts_.suspects;
        }
        if (effects.attestation) {  // proposed until it stands in the log
            propose(encode(m.replica.id(), body::Attest{*effects.attestation}), false);
        }
        if (is_corrupted) {
            if (effects.attestation && effects.attestation->state) { votes_[effects.index] = {}; }
            // It stops with the vote that makes a majority on any state that it attested.
            if (const auto* vote = std::get_if<body::Attest>(&entry->body);
                vote != nullptr && vote->attestation.replica != 2) {
                const auto at = votes_.find(vote->attestation.index);
                if (at != votes_.end() && at->second.insert(vote->attestation.replica).second &&
                    at->second.size() == 2) {
                    REQUIRE(effects.fault);
                }
            }
        }
        if (effects.fault) {
            REQUIRE(corrupted_);
            REQUIRE(m.replica.id() == 2);
            REQUIRE(effects.fault->error == allot::ReplicaError::diverged);
            ++counts_.found;
            m.good = false;
        }
    }

    void answer(const allot::Reply& reply) {
        if (below(3) == 0) {
            ++counts_.answers_lost;
            return;
        }
        for (auto& client : clients_) {
            if (client.session != reply.session || reply.session.is_null()) { continue; }
            const auto mine = client.flight && client.flight->seq == reply.seq;
            switch (reply.verdict) {
                case Verdict::registered:
                    if (!client.open) {
                        client.open = true;
                        client.seq = reply.seq;
                    }
                    break;
                case Verdict::applied:
                case Verdict::duplicate: {
                    const auto [at, first] = told_.emplace(std::pair{reply.session, reply.seq},
                                                           Told{reply.index, reply.answers, client.task});
                    REQUIRE((at->second.index == reply.index));
                    REQUIRE((at->second.answers == reply.answers));
                    counts_.duplicates += reply.verdict == Verdict::duplicate ? 1 : 0;
                    if (mine) {
                        ++counts_.acknowledged;
                        client.seq = reply.seq;
                        client.flight.reset();
                    } else if (first) {
                        told_.erase(at);  // of a request that this program knows no more
                    }
                    break;
                }
                case Verdict::session_unknown:
                    if (client.open && mine) {  // the session ended; the request is in doubt
                        ++counts_.unknown;
                        client = Client{client.id};
                    }
                    break;
                case Verdict::gap: REQUIRE_FALSE((mine && client.open)); break;
                case Verdict::stale:
                case Verdict::sessions_full: break;
                default: FAIL("an unexpected verdict"); break;
            }
        }
    }

    void keep(const Machine& m) {
        if (!m.good || m.replica.position() == 0 || (corrupted_ && m.replica.id() == 2)) { return; }
        auto copy = m.replica;
        kept_.push_back({m.replica.position(), copy.root(),
                         allot::snapshot(m.replica.dispatcher(), m.replica.position(), m.replica.embedded())});
    }

    // Starts again from any checkpoint, of any replica, and reads the log from a little before it.
    void crash(Machine& m) {
        ++counts_.crashes;
        const auto id = m.replica.id();
        if (!m.good || (corrupted_ && id == 2)) { return; }
        if (kept_.empty() || below(12) == 0) {
            m = {R{D{}, id}, 0, true};
            return;
        }
        ++counts_.restarts;
        const auto& from = kept_[below(kept_.size())];
        auto loaded = allot::load_snapshot(std::span<const std::uint8_t>{from.snapshot}, D{});
        REQUIRE(loaded);
        auto again = R::restore(*std::move(loaded), id);
        REQUIRE(again);
        REQUIRE(again->root() == from.root);
        REQUIRE(again->position() == from.position);
        const auto place = static_cast<std::size_t>((from.position - 2) / 3) + 1;
        m = {*std::move(again), place - std::min<std::size_t>(place, below(5)), true};
    }

    // Gives the replica one node that no command brought.
    void corrupt(Machine& m) {
        while (m.next < log_.size()) { advance(m, false); }
        auto dispatcher = m.replica.dispatcher();
        for (auto node = 50; node < 60; ++node) {
            support::ok(dispatcher.join(support::plain_node(node), {dispatcher.now()}));
        }
        auto again = R::restore(std::move(dispatcher), 2, m.replica.own_bytes());
        REQUIRE(again);
        m.replica = *std::move(again);
        corrupted_ = true;
        ++counts_.corrupted;
    }

    // Replays the whole log once more and compares it with what the clients were told.
    void audit() {
        auto reference = R{D{}, 0};
        auto submitted = std::set<allot::TaskId>{};
        auto applied = std::map<std::pair<SessionId, std::uint64_t>, int>{};
        for (std::size_t i = 0; i < log_.size(); ++i) {
            const auto entry = allot::decode_entry<Command>(log_[i]);
            const auto effects = reference.apply_decoded(position(i), *entry);
            REQUIRE_FALSE(effects.fault);
            for (const auto& reply : effects.replies) {
                if (reply.verdict == Verdict::applied && !reply.session.is_null()) {
                    REQUIRE((++applied[{reply.session, reply.seq}] == 1));
                }
            }
            for (const auto& e : effects.events) {
                if (const auto* queued = std::get_if<event::TaskQueued>(&e)) { submitted.insert(queued->task); }
                if (const auto* refused = std::get_if<event::Refused>(&e)) {
                    REQUIRE(refused->error != Error::task_duplicate);  // every id is submitted by one request only
                    REQUIRE(refused->error != Error::advance_first);
                    REQUIRE(refused->error != Error::time_went_back);
                }
                counts_.draws += std::holds_alternative<event::Matched>(e) ? 1 : 0;
                counts_.outages += std::holds_alternative<event::Postponed>(e) ? 1 : 0;
                counts_.started += std::holds_alternative<event::TaskStarted>(e) ? 1 : 0;
            }
        }
        for (const auto& [request, told] : told_) {
            REQUIRE((applied[request] == 1));
            REQUIRE_FALSE(told.answers.empty());
            REQUIRE((told.answers[0].has_value() || submitted.count(told.task) == 1));
        }
        for (auto& m : machines_) {
            const auto is_bad = corrupting_ && m.replica.id() == 2;
            REQUIRE(m.good != is_bad);
            if (!is_bad) {
                REQUIRE(m.replica == reference);
                REQUIRE(m.replica.root() == reference.root());
            }
        }
    }

    std::mt19937_64 random_;
    Counts& counts_;
    TimePoint clock_{Duration{1'000'000'000}};
    std::uint64_t nonce_ = 0;
    std::uint64_t sessions_ = 0;
    std::uint64_t tasks_ = 0;
    bool corrupting_;
    bool corrupted_ = false;
    std::map<std::uint64_t, std::set<allot::ReplicaId>> votes_{};  // on each state that the corrupted replica attested
    std::vector<Bytes> log_{};
    std::vector<Bytes> flying_{};
    std::vector<Machine> machines_{};
    std::vector<allot::BeaconChain> chains_{};
    std::vector<Client> clients_{};
    std::vector<allot::Lease> leases_{};
    std::vector<Checkpoint> kept_{};
    std::map<std::pair<SessionId, std::uint64_t>, Told> told_{};
};

auto from_environment(const char* name, std::uint64_t otherwise) -> std::uint64_t {
    const auto* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void print(const Counts& counts) {
    allot::each_field(counts, [](std::string_view name, std::uint64_t count) {
        std::printf(" %.*s %llu", static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(count));
    });
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

// The long form: ALLOT_REPLICA_SEEDS=20000. ALLOT_REPLICA_FROM=7000 goes on behind the first 7,000.
TEST_CASE("three replicas under faults agree, apply each request once and lose none that was acknowledged; one that "
          "was corrupted stops at the first majority on its state") {
    const auto seeds = from_environment("ALLOT_REPLICA_SEEDS", 200);
    const auto from = from_environment("ALLOT_REPLICA_FROM", 0);
    auto counts = Counts{};
    for (auto i = from; i < seeds; ++i) {
        INFO("simulation " << i << " of seed " << support::seed());
        Simulation{support::seed() * 1'000'003 + i, counts, i % 2 == 1}.run(400);
        if ((i + 1) % 1'000 == 0 || i + 1 == seeds) {
            std::printf("simulations %llu to %llu:", static_cast<unsigned long long>(from),
                        static_cast<unsigned long long>(i + 1));
            print(counts);
        }
    }
    allot::each_field(counts, [&](std::string_view name, std::uint64_t count) {
        INFO(name);
        CHECK(count >= (seeds - from) / 2);
    });
    CHECK(counts.found == counts.corrupted);
}

}  // namespace simulation_test

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/replica/replica_store.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/memory_folder.hpp"
#include "support/seed.hpp"

// A replica on a folder gives no effect that a crash can take back.

namespace replica_store_test {
namespace {

using namespace replica_support;
using Store = allot::ReplicaStore<D, support::MemoryFolder>;
using support::MemoryDisk;
using Effects = std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t>;

constexpr auto small = allot::StoreParameters{.checkpoint_every = 15, .slice_bytes = 600};

/// Events by id, with their kind, as they were told.
struct Told {
    Effects events{};
    std::vector<allot::Reply> replies{};

    void reply(const allot::Reply& r) { replies.push_back(r); }
    void event(allot::EffectId id, const allot::Event& e) {
        const auto [at, is_new] = events.emplace(std::pair{id.index, id.ordinal}, e.index());
        REQUIRE((is_new || at->second == e.index()));  // an id names one event for ever
    }
    static void attest(const allot::Attestation&) {}
    static void suspect(const allot::Divergence&) {}
};

auto opened(MemoryDisk& disk, Told& told) { return Store::open(support::MemoryFolder{disk}, D{}, 0, told, small); }

struct Work {
    support::Chaos<D> chaos;
    Told told{};
    std::optional<Request> in_flight{};  // sent again until it is answered
    std::uint64_t seq = 0;
    std::int64_t clock = 1'000'000;
    int acknowledged = 0;
    int duplicates = 0;
    int crashes = 0;

    void answered(std::size_t from) {
        for (auto i = from; i < told.replies.size(); ++i) {
            const auto& reply = told.replies[i];
            if (reply.verdict == Verdict::registered) { seq = std::max(seq, reply.seq); }
            if (!in_flight || reply.seq != in_flight->seq) { continue; }
            REQUIRE((reply.verdict == Verdict::applied || reply.verdict == Verdict::duplicate));
            duplicates += reply.verdict == Verdict::duplicate ? 1 : 0;
            ++acknowledged;
            ++seq;
            in_flight.reset();
        }
    }

    void live(MemoryDisk& disk) {
        auto replayed = Told{};
        auto store = opened(disk, replayed);
        REQUIRE(store.has_value());
        for (const auto& [id, kind] : replayed.events) {
            const auto at = told.events.find(id);
            REQUIRE((at == told.events.end() || at->second == kind));
        }
        if (!told.events.empty()) { REQUIRE(store->replica().index() >= told.events.rbegin()->first.first); }
        if (seq > 0) {  // what was acknowledged is known
            const auto* last = store->replica().last_of("s");
            REQUIRE(last != nullptr);
            REQUIRE(last->seq >= seq);
        }
        auto links = allot::BeaconChain{allot::Hash256{7}, 5'000};
        for (auto i = 0; i < 60; ++i) {
            auto bodies = std::vector<Entry::Body>{};
            if (store->replica().index() == 0) { bodies.push_back(body::ChainHead{1, links.head()}); }
            const auto* chain = store->replica().chain(0);
            clock += static_cast<std::int64_t>(chaos.below(2'000));
            bodies.push_back(body::Tick{chain == nullptr ? 1 : chain->round + 1,
                                        links.link(chain == nullptr ? 1 : chain->round + 1)});
            if (store->replica().last_of("s") == nullptr) {
                bodies.push_back(body::Register{"s", "client", {}});
            } else {
                if (!in_flight && seq > 0) {
                    auto commands = std::vector<Command>{};
                    for (auto c = 1 + chaos.below(3); c > 0; --c) {
                        auto command = chaos.command(store->replica().dispatcher());
                        if (!allot::is_operators(command)) { commands.push_back(std::move(command)); }
                    }
                    in_flight = Request{"s", seq + 1, commands, {}};
                }
                if (seq == 0) { bodies.push_back(body::Register{"s", "client", {}}); }
                if (in_flight) { bodies.push_back(body::Requests<Command>{{*in_flight}}); }
            }
            for (auto& b : bodies) {
                const auto error = store->apply({0, static_cast<std::uint64_t>(i), at(clock), std::move(b)});
                REQUIRE_FALSE(error);
            }
            const auto before = told.replies.size();
            const auto events = told.events.size();
            if (chaos.below(2) == 0) { continue; }
            REQUIRE(told.events.size() == events);  // nothing was told before the sync
            const auto error = store->sync(told);
            REQUIRE_FALSE(error);
            answered(before);
        }
    }
};

}  // namespace

TEST_CASE("no effect that was given is taken back, and a request that is sent again is applied once") {
    auto acknowledged = 0;
    auto duplicates = 0;
    auto crashes = 0;
    for (auto run = 0; run < 60; ++run) {
        const auto seed = support::seed() + static_cast<std::uint64_t>(run);
        CAPTURE(seed);
        auto disk = MemoryDisk{seed};
        auto work = Work{support::Chaos<D>{seed}};
        for (auto life = 0; life < 5; ++life) {
            disk.crash_after(static_cast<int>(20 + disk.below(200)));
            try {
                work.live(disk);
            } catch (const MemoryDisk::Crash&) { ++crashes; }
            disk.lose_power();
        }
        work.live(disk);
        acknowledged += work.acknowledged;
        duplicates += work.duplicates;
    }
    CHECK(acknowledged > 1'000);
    CHECK(duplicates > 10);
    CHECK(crashes > 100);
}

TEST_CASE("a replica of a folder is that of its entries, from a snapshot or from the first entry on") {
    auto disk = MemoryDisk{3};
    auto work = Work{support::Chaos<D>{3}};
    work.live(disk);
    auto told = Told{};
    auto store = opened(disk, told);
    REQUIRE(store);
    CHECK(store->store().snapshots().size() == 2);
    const auto root = store->root();
    CHECK(store->replica().index() > 100);
    CHECK(store->replica() == opened(disk, told)->replica());
    CHECK(opened(disk, told)->root() == root);
}

}  // namespace replica_store_test

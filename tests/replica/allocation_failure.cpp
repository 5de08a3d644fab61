#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include <allot/replica.hpp>

#include "replica/support.hpp"
#include "support/allocations.hpp"
#include "support/catch.hpp"

namespace replica_allocation_failure_test {
namespace {

using namespace std::chrono_literals;
using namespace replica_support;
namespace command = allot::command;

// Entries of every kind, after which sessions were closed, an outage has passed and roots were attested.
auto lived() -> std::vector<Bytes> {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.attest_every = 1;
    p.state_every = 1;
    p.attested_max = 2;
    p.sessions_per_client_max = 2;
    log.parameters(p);
    (void)log.next({join(1), join(2), submit(1), submit(2)});
    if (!log.sink.attested.empty()) { (void)log.append(log.replica.now(), body::Attest{log.sink.attested.at(0)}); }
    log.tick(log.replica.now() + 1s);
    for (const auto& session : {SessionId{"x"}, SessionId{"y"}}) {  // the outage changes what is kept of their expiry
        (void)log.append(log.replica.now(), body::Register{session, "expiring", log.replica.now() + 2h});
    }
    log.tick(log.replica.now() + 1h);
    for (auto i = 1; i < 4; ++i) { (void)log.open(SessionId{i}, "client"); }
    (void)log.append(log.replica.now(), body::Operator<Command>{2, {command::Postpone{1s}, submit(3)}});
    (void)log.append(log.replica.now(), body::ChainHead{2, allot::Hash256{9}});
    const auto seq = log.open("late", "another");
    for (auto i = 1; i <= 12; ++i) {  // so that the tally takes memory after a root was computed
        (void)log.request("late", seq + static_cast<std::uint64_t>(i), {join(10 + i)});
    }
    return log.entries;
}

}  // namespace

// Memory runs out at the n-th request within an entry, for n = 1 until none fails.
TEST_CASE("an entry that runs out of memory changes nothing, and can be applied again") {
    auto replica = R{D{}, 0};
    auto failures = 0;
    auto position = std::uint64_t{0};
    for (const auto& bytes : lived()) {
        const auto entry = allot::decode_entry<Command>(bytes);
        REQUIRE(entry);
        ++position;
        auto reference = replica;
        const auto expected = reference.apply_decoded(position, *entry);
        const auto before = replica;
        auto scratch = before;
        const auto root = scratch.root();
        auto effects = std::optional<allot::EntryEffects>{};
        for (std::uint64_t nth = 1; !effects; ++nth) {
            support::fails_at = support::calls + nth;
            try {
                effects = replica.apply_decoded(position, *entry);
                support::fails_at = 0;
            } catch (const std::bad_alloc&) {
                support::fails_at = 0;
                ++failures;
                INFO("entry " << position << ", request " << nth);
                REQUIRE(replica == before);
                REQUIRE(replica.root() == root);
            }
        }
        REQUIRE(replica == reference);
        REQUIRE(effects->replies == expected.replies);
        REQUIRE(effects->attestation == expected.attestation);
        REQUIRE(replica.root() == reference.root());
    }
    CHECK(failures > 300);
}

}  // namespace replica_allocation_failure_test

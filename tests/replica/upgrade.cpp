#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/replica.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"

// Two releases on one log. The next release writes entries of version 2, which this one does not know.
namespace replica_upgrade_test {
namespace {

using namespace replica_support;

/// A program that runs a replica: this release, or the next.
struct Program {
    R replica;
    bool is_next = false;

    auto apply(std::uint64_t position, Bytes entry) -> std::optional<allot::ReplicaFault> {
        if (is_next && entry.front() == 2) { entry.front() = allot::entry_version; }  // it knows this form
        auto sink = Sink{};
        return replica.apply(position, entry, sink);
    }
    /// Stops it, and starts another release on its checkpoint.
    void restart_as(bool next) {
        const auto bytes = allot::snapshot(replica.dispatcher(), replica.position(), replica.embedded());
        auto loaded = allot::load_snapshot(std::span<const std::uint8_t>{bytes}, D{});
        REQUIRE(loaded);
        auto again = R::restore(*std::move(loaded), replica.id());
        REQUIRE(again);
        replica = *std::move(again);
        is_next = next;
    }
};

/// Three programs, and the log that they follow.
struct Cluster {
    std::array<Program, 3> programs{Program{R{D{}, 0}}, Program{R{D{}, 1}}, Program{R{D{}, 2}}};
    std::vector<Bytes> log{};

    /// Appends the commands of the operator as an entry of a version. All apply it; returns the faults.
    auto append(std::uint8_t version, Command command) -> std::array<std::optional<allot::ReplicaFault>, 3> {
        auto bytes =
            allot::encode_entry(Entry{0, log.size(), at(1'000), body::Operator<Command>{++seq, {std::move(command)}}});
        bytes.front() = version;
        log.push_back(bytes);
        return {programs[0].apply(log.size(), bytes), programs[1].apply(log.size(), bytes),
                programs[2].apply(log.size(), bytes)};
    }
    void catch_up(Program& program) const {
        for (auto position = program.replica.position(); position < log.size(); ++position) {
            REQUIRE_FALSE(program.apply(position + 1, log[position]));
        }
    }
    auto agree() -> bool {
        return programs[0].replica.root() == programs[1].replica.root() &&
               programs[1].replica.root() == programs[2].replica.root();
    }

    std::uint64_t seq = 0;
};

constexpr auto nobody_stopped = std::array<std::optional<allot::ReplicaFault>, 3>{};

}  // namespace

TEST_CASE("rule 7: replicas are upgraded one by one, and only then may an entry be of the new version") {
    auto cluster = Cluster{};
    CHECK(cluster.append(1, join(1)) == nobody_stopped);
    auto node = 1;
    for (auto& program : cluster.programs) {
        program.restart_as(true);
        CHECK(cluster.append(1, join(++node)) == nobody_stopped);  // old and new replicas read the old form
        CHECK(cluster.agree());
    }
    CHECK(cluster.append(2, join(++node)) == nobody_stopped);
    CHECK(cluster.agree());
}

TEST_CASE(
    "rule 7: a replica that was left behind stops before the first new entry, and its new release goes on there") {
    auto cluster = Cluster{};
    CHECK(cluster.append(1, join(1)) == nobody_stopped);
    cluster.programs[0].restart_as(true);
    cluster.programs[1].restart_as(true);
    auto& old = cluster.programs[2];
    const auto before = old.replica;

    const auto faults = cluster.append(2, submit(1));
    CHECK_FALSE(faults[0]);
    CHECK_FALSE(faults[1]);
    REQUIRE(faults[2]);
    CHECK(faults[2]->error == allot::ReplicaError::entry_unknown);
    CHECK(faults[2]->position == 2);
    CHECK(faults[2]->decode->error == allot::DecodeError::version_unknown);
    // It skips nothing: entries that it would know do not pass either, and its state is that before the entry.
    CHECK(cluster.append(1, join(2))[2] == faults[2]);
    CHECK(old.replica == before);

    old.restart_as(true);
    cluster.catch_up(old);
    CHECK(cluster.agree());
    CHECK(cluster.append(2, join(3)) == nobody_stopped);
}

TEST_CASE("rule 7: an entry of a kind that is unknown stops a replica as one of an unknown version does") {
    auto cluster = Cluster{};
    CHECK(cluster.append(1, join(1)) == nobody_stopped);
    auto entry = cluster.log.front();
    entry[1 + 4 + 8 + 8] = 200;  // behind version, proposer, nonce and time: the kind
    auto& program = cluster.programs[0];
    const auto fault = program.apply(2, entry);
    REQUIRE(fault);
    CHECK(fault->error == allot::ReplicaError::entry_unknown);
    CHECK(fault->decode->error == allot::DecodeError::kind_unknown);
    CHECK(program.replica.index() == 1);
}

}  // namespace replica_upgrade_test

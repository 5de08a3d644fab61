#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// What the tests of the real system say, where it carries over. Numbers are theirs; where we differ, it is on purpose
// and stands at the fact. Facts 7, 19, 23 and 24 are in plan.cpp, micro_queue_replica.cpp, result_record.cpp and
// job_tracker.cpp, 22 in verifier.cpp, 25 and 26 in escrow.cpp, 8 and 12 in properties.cpp.

namespace job_test::facts {
using allot::MicroQueueReplica;
using Snapshot = allot::job_message::QueueSnapshot;

namespace {

/// Two MicroJobs of one block each, and nobody who verifies.
const auto two = plan_of({1, 2, 0, 1, 0}).macro(0);

auto replica(std::uint32_t number, allot::QueueParameters parameters = {}) -> MicroQueueReplica {
    return {two, node(number), parameters, at(0s)};
}

auto holder(const Snapshot& snapshot, std::uint32_t micro) -> std::string {
    const auto& hold = snapshot.control->items[micro].hold;
    return hold ? hold->holder.text() : "";
}

}  // namespace

TEST_CASE("fact 1: creating a queue is one publication; its owner is the creator, two items, both unlocked") {
    auto a = replica(1);
    const auto created = a.create(at(0s));
    REQUIRE(count_sent<Snapshot>(created) == 1);
    const auto* snapshot = sent<Snapshot>(created);
    CHECK(snapshot->control->reign().owner == node(1).node);
    CHECK(snapshot->control->items.size() == 2);
    CHECK(holder(*snapshot, 0).empty());
    CHECK(holder(*snapshot, 1).empty());
    CHECK(count_sent<allot::job_message::OwnershipRequest>(created) == 0);
}

TEST_CASE("fact 2: handing over is the second publication, with the new owner and no locks") {
    auto a = replica(1);
    (void)a.create(at(0s));
    const auto given =
        received(a, allot::job_message::OwnershipRequest{two.job, 0, node(2).node, node(2).wallet, 1}, at(1s));
    REQUIRE(count_sent<Snapshot>(given) == 1);
    CHECK(sent<Snapshot>(given)->control->reign().owner == node(2).node);
    CHECK(holder(*sent<Snapshot>(given), 0).empty());
    CHECK_FALSE(a.state().owns());
}

TEST_CASE("fact 3: an owner that grabs publishes once more; the lowest item is locked, the other free") {
    auto a = replica(1);
    (void)a.create(at(0s));
    const auto grabbed = a.want_work(true, at(1s));
    REQUIRE(count_sent<Snapshot>(grabbed) == 1);
    CHECK(holder(*sent<Snapshot>(grabbed), 0) == "NODE_1");
    CHECK(holder(*sent<Snapshot>(grabbed), 1).empty());
}

TEST_CASE("fact 4: grabbing from another owner is three publications: create, hand over, lock") {
    auto a = replica(1);
    auto b = replica(2);
    auto published = std::size_t{0};
    const auto created = a.create(at(0s));
    published += count_sent<Snapshot>(created);
    (void)received(b, *sent<Snapshot>(created), at(0s));
    const auto asked = b.want_work(true, at(1s));
    REQUIRE(count_sent<allot::job_message::OwnershipRequest>(asked) == 1);
    const auto given = received(a, *sent<allot::job_message::OwnershipRequest>(asked), at(1s));
    published += count_sent<Snapshot>(given);
    const auto locked = received(b, *sent<Snapshot>(given), at(1s));
    published += count_sent<Snapshot>(locked);
    CHECK(published == 3);
    CHECK(sent<Snapshot>(locked)->control->reign().owner == node(2).node);
    CHECK(holder(*sent<Snapshot>(locked), 0) == "NODE_2");
    CHECK(holder(*sent<Snapshot>(locked), 1).empty());
}

TEST_CASE("facts 5 and 10: one result of two is not all, two are, and the owner ends the MacroJob") {
    auto a = replica(1);
    (void)a.create(at(0s));
    (void)a.want_work(true, at(0s));
    CHECK(a.complete({hash_of(0)}, "", at(100ms)).accepted());  // and takes the next
    CHECK(a.record() == nullptr);
    REQUIRE(a.work());
    const auto ended = a.complete({hash_of(0)}, "", at(200ms));  // fact 6: equal hashes are valid
    REQUIRE(ended.get<allot::job_event::MacroEnded>() != nullptr);
    CHECK(a.record()->outcome == allot::JobOutcome::complete);
}

TEST_CASE("fact 9: a result that is published is known once to whoever does not own the queue") {
    auto a = replica(1);
    auto b = replica(2);
    (void)received(b, *sent<Snapshot>(a.create(at(0s))), at(0s));
    const auto found = allot::job_message::ResultFound{two.job, result_of(two, 0, node(3), {hash_of(5)})};
    CHECK(received(b, found, at(1s)).accepted());
    CHECK(received(b, found, at(1s)).error == JobError::result_duplicate);
    CHECK(b.state().results().results().size() == 1);
}

TEST_CASE("fact 11: what a slow owner does not finish in its time is done by the next, for real after 500 ms") {
    auto p = trusting();
    p.lock = 500ms;
    auto slow = replica(1, p);
    auto quick = replica(2, p);
    (void)slow.create(at(0s));
    const auto taken = slow.want_work(true, at(0s));
    (void)received(quick, *sent<Snapshot>(taken), at(0s));
    const auto asked = quick.want_work(true, at(10ms));
    const auto given = received(slow, *sent<allot::job_message::OwnershipRequest>(asked), at(10ms));
    auto works = received(quick, *sent<Snapshot>(given), at(10ms));
    REQUIRE(quick.work()->micro == 1);
    (void)quick.complete({hash_of(1)}, "", at(110ms));
    CHECK_FALSE(quick.work());  // the other is locked until then
    works = quick.tick(at(510ms));
    CHECK(works.get<allot::job_event::LeaseExpired>()->holder == node(1).node);
    REQUIRE(quick.work()->micro == 0);
    // The slow one's result is late and still counts: a computation is not repeated for nothing.
    const auto late = slow.complete({hash_of(0)}, "", at(1s));
    const auto ended = received(quick, *sent<allot::job_message::ResultFound>(late), at(1s));
    REQUIRE(ended.get<allot::job_event::MicroCompleted>() != nullptr);
    CHECK(ended.get<allot::job_event::MicroCompleted>()->late);
    CHECK(ended.get<allot::job_event::MacroEnded>() != nullptr);
    CHECK(quick.complete({hash_of(0)}, "", at(1s)).error == JobError::result_late);
}

TEST_CASE("fact 13: results that do not stand make no end; others do them again, and then it ends") {
    auto a = replica(1);
    (void)a.create(at(0s));
    (void)a.want_work(true, at(0s));
    (void)a.complete({hash_of(0)}, "", at(1s));
    (void)a.complete({hash_of(1)}, "", at(2s));
    const auto wrong = a.record()->accepted[1].digest;
    (void)a.reject({wrong, {0, 1}, node(1).node, node(1).wallet, allot::RejectReason::tie_break}, at(3s));
    CHECK(a.record() == nullptr);
    CHECK_FALSE(a.work());  // it rests a little first: 2^0 s
    (void)a.tick(at(4s));
    CHECK_FALSE(a.work());  // others may have it first, for one lock
    (void)a.tick(at(19s));
    REQUIRE(a.work());
    REQUIRE(a.work()->micro == 1);
    (void)a.complete({hash_of(2)}, "", at(20s));
    REQUIRE(a.record() != nullptr);
    CHECK(a.record()->accepted[1].digest != wrong);
}

TEST_CASE("fact 20: a lock of an hour holds to its last millisecond, and not to its end") {
    // Theirs still holds at t + T and ends at t + T + 1. With us a deadline has passed when now >= deadline,
    // everywhere.
    auto table = allot::LeaseTable<std::uint32_t, int>{};
    table.add({0, 0, {}, false, {}});
    (void)table.acquire(0, 1, 1, at(1s), 3'660s);
    CHECK(table.first_open(at(61s)) == nullptr);
    CHECK(table.first_open(at(1s + 3'660s - 1ms)) == nullptr);
    CHECK(table.first_open(at(1s + 3'660s)) != nullptr);
}

TEST_CASE("fact 21: fifteen seconds are fifteen seconds") {
    // Theirs pins 15e9, nanoseconds in a field that is read as milliseconds: a lock of 173 days. Ours has a unit.
    auto a = replica(1);
    (void)a.create(at(0s));
    const auto grabbed = a.want_work(true, at(0s));
    const auto hold = *sent<Snapshot>(grabbed)->control->items[0].hold;
    CHECK(hold.expires - hold.granted == 15s);
    CHECK((hold.expires - hold.granted).count() == 15'000);
}

}  // namespace job_test::facts

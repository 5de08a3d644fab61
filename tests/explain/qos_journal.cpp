#include <cstdint>
#include <vector>

#include <allot/explain/qos_journal.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace {

using namespace support;

using Judged = allot::Dispatcher<allot::FixedTerms>;
using Journal = allot::QoSJournal<Judged>;

}  // namespace

TEST_CASE("the journal of a node names each change of its score, with its cause, and the oldest go first") {
    auto d = Judged{};
    auto journal = Journal{d, 3};
    const auto heard = [&](Events events) { journal.hear(d, events); };
    heard(d.join(plain_node(1), at(0s)));
    CHECK(journal.changes(1).empty());
    heard(d.observe(1, allot::OutcomeKind::timeout, at(1s)));
    heard(d.score(1, 10, at(2s)));
    const auto task = d.submit(plain_task(1), at(3s));
    heard(task);
    heard(d.complete(leased(task), at(4s)));
    const auto changes = journal.changes(1);
    REQUIRE(changes.size() == 3);
    CHECK(changes[0].cause == allot::OutcomeKind::timeout);
    CHECK(changes[0].time == TimePoint{1s});
    CHECK(changes[0].before == allot::Score::from_ratio(1, 2));
    CHECK(changes[0].after < changes[0].before);
    CHECK(changes[1].cause == allot::OutcomeKind::scored);
    CHECK(changes[1].after > changes[1].before);
    CHECK(changes[2].cause == allot::OutcomeKind::success);
    CHECK(changes[2].after == d.qos_score(*d.node(1)));
    heard(d.score(1, 0, at(5s)));
    CHECK(journal.changes(1).size() == 3);
    CHECK(journal.changes(1).front().cause == allot::OutcomeKind::scored);
    CHECK(journal.changes("nobody").empty());
    CHECK(journal.missed() == 0);
}

TEST_CASE("a journal that hears all events accounts for every score, begun early or late") {
    auto changes = std::size_t{0};
    for (auto run = std::uint64_t{0}; run < 8; ++run) {
        // Some terms lay the second failure of a task to the task, and the node's tracker does not hear of a timeout.
        const auto blamed_max = run % 2 == 0 ? 0xFFFF'FFFFU : 1U;
        auto d =
            Judged{allot::FixedTerms{{.after_timeout = static_cast<allot::Next>(run % 3), .blamed_max = blamed_max}}};
        auto chaos = support::Chaos<Judged>{support::seed() + run};
        auto journal = Journal{d};
        for (auto step = 0; step < 500; ++step) {
            if (run >= 4 && step == 250) { journal = Journal{d}; }
            const auto moment = chaos.moment(d);
            journal.hear(d, d.apply(chaos.command(d), moment));
            INFO("ALLOT_SEED " << support::seed() << ", run " << run << ", step " << step);
            REQUIRE(journal.missed() == 0);
        }
        for (auto id = std::uint64_t{0}; id < 8; ++id) {
            for (const auto& change : journal.changes(id)) {
                CHECK(change.before <= allot::Score::one());
                ++changes;
            }
        }
    }
    CHECK(changes > 100);
}

TEST_CASE("what the journal was not told of is noted without a cause") {
    auto d = Judged{};
    join_plain(d, 1);
    auto journal = Journal{d};
    ok(d.score(1, 0, at(1s)));
    journal.hear(d, d.score(1, 0, at(2s)));
    CHECK(journal.missed() == 1);
    CHECK_FALSE(journal.changes(1).back().cause);
    CHECK(journal.changes(1).back().after == d.qos_score(*d.node(1)));
}

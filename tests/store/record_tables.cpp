#include <allot/store/record_tables.hpp>

#include "support/catch.hpp"

using Tables = allot::RecordTables<int>;

TEST_CASE("new tables have no records, nothing is due, and they are equal under different keys") {
    const auto tables = Tables{{1, 2}};
    CHECK(tables.nodes().size() == 0);
    CHECK(tables.tasks().size() == 0);
    CHECK(tables.ended_tasks().size() == 0);
    CHECK(tables.groups().size() == 0);
    CHECK(tables.leases().size() == 0);
    CHECK(tables.node_names().size() == 0);
    CHECK(tables.present() == 0);
    CHECK(tables.stake_root_max().is_zero());
    CHECK(tables.due_first() == nullptr);
    CHECK(tables.due_finalists().front().time == allot::never.time_since_epoch().count());
    CHECK(tables.holdings({3}).empty());
    CHECK_FALSE(tables.find_by_stake([](allot::NodeHandle) { return true; }, 8));
    CHECK(tables.counters() == allot::Counters{});
    CHECK(tables == Tables{{3, 4}});
}

TEST_CASE("room that is made and names that are announced change no result") {
    auto tables = Tables{{1, 2}};
    tables.reserve<allot::NodeHandle>(1'000);
    tables.reserve<allot::TaskHandle>(1'000);
    tables.reserve<allot::LeaseHandle>(1'000);
    tables.expect(allot::NodeId{7}, tables.nodes().hash(7));
    tables.expect(allot::TaskId{8}, tables.tasks().hash(8));
    CHECK_FALSE(tables.nodes().find(7));
    CHECK_FALSE(tables.tasks().find(8));
    CHECK(tables.nodes().next() == allot::NodeHandle{0});
    CHECK(tables == Tables{{1, 2}});
}

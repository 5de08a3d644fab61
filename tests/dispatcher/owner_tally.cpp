#include <allot/dispatcher/owner_tally.hpp>

#include "support/catch.hpp"

namespace {

using allot::OwnerId;
using allot::TaskHandle;

}  // namespace

TEST_CASE("a tally counts each owner's tasks") {
    auto tally = allot::OwnerTally{};
    CHECK(tally.count(OwnerId{"a"}) == 0);
    tally.add(TaskHandle{3}, OwnerId{"a"});
    tally.add(TaskHandle{0}, OwnerId{"a"});
    tally.add(TaskHandle{7}, OwnerId{"b"});
    CHECK(tally.count(OwnerId{"a"}) == 2);
    CHECK(tally.count(OwnerId{"b"}) == 1);
    tally.remove(TaskHandle{3}, OwnerId{"a"});
    tally.remove(TaskHandle{7}, OwnerId{"b"});
    CHECK(tally.count(OwnerId{"a"}) == 1);
    CHECK(tally.count(OwnerId{"b"}) == 0);
}

TEST_CASE("a task counts once, and goes once") {
    auto tally = allot::OwnerTally{};
    tally.add(TaskHandle{1}, OwnerId{"a"});
    tally.add(TaskHandle{1}, OwnerId{"a"});
    CHECK(tally.count(OwnerId{"a"}) == 1);
    tally.remove(TaskHandle{2}, OwnerId{"a"});
    tally.remove(TaskHandle{9}, OwnerId{"a"});
    CHECK(tally.count(OwnerId{"a"}) == 1);
    tally.remove(TaskHandle{1}, OwnerId{"a"});
    tally.remove(TaskHandle{1}, OwnerId{"a"});
    CHECK(tally.count(OwnerId{"a"}) == 0);
}

TEST_CASE("a task without owner counts for nobody") {
    auto tally = allot::OwnerTally{};
    tally.add(TaskHandle{1}, OwnerId::null());
    CHECK(tally.count(OwnerId::null()) == 0);
    tally.remove(TaskHandle{1}, OwnerId::null());
}

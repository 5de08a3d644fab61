#include <allot/dispatcher/class_tally.hpp>

#include "support/catch.hpp"

namespace {

using allot::ClassId;
using allot::NodeHandle;

constexpr auto none = allot::no_handle<ClassId>;

}  // namespace

TEST_CASE("a class tally counts each node in the class that it was last set to") {
    auto tally = allot::ClassTally{};
    CHECK(tally.count(ClassId{0}) == 0);
    tally.set(NodeHandle{3}, ClassId{2});
    tally.set(NodeHandle{0}, ClassId{2});
    tally.set(NodeHandle{7}, ClassId{0});
    CHECK(tally.count(ClassId{2}) == 2);
    CHECK(tally.count(ClassId{0}) == 1);
    CHECK(tally.count(ClassId{1}) == 0);
    tally.set(NodeHandle{3}, ClassId{0});
    CHECK(tally.count(ClassId{2}) == 1);
    CHECK(tally.count(ClassId{0}) == 2);
    tally.set(NodeHandle{0}, none);
    tally.set(NodeHandle{0}, none);
    CHECK(tally.count(ClassId{2}) == 0);
    CHECK(tally.count(none) == 0);
}

TEST_CASE("a node counts once, however often it is set") {
    auto tally = allot::ClassTally{};
    tally.set(NodeHandle{1}, ClassId{1});
    tally.set(NodeHandle{1}, ClassId{1});
    CHECK(tally.count(ClassId{1}) == 1);
    tally.set(NodeHandle{2}, none);
    CHECK(tally.count(ClassId{1}) == 1);
}

#include <allot/dispatcher/operator_stakes.hpp>

#include "support/catch.hpp"

namespace {

using allot::NodeHandle;
using allot::OperatorId;
using allot::u128;

const auto a = OperatorId{"a"};
const auto b = OperatorId{"b"};

}  // namespace

TEST_CASE("an operator's stake is the sum over its nodes") {
    auto stakes = allot::OperatorStakes{};
    CHECK(stakes.of(a) == u128{0});
    stakes.set(NodeHandle{4}, a, 10U);
    stakes.set(NodeHandle{0}, a, 5U);
    stakes.set(NodeHandle{1}, b, 7U);
    CHECK(stakes.of(a) == u128{15});
    CHECK(stakes.of(b) == u128{7});
    stakes.set(NodeHandle{4}, a, 1U);  // less
    CHECK(stakes.of(a) == u128{6});
    stakes.set(NodeHandle{4}, b, 1U);  // to another operator
    CHECK(stakes.of(a) == u128{5});
    CHECK(stakes.of(b) == u128{8});
    stakes.set(NodeHandle{0}, OperatorId::null(), 0U);  // gone
    CHECK(stakes.of(a) == u128{0});
}

TEST_CASE("to set what is set changes nothing") {
    auto stakes = allot::OperatorStakes{};
    stakes.set(NodeHandle{1}, a, 10U);
    stakes.set(NodeHandle{1}, a, 10U);
    CHECK(stakes.of(a) == u128{10});
    stakes.set(NodeHandle{2}, b, 0U);
    stakes.set(NodeHandle{1}, b, 0U);
    stakes.set(NodeHandle{1}, a, 0U);
    CHECK(stakes.of(a) == u128{0});
    CHECK(stakes.of(b) == u128{0});
}

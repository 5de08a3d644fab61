#include <allot/dispatcher/operator_stakes.hpp>

#include "support/catch.hpp"

namespace {

using allot::NodeHandle;
using allot::OperatorId;
using allot::u128;

const auto alice = OperatorId{"alice"};
const auto bob = OperatorId{"bob"};

}  // namespace

TEST_CASE("an operator's stake is the sum over its nodes") {
    auto stakes = allot::OperatorStakes{};
    CHECK(stakes.of(alice) == u128{0});
    stakes.set(NodeHandle{4}, alice, 10U);
    stakes.set(NodeHandle{0}, alice, 5U);
    stakes.set(NodeHandle{1}, bob, 7U);
    CHECK(stakes.of(alice) == u128{15});
    CHECK(stakes.of(bob) == u128{7});
    stakes.set(NodeHandle{4}, alice, 1U);  // less
    CHECK(stakes.of(alice) == u128{6});
    stakes.set(NodeHandle{4}, bob, 1U);  // to another operator
    CHECK(stakes.of(alice) == u128{5});
    CHECK(stakes.of(bob) == u128{8});
    stakes.set(NodeHandle{0}, OperatorId::null(), 0U);  // gone
    CHECK(stakes.of(alice) == u128{0});
}

TEST_CASE("to set what is set changes nothing") {
    auto stakes = allot::OperatorStakes{};
    stakes.set(NodeHandle{1}, alice, 10U);
    stakes.set(NodeHandle{1}, alice, 10U);
    CHECK(stakes.of(alice) == u128{10});
    stakes.set(NodeHandle{2}, bob, 0U);
    stakes.set(NodeHandle{1}, bob, 0U);
    stakes.set(NodeHandle{1}, alice, 0U);
    CHECK(stakes.of(alice) == u128{0});
    CHECK(stakes.of(bob) == u128{0});
}

#include <allot/store/holdings.hpp>

#include "support/catch.hpp"

namespace holdings_test {

using allot::HeldModel;
using allot::HeldModels;
using allot::Holding;
using allot::ModelId;
using allot::NodeHandle;

TEST_CASE("a node has the models that it was given last, and those alone") {
    auto holdings = allot::Holdings{};
    CHECK(holdings.of(NodeHandle{0}).empty());
    CHECK(holdings.of(NodeHandle{70'000}).empty());
    const auto some = HeldModels{HeldModel{ModelId{1}, Holding::on_disk, 0, {}}};
    const auto more =
        HeldModels{HeldModel{ModelId{1}, Holding::on_disk, 0, {}}, HeldModel{ModelId{4}, Holding::wanted, 0, {}}};
    for (const auto h : {NodeHandle{0}, NodeHandle{700}, NodeHandle{63}}) {
        holdings.ensure(h);
        holdings.reserve(h);
        CHECK(holdings.exchange(h, some).empty());
        CHECK(holdings.of(h) == some);
        CHECK(holdings.exchange(h, more) == some);
        CHECK(holdings.of(h) == more);
    }
    CHECK(holdings.of(NodeHandle{1}).empty());
    const auto copy = holdings;
    CHECK(holdings.exchange(NodeHandle{700}, {}) == more);
    CHECK(holdings.exchange(NodeHandle{700}, {}).empty());
    CHECK(holdings.of(NodeHandle{700}).empty());
    holdings.trim(63);
    CHECK(holdings.of(NodeHandle{63}) == more);
    CHECK(copy.of(NodeHandle{700}) == more);
    holdings.ensure(NodeHandle{700});
    CHECK(holdings.of(NodeHandle{700}).empty());
}

}  // namespace holdings_test

#include <cstdint>
#include <utility>
#include <vector>

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

TEST_CASE("each entry of the lists belongs to its node, which is drawn as often as it has entries") {
    auto holdings = allot::Holdings{};
    CHECK(holdings.entries() == 0);
    const auto give = [&](std::uint32_t node, std::uint32_t count) {
        auto models = HeldModels{};
        for (std::uint32_t m = 0; m < count; ++m) { models.push_back(HeldModel{ModelId{m}, Holding::on_disk, 0, {}}); }
        holdings.ensure(NodeHandle{node});
        holdings.reserve(NodeHandle{node});
        (void)holdings.exchange(NodeHandle{node}, std::move(models));
    };
    const auto owners = [&] {
        auto found = std::vector<std::uint32_t>{};
        for (std::uint64_t entry = 0; entry < holdings.entries(); ++entry) {
            found.push_back(holdings.node_of(entry).value);
        }
        return found;
    };
    give(700, 2);
    give(3, 1);
    give(65, 3);
    CHECK(owners() == std::vector<std::uint32_t>{3, 65, 65, 65, 700, 700});
    give(65, 1);
    give(700, 0);
    CHECK(owners() == std::vector<std::uint32_t>{3, 65});
    auto filled = std::vector<std::uint32_t>{};
    holdings.each([&](NodeHandle h) { filled.push_back(h.value); });
    CHECK(filled == owners());
    holdings.trim(65);
    give(64, 1);
    CHECK(owners() == std::vector<std::uint32_t>{3, 64, 65});
}

}  // namespace holdings_test

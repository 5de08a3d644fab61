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
    const auto some = HeldModels{HeldModel{ModelId{1}, Holding::on_disk, 0}};
    const auto more = HeldModels{HeldModel{ModelId{1}, Holding::on_disk, 0}, HeldModel{ModelId{4}, Holding::in_use, 0}};
    for (const auto h : {NodeHandle{0}, NodeHandle{700}, NodeHandle{63}}) {
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
    CHECK(holdings.of(NodeHandle{700}).empty());
}

TEST_CASE("each entry of the lists belongs to its node, which is drawn as often as it has entries") {
    auto holdings = allot::Holdings{};
    CHECK(holdings.entries() == 0);
    const auto give = [&](std::uint32_t node, std::uint32_t count) {
        auto models = HeldModels(count);
        for (std::uint32_t m = 0; m < count; ++m) { models[m].model = ModelId{m}; }
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

TEST_CASE("wishes are a list of their own, and count as entries of their node") {
    auto holdings = allot::Holdings{};
    const auto one = [](std::uint32_t model, Holding holding, int time) {
        auto list = HeldModels{HeldModel{ModelId{model}, holding, 0}};
        list.set_until(0, allot::TimePoint{allot::Duration{time}});
        return list;
    };
    const auto two = merged(one(1, Holding::wanted, 9), one(4, Holding::wanted, 5));
    const auto wish = [&](std::uint32_t node, const HeldModels& after) {
        holdings.reserve_wishes(NodeHandle{node}, after);
        return holdings.exchange_wishes(NodeHandle{node}, after);
    };
    CHECK(wish(70, two).empty());
    CHECK(wish(3, one(1, Holding::wanted, 9)).empty());
    CHECK(holdings.wishes(NodeHandle{70}) == two);
    CHECK(holdings.of(NodeHandle{70}).empty());
    CHECK(holdings.wishes(NodeHandle{71}).empty());
    CHECK(holdings.wishes(NodeHandle{9'999}).empty());
    CHECK(holdings.entries() == 3);
    CHECK(holdings.node_of(0) == NodeHandle{3});
    CHECK(holdings.node_of(2) == NodeHandle{70});
    holdings.reserve(NodeHandle{70});
    (void)holdings.exchange(NodeHandle{70}, {HeldModel{ModelId{2}, Holding::on_disk, 0}});
    CHECK(holdings.entries() == 4);
    CHECK(holdings.node_of(3) == NodeHandle{70});
    CHECK(allot::Holdings::first_end(two) == allot::TimePoint{allot::Duration{5}});
    CHECK(allot::Holdings::first_end({}) == allot::never);
    CHECK(holdings.due_of(NodeHandle{70}) == allot::TimePoint{allot::Duration{5}});
    (void)holdings.exchange(NodeHandle{70}, one(2, Holding::on_disk, 2));
    CHECK(holdings.due_of(NodeHandle{70}) == allot::TimePoint{allot::Duration{2}});
    CHECK(holdings.due_of(NodeHandle{9'999}) == allot::never);
    (void)holdings.exchange(NodeHandle{70}, {HeldModel{ModelId{2}, Holding::on_disk, 0}});
    CHECK(holdings.due_of(NodeHandle{70}) == allot::TimePoint{allot::Duration{5}});

    const auto copy = holdings;
    holdings.give_back();
    CHECK(holdings.wishes(NodeHandle{70}) == two);
    CHECK(wish(70, {}) == two);
    CHECK(wish(3, {}).size() == 1);
    holdings.give_back();
    CHECK(holdings.wishes(NodeHandle{70}).empty());
    CHECK(holdings.entries() == 1);
    CHECK(copy.wishes(NodeHandle{70}) == two);
    CHECK(wish(70, two).empty());
    holdings.trim(63);
    CHECK(holdings.wishes(NodeHandle{70}).empty());
    CHECK(holdings.wishes(NodeHandle{3}).empty());
}

}  // namespace holdings_test

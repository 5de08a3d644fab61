#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/store/stake_index.hpp>
#include <allot/store/table.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace stake_index_test {

using allot::NodeHandle;
struct Data {
    friend auto operator==(const Data&, const Data&) -> bool = default;
};
using Record = allot::NodeRecord<Data>;
using Nodes = allot::Table<NodeHandle, Record>;

TEST_CASE("the largest root and the order of making way are those of the records, whatever comes and goes") {
    const auto stride = GENERATE(1U, 17U, 1'009U);
    auto random = std::mt19937_64{support::seed()};
    auto nodes = Nodes{};
    auto index = allot::StakeIndex<Nodes>{};
    for (auto step = 0; step < 3'000; ++step) {
        const auto h = NodeHandle{stride * static_cast<std::uint32_t>(random() % 18)};
        auto was = std::optional<Record>{};
        if (nodes.contains(h)) { nodes.destroy(h, was); }
        const auto comes = random() % 4 != 0;
        if (comes) {
            auto record = was.value_or(Record{});
            if (!was || random() % 2 == 0) {
                record.node.staked(random() % 3);
                record.node.state = random() % 3 == 0 ? allot::NodeState::left : allot::NodeState::paused;
            }
            nodes.create(h, std::move(record));
        }
        index.reserve(h.value);
        index.moved(nodes, h, was ? &*was : nullptr, nodes.find_record(h));
        auto expected = std::vector<NodeHandle>{};
        auto largest = allot::StakeRoot{};
        nodes.for_each([&](NodeHandle n, const Record& record) {
            expected.push_back(n);
            if (record.node.present()) { largest = std::max(largest, record.node.stake_root()); }
        });
        std::sort(expected.begin(), expected.end(), [&](NodeHandle a, NodeHandle b) {
            const auto key = [&](NodeHandle n) { return std::tuple{nodes[n].node.stake, nodes[n].node.present(), n}; };
            return key(a) < key(b);
        });
        auto asked = std::vector<NodeHandle>{};
        const auto refuse = [&](NodeHandle n) { return asked.push_back(n), false; };
        REQUIRE_FALSE(index.find(nodes, refuse, 100));
        REQUIRE(asked == expected);
        REQUIRE(index.root_max() == largest);
        if (!expected.empty()) {
            REQUIRE(index.find(
                        nodes, [](NodeHandle) { return true; }, 1) == expected.front());
        }
    }
    for (auto h = NodeHandle{0}; h.value < 18 * stride; h.value += stride) {
        auto was = std::optional<Record>{};
        if (nodes.contains(h)) { nodes.destroy(h, was); }
        index.moved(nodes, h, was ? &*was : nullptr, static_cast<const Record*>(nullptr));
    }
    index.trim(0);
    CHECK(index.root_max() == allot::StakeRoot{});
    CHECK_FALSE(index.find(
        nodes, [](NodeHandle) { return true; }, 1));
}

}  // namespace stake_index_test

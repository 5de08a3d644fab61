#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/store/count_tree.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

TEST_CASE("each of what is counted falls into its slot") {
    auto random = allot::Random{allot::Entropy{support::seed()}, allot::Purpose::dispatch, {}};
    auto counts = std::vector<std::uint64_t>{};
    auto tree = allot::CountTree{};
    CHECK(tree.total() == 0);
    auto right = true;
    for (auto step = 0; step < 2'000; ++step) {
        const auto slot = static_cast<std::uint32_t>(random.below(random.below(8) == 0 ? 200 : 20));
        if (slot >= counts.size()) { counts.resize(slot + 1); }
        tree.reserve(slot);
        const auto is = random.below(5);
        tree.add(slot, is - counts[slot]);
        counts[slot] = is;
        if (step % 20 == 0) {
            while (!counts.empty() && counts.back() == 0) { counts.pop_back(); }
            tree.trim(static_cast<std::uint32_t>(counts.size()));
        }
        auto point = std::uint64_t{0};
        for (std::uint32_t i = 0; i < counts.size(); ++i) {
            for (std::uint64_t k = 0; k < counts[i]; ++k) { right = right && tree.find(point++) == std::pair{i, k}; }
        }
        right = right && tree.total() == point;
    }
    CHECK(right);
}

TEST_CASE("what is reserved at once is found as what was reserved one by one") {
    auto tree = allot::CountTree{};
    tree.reserve(0);
    tree.add(0, 3);
    tree.reserve(100);
    tree.add(100, 2);
    CHECK(tree.total() == 5);
    CHECK(tree.find(2) == std::pair{std::uint32_t{0}, std::uint64_t{2}});
    CHECK(tree.find(4) == std::pair{std::uint32_t{100}, std::uint64_t{1}});
}

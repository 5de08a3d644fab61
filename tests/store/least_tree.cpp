#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <allot/store/least_tree.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace least_tree_test {

namespace {

using Keys = std::map<std::uint32_t, int>;

struct ByKey {
    const Keys& keys;
    [[nodiscard]] auto has(std::uint32_t slot) const -> bool { return keys.contains(slot); }
    [[nodiscard]] auto operator()(std::uint32_t a, std::uint32_t b) const -> bool {
        return std::pair{keys.at(a), a} < std::pair{keys.at(b), b};
    }
};

struct Ranking {
    Keys keys{};
    allot::LeastTree tree{};

    void set(std::uint32_t slot, std::optional<int> key) {
        if (key) {
            keys[slot] = *key;
        } else {
            keys.erase(slot);
        }
        tree.reserve(slot);
        tree.changed(slot, ByKey{keys});
    }
    // The slots in the order in which they are asked.
    [[nodiscard]] auto asked(std::uint32_t tries) const {
        auto slots = std::vector<std::uint32_t>{};
        const auto refuses = [&](std::uint32_t slot) {
            slots.push_back(slot);
            return false;
        };
        CHECK_FALSE(tree.find(ByKey{keys}, refuses, tries));
        return slots;
    }
    [[nodiscard]] auto sorted() const {
        auto slots = std::vector<std::uint32_t>{};
        for (const auto& [slot, key] : keys) { slots.push_back(slot); }
        std::sort(slots.begin(), slots.end(), ByKey{keys});
        return slots;
    }
};

}  // namespace

TEST_CASE("an empty tree finds nothing") {
    auto ranking = Ranking{};
    CHECK(ranking.asked(10).empty());
    CHECK_FALSE(ranking.tree.first());
    ranking.set(300, 5);
    ranking.set(300, std::nullopt);
    CHECK(ranking.asked(10).empty());
}

TEST_CASE("slots are asked in their order, so many as allowed, until one is accepted") {
    auto random = std::mt19937_64{support::seed()};
    for (const auto reach : {1U, 16U, 17U, 256U, 257U, 5'000U}) {
        auto ranking = Ranking{};
        for (auto step = 0; step < 600; ++step) {
            const auto slot = static_cast<std::uint32_t>(random() % reach);
            const auto goes = random() % 3 == 0;
            ranking.set(slot, goes ? std::nullopt : std::optional{static_cast<int>(random() % 7)});
            if (step % 60 != 0) { continue; }
            const auto sorted = ranking.sorted();
            REQUIRE(ranking.asked(0xFFFF'FFFF) == sorted);
            REQUIRE(ranking.tree.first() == (sorted.empty() ? std::nullopt : std::optional{sorted.front()}));
            const auto tries = static_cast<std::uint32_t>(random() % (sorted.size() + 2));
            const auto first = std::min<std::size_t>(tries, sorted.size());
            REQUIRE(ranking.asked(tries) == std::vector(sorted.begin(), sorted.begin() + static_cast<long>(first)));
            const auto copy = ranking;
            for (std::size_t i = 0; i < sorted.size(); i += 1 + sorted.size() / 9) {
                const auto is = [&](std::uint32_t asked) { return asked == sorted[i]; };
                REQUIRE(copy.tree.find(ByKey{copy.keys}, is, static_cast<std::uint32_t>(i + 1)) == sorted[i]);
                REQUIRE(copy.tree.find(ByKey{copy.keys}, is, static_cast<std::uint32_t>(i)) == std::nullopt);
            }
        }
    }
}

TEST_CASE("a tree that gave room back finds what is left, and grows again") {
    auto ranking = Ranking{};
    for (auto slot = 0U; slot < 5'000; ++slot) { ranking.set(slot, static_cast<int>(5'000 - slot)); }
    for (auto slot = 4'999U; slot >= 20; --slot) { ranking.set(slot, std::nullopt); }
    ranking.tree.trim(20);
    CHECK(ranking.asked(0xFFFF'FFFF) == ranking.sorted());
    ranking.set(70'000, 1);
    ranking.set(21, 2);
    CHECK(ranking.asked(3) == std::vector<std::uint32_t>{70'000, 21, 19});
    CHECK(ranking.asked(0xFFFF'FFFF) == ranking.sorted());
}

}  // namespace least_tree_test

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <allot/store/max_tree.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

using Model = std::map<std::uint32_t, std::uint64_t>;

auto max(const Model& model) -> std::uint64_t {
    auto greatest = std::uint64_t{0};
    for (const auto& [slot, key] : model) { greatest = std::max(greatest, key); }
    return greatest;
}

}  // namespace

TEST_CASE("an empty max tree has the maximum 0") {
    const auto tree = allot::MaxTree{};
    CHECK(tree.max() == 0);
    CHECK(tree.key(0) == 0);
    CHECK(tree.key(0xFFFF'FFFF) == 0);
    CHECK(tree == allot::MaxTree{});
}

TEST_CASE("a single key is the maximum until it leaves") {
    const auto slot = GENERATE(0U, 15U, 16U, 255U, 256U, 4'096U, 70'000U);
    auto tree = allot::MaxTree{};
    tree.set(slot, ~std::uint64_t{0});
    CHECK(tree.max() == ~std::uint64_t{0});
    CHECK(tree.key(slot) == ~std::uint64_t{0});
    tree.set(slot, 3);
    CHECK(tree.max() == 3);
    tree.set(slot, 0);
    CHECK(tree.max() == 0);
    CHECK(tree == allot::MaxTree{});
}

TEST_CASE("the maximum is right while the tree grows over each level and shrinks again") {
    auto tree = allot::MaxTree{};
    for (std::uint32_t slot = 0; slot < 70'000; ++slot) {
        // The maximum is neither the first nor the last slot, and rises and stays in turn.
        tree.set(slot, slot % 3 == 0 ? slot + 1 : 1);
        REQUIRE(tree.max() == slot / 3 * 3 + 1);
    }
    for (std::uint32_t slot = 70'000; slot-- > 0;) {
        tree.set(slot, 0);
        REQUIRE(tree.max() == (slot == 0 ? 0 : (slot - 1) / 3 * 3 + 1));
    }
    CHECK(tree == allot::MaxTree{});
}

TEST_CASE("a max tree does what a scan of a std::map does") {
    const auto stride = GENERATE(1U, 17U, 1'009U);
    support::check_histories({4, 70, 40}, [stride](const support::History& history) {
        auto tree = allot::MaxTree{};
        auto model = Model{};
        for (const auto& step : history) {
            const auto slot = step.subject * stride;
            const auto shift = step.verb == 1 ? 40 : 0;
            const auto key = step.verb == 0 ? std::uint64_t{0} : std::uint64_t{step.value} << shift;
            tree.set(slot, key);
            model[slot] = key;
            if (tree.max() != max(model) || tree.key(slot) != key) { return false; }
        }
        return std::all_of(model.begin(), model.end(),
                           [&tree](const auto& entry) { return tree.key(entry.first) == entry.second; });
    });
}

TEST_CASE("undoing a history backwards gives an equal max tree, however far it grew") {
    auto tree = allot::MaxTree{};
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 50; ++i) { tree.set(static_cast<std::uint32_t>(random() % 100), random() % 9); }
    const auto before = tree;
    auto done = std::vector<std::pair<std::uint32_t, std::uint64_t>>{};
    for (auto i = 0; i < 3'000; ++i) {
        const auto slot = static_cast<std::uint32_t>(random() % (i % 2 == 0 ? 100 : 70'000));
        done.emplace_back(slot, tree.key(slot));
        tree.set(slot, random());
    }
    CHECK_FALSE(tree == before);
    for (; !done.empty(); done.pop_back()) { tree.set(done.back().first, done.back().second); }
    CHECK(tree == before);
    CHECK(before == tree);
}

TEST_CASE("max trees with the same maximum but other keys differ") {
    auto a = allot::MaxTree{};
    auto b = allot::MaxTree{};
    a.set(5, 9);
    b.set(5, 9);
    CHECK(a == b);
    b.set(70'000, 1);
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
    b.set(70'000, 0);
    CHECK(a == b);
    b.set(4, 2);
    CHECK_FALSE(a == b);
}

TEST_CASE("room given back changes no key, and is taken again") {
    auto random = std::mt19937_64{support::seed()};
    for (const auto kept : {0U, 1U, 16U, 17U, 255U, 256U, 4'097U}) {
        auto tree = allot::MaxTree{};
        for (std::uint32_t slot = 0; slot < 10'000; ++slot) { tree.set(slot, 1 + random() % 1'000); }
        for (auto slot = kept; slot < 10'000; ++slot) { tree.set(slot, 0); }
        const auto before = tree;
        tree.trim(kept);
        CHECK(tree == before);
        CHECK(tree.max() == before.max());
        tree.set(9'999, 5'000);
        CHECK(tree.max() == 5'000);
        tree.set(9'999, 0);
        CHECK(tree == before);
    }
}

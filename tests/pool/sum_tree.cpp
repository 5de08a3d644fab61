#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include <allot/pool/sum_tree.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

struct Pair {
    std::uint32_t weight = 0;
    std::uint32_t item = 0;
};

using Model = std::vector<Pair>;

auto total(const Model& model) -> std::uint64_t {
    auto sum = std::uint64_t{0};
    for (const auto& pair : model) { sum += pair.weight; }
    return sum;
}

auto find(const Model& model, std::uint64_t point) -> allot::SumTree::Found {
    auto slot = std::size_t{0};
    for (; model[slot].weight <= point; ++slot) { point -= model[slot].weight; }
    return {static_cast<std::uint32_t>(slot), model[slot].item, point};
}

auto set(allot::SumTree& tree, Model& model, std::uint32_t slot, std::uint32_t weight, std::uint32_t item) -> void {
    tree.set(slot, weight, item);
    if (slot >= model.size()) { model.resize(std::size_t{slot} + 1); }
    model[slot] = {weight, item};
}

/// All that can be asked cheaply; points are asked one by one, at the edges and in the middle of each weight.
auto agrees(const allot::SumTree& tree, const Model& model) -> bool {
    auto sum = std::uint64_t{0};
    auto positive = std::uint32_t{0};
    auto listed = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>{};
    tree.for_each(
        [&](std::uint32_t slot, std::uint32_t item, std::uint32_t weight) { listed.emplace_back(slot, item, weight); });
    for (std::uint32_t slot = 0; slot < model.size(); ++slot) {
        const auto [weight, item] = model[slot];
        if (tree.weight(slot) != weight || tree.item(slot) != item) { return false; }
        if (weight == 0) { continue; }
        if (positive >= listed.size() || listed[positive] != std::tuple{slot, item, weight}) { return false; }
        for (const auto offset : {0U, weight / 2, weight - 1}) {
            if (!(tree.find(sum + offset) == allot::SumTree::Found{slot, item, offset})) { return false; }
            if (tree.before(slot) != sum) { return false; }
        }
        sum += weight;
        ++positive;
    }
    return tree.total() == sum && tree.positive() == positive && listed.size() == positive;
}

}  // namespace

TEST_CASE("an empty sum tree has no weight") {
    const auto tree = allot::SumTree{};
    CHECK(tree.total() == 0);
    CHECK(tree.positive() == 0);
    CHECK(tree.slots() == 0);
    CHECK(tree.weight(0) == 0);
    CHECK(tree.item(0xFFFF'FFFF) == 0);
    tree.for_each([](std::uint32_t, std::uint32_t, std::uint32_t) { FAIL("there is nothing to visit"); });
    CHECK(tree == allot::SumTree{});
}

TEST_CASE("a single weight takes every point") {
    const auto slot = GENERATE(0U, 15U, 16U, 127U, 128U, 1'024U, 70'000U);
    auto tree = allot::SumTree{};
    tree.set(slot, 3, 9);
    CHECK(tree.total() == 3);
    CHECK(tree.positive() == 1);
    CHECK(tree.slots() == slot + 1);
    for (std::uint64_t point = 0; point < 3; ++point) {
        CHECK(tree.find(point) == allot::SumTree::Found{slot, 9, point});
    }
    tree.set(slot, 0, 9);
    CHECK(tree.total() == 0);
    CHECK(tree.positive() == 0);
    CHECK(tree.item(slot) == 9);
}

TEST_CASE("a sum tree is right while it grows slot by slot over each of its levels") {
    auto tree = allot::SumTree{};
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    auto sum = std::uint64_t{0};
    for (std::uint32_t slot = 0; slot < 70'000; ++slot) {
        const auto weight = static_cast<std::uint32_t>(random());
        set(tree, model, slot, weight, ~slot);
        sum += weight;
        REQUIRE(tree.total() == sum);
        REQUIRE(tree.slots() == slot + 1);
        if (weight != 0) { REQUIRE(tree.find(sum - 1) == allot::SumTree::Found{slot, ~slot, weight - 1}); }
        // Each size next to a power of the fan-outs, and some between.
        const auto edge = slot % 16 >= 15 || slot % 16 == 0;
        if ((edge && slot < 1'100) || slot % 9'973 == 0) { REQUIRE(agrees(tree, model)); }
    }
    CHECK(agrees(tree, model));
}

TEST_CASE("sums of the greatest weights do not overflow") {
    auto tree = allot::SumTree{};
    auto model = Model{};
    for (std::uint32_t slot = 0; slot < 300; ++slot) { set(tree, model, slot, 0xFFFF'FFFF, slot); }
    CHECK(tree.total() == std::uint64_t{300} * 0xFFFF'FFFF);
    CHECK(agrees(tree, model));
}

TEST_CASE("a sum tree does what linear prefix sums do") {
    // Dense in one block and over one level, and sparse over several.
    const auto stride = GENERATE(1U, 7U, 1'009U);
    support::check_histories({3, 70, 0xFFFF'FFFF}, [stride](const support::History& history) {
        auto tree = allot::SumTree{};
        auto model = Model{};
        for (const auto& step : history) {
            const auto weight = step.verb == 0 ? 0 : step.verb == 1 ? step.value : step.value % 3;
            set(tree, model, step.subject * stride, weight, step.value % 1'000);
            if (tree.total() != total(model)) { return false; }
            if (tree.total() > 0) {
                const auto point = (std::uint64_t{step.value} << 7 | step.subject) % tree.total();
                if (!(tree.find(point) == find(model, point))) { return false; }
            }
        }
        return agrees(tree, model);
    });
}

TEST_CASE("undoing a history backwards gives an equal sum tree, however far it grew") {
    auto tree = allot::SumTree{};
    auto random = std::mt19937_64{support::seed()};
    const auto number = [&random](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (auto i = 0; i < 200; ++i) { tree.set(number(100), number(50), number(50)); }
    const auto before = tree;
    auto done = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>{};
    for (auto i = 0; i < 3'000; ++i) {
        const auto slot = number(i % 2 == 0 ? 100 : 70'000);
        done.emplace_back(slot, tree.weight(slot), tree.item(slot));
        tree.set(slot, number(3) * 1'000'000'000, number(50));
    }
    CHECK_FALSE(tree == before);
    for (; !done.empty(); done.pop_back()) {
        const auto [slot, weight, item] = done.back();
        tree.set(slot, weight, item);
    }
    CHECK(tree == before);
    CHECK(before == tree);
    for (std::uint64_t point = 0; point < before.total(); ++point) { REQUIRE(tree.find(point) == before.find(point)); }
}

TEST_CASE("equality of sum trees looks at weights and items, also those without weight") {
    auto a = allot::SumTree{};
    auto b = allot::SumTree{};
    a.set(1, 5, 2);
    b.set(2, 5, 2);
    CHECK_FALSE(a == b);
    b.set(2, 0, 0);
    b.set(1, 5, 3);
    CHECK_FALSE(a == b);
    b.set(1, 5, 2);
    CHECK(a == b);
    b.set(70'000, 0, 1);
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
    b.set(70'000, 0, 0);
    CHECK(a == b);
}

TEST_CASE("an item changes while the weight stays, and nothing at all needs no room") {
    auto tree = allot::SumTree{};
    tree.set(3, 8, 1);
    tree.set(3, 8, 2);
    CHECK(tree.find(0) == allot::SumTree::Found{3, 2, 0});
    CHECK(tree.total() == 8);
    tree.set(1'000'000, 0, 0);
    CHECK(tree.slots() == 4);
    tree.set(1'000, 0, 7);
    CHECK(tree.slots() == 1'001);
    CHECK(tree.item(1'000) == 7);
}

TEST_CASE("a sum tree whose room was given back is right, and grows again") {
    auto random = std::mt19937_64{support::seed()};
    const auto spread = GENERATE(5U, 40U, 600U, 5'000U);
    auto tree = allot::SumTree{};
    auto model = Model{};
    for (auto round = 0; round < 40; ++round) {
        const auto reach = static_cast<std::uint32_t>(random() % spread);
        for (auto i = 0; i < 20; ++i) {
            const auto slot = static_cast<std::uint32_t>(random() % spread);
            set(tree, model, slot, static_cast<std::uint32_t>(random() >> (32 + random() % 32)), slot + 1);
        }
        REQUIRE(agrees(tree, model));
        for (auto slot = reach; slot < model.size(); ++slot) { set(tree, model, slot, 0, 0); }
        tree.trim(reach);
        REQUIRE(tree.slots() < 2 * (reach + 16));
        REQUIRE(agrees(tree, model));
    }
}

TEST_CASE("any slot may be prefetched, and that changes nothing") {
    auto tree = allot::SumTree{};
    const auto ask = [&] {
        const auto before = tree;
        for (const auto slot : {0U, 7U, 8U, 9'999U, 10'000U, ~0U}) { tree.prefetch(slot); }
        CHECK(tree == before);
    };
    ask();
    tree.set(3, 5, 1);
    ask();
    tree.set(9'999, 5, 2);
    ask();
}

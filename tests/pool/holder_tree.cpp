#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <allot/pool/holder_tree.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

/// The same as a list: items by place, weights by item.
struct Model {
    allot::HolderTree tree{};
    std::vector<std::uint32_t> items{};
    std::vector<std::uint32_t> weights{0};

    auto total() const -> std::uint64_t {
        auto sum = std::uint64_t{0};
        for (const auto item : items) { sum += weights[item]; }
        return sum;
    }
    auto put(std::uint32_t place, std::uint32_t weight) -> void {
        if (place >= items.size()) { items.resize(std::size_t{place} + 1); }
        const auto item = static_cast<std::uint32_t>(weights.size());
        tree.put(place, item, weight, total());
        items[place] = item;
        weights.push_back(weight);
    }
    auto erase(std::uint32_t place) -> void { tree.erase(place, weights[std::exchange(items[place], 0)]); }
    auto reweigh(std::uint32_t place, std::uint32_t weight) -> void {
        auto& was = weights[items[place]];
        tree.add(place, std::uint64_t{weight} - std::uint64_t{was});
        was = weight;
    }

    auto agrees() const -> bool {
        auto sum = std::uint64_t{0};
        auto listed = std::vector<std::uint32_t>{};
        tree.for_each([&](std::uint32_t item) { listed.push_back(item); });
        auto count = std::size_t{0};
        for (std::uint32_t place = 0; place < items.size(); ++place) {
            const auto item = items[place];
            if (tree.item(place) != item) { return false; }
            if (item == 0) { continue; }
            if (count >= listed.size() || listed[count++] != item) { return false; }
            for (const auto offset : {0U, weights[item] / 2, weights[item] - 1}) {
                if (!(tree.find(sum + offset, weights) == allot::HolderTree::Found{item, offset})) { return false; }
            }
            sum += weights[item];
        }
        return tree.positive() == listed.size() && count == listed.size();
    }
};

}  // namespace

TEST_CASE("a holder tree without items has nobody anywhere") {
    const auto tree = allot::HolderTree{};
    CHECK(tree.positive() == 0);
    CHECK(tree.item(0) == 0);
    CHECK(tree.item(0xFFFF'FFFF) == 0);
    tree.for_each([](std::uint32_t) { FAIL("there is nobody to visit"); });
}

TEST_CASE("a holder tree is right while it grows place by place over each of its levels") {
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    for (std::uint32_t place = 0; place < 1'200; ++place) {
        model.put(place, 1 + static_cast<std::uint32_t>(random() >> 33U));
        if (place < 40 || place % 16 >= 15 || place % 128 == 0) {
            CAPTURE(place);
            REQUIRE(model.agrees());
        }
    }
    CHECK(model.agrees());
}

TEST_CASE("a place far behind the others keeps the sums of those") {
    const auto far = GENERATE(7U, 15U, 16U, 130U, 9'000U);
    auto model = Model{};
    model.put(0, 5);
    model.put(3, 0xFFFF'FFFF);
    model.put(far, 0xFFFF'FFFF);
    CHECK(model.agrees());
    model.put(far + 700, 1);
    CHECK(model.agrees());
}

TEST_CASE("a holder tree does what a list does, and a copy shares nothing with it") {
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    const auto spread = GENERATE(5U, 40U, 600U);
    for (auto i = 0; i < 3'000; ++i) {
        const auto place = static_cast<std::uint32_t>(random() % spread);
        const auto weight = 1 + static_cast<std::uint32_t>(random() >> (32U + random() % 32U)) / 2;
        if (place >= model.items.size() || model.items[place] == 0) {
            model.put(place, weight);
        } else if (random() % 2 == 0) {
            model.erase(place);
        } else {
            model.reweigh(place, weight);
        }
        if (i % 37 == 0) { REQUIRE(model.agrees()); }
    }
    const auto then = model;
    for (std::uint32_t place = 0; place < model.items.size(); ++place) {
        if (model.items[place] != 0) { model.erase(place); }
    }
    CHECK(model.tree.positive() == 0);
    CHECK(model.agrees());
    CHECK(then.agrees());
}

TEST_CASE("a holder tree whose room was given back is right, and grows again") {
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    const auto spread = GENERATE(5U, 40U, 600U, 5'000U);
    for (auto round = 0; round < 40; ++round) {
        const auto reach = static_cast<std::uint32_t>(random() % spread);
        for (auto i = 0; i < 20; ++i) {
            const auto place = static_cast<std::uint32_t>(random() % spread);
            if (place >= model.items.size() || model.items[place] == 0) { model.put(place, 1 + place); }
        }
        REQUIRE(model.agrees());
        for (auto place = reach; place < model.items.size(); ++place) {
            if (model.items[place] != 0) { model.erase(place); }
        }
        model.tree.trim(reach);
        REQUIRE(model.agrees());
    }
}

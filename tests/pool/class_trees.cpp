#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include <allot/pool/class_trees.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

/// What `ClassTrees` needs of a tree: nothing but a name to tell it by.
struct Leaf {
    std::uint32_t name = 0;

    [[nodiscard]] auto blank() const -> bool { return name == 0; }
};

template <class InOrder>
struct World {
    using Trees = allot::detail::ClassTrees<Leaf, InOrder::value>;
    Trees trees{};
    std::map<std::uint32_t, std::uint64_t> totals{};

    void set(std::uint32_t node_class, std::uint64_t total) {
        const auto i = trees.made({node_class});
        trees[i].name = node_class;
        trees.add(i, total - trees.total_of(i));
        totals[node_class] = total;
    }
    /// The class in which the point falls, one class after the other.
    auto located(const std::vector<allot::ClassId>& classes, std::uint64_t& point) const
        -> std::optional<std::uint32_t> {
        for (const auto c : classes) {
            const auto found = totals.find(c.value);
            const auto total = found == totals.end() ? 0 : found->second;
            if (point < total) { return c.value; }
            point -= total;
        }
        return std::nullopt;
    }
    auto agrees(const std::vector<allot::ClassId>& classes, std::uint64_t point) const -> bool {
        auto rest = point;
        auto expected_rest = point;
        const auto expected = located(classes, expected_rest);
        const auto i = trees.locate(classes, rest);
        return expected ? i != Trees::none && trees[i].name == *expected && rest == expected_rest
                        : i == Trees::none && rest == expected_rest;
    }
};

auto row(std::uint32_t first, std::uint32_t last) -> std::vector<allot::ClassId> {
    auto classes = std::vector<allot::ClassId>{};
    for (auto c = first; c <= last; ++c) { classes.push_back({c}); }
    return classes;
}

}  // namespace

TEMPLATE_TEST_CASE("no classes and no trees have no total", "", std::true_type, std::false_type) {
    auto world = World<TestType>{};
    CHECK(world.trees.total({}) == 0);
    CHECK(world.trees.total(row(0, 40)) == 0);
    CHECK(world.trees.index({3}) == world.trees.none);
    CHECK(world.agrees(row(0, 40), 7));
    world.set(3, 5);
    CHECK(world.trees.total({}) == 0);
    CHECK(world.agrees({}, 7));
}

TEMPLATE_TEST_CASE("rows of classes that begin and end anywhere have the totals of their classes", "", std::true_type,
                   std::false_type) {
    auto world = World<TestType>{};
    const auto classes = GENERATE(1U, 15U, 16U, 17U, 50U);
    for (auto c = classes; c > 0; --c) { world.set(c - 1, std::uint64_t{1} << (c % 40)); }
    for (std::uint32_t first = 0; first < 40; ++first) {
        for (auto last = first; last < 60; ++last) {
            const auto some = row(first, last);
            auto sum = std::uint64_t{0};
            for (const auto c : some) { sum += c.value < classes ? world.totals[c.value] : 0; }
            CAPTURE(first, last);
            REQUIRE(world.trees.total(some) == sum);
            REQUIRE(world.agrees(some, sum));
            REQUIRE((sum == 0 || world.agrees(some, sum - 1)));
            REQUIRE(world.agrees(some, 0));
        }
    }
}

TEMPLATE_TEST_CASE("any classes in any order of coming are found as a list finds them", "", std::true_type,
                   std::false_type) {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 200; ++round) {
        auto world = World<TestType>{};
        const auto spread = std::uint32_t{1} << (3 + round % 12);
        for (auto i = 0; i < 60; ++i) {
            world.set(static_cast<std::uint32_t>(random() % spread), random() % 5 == 0 ? 0 : random() >> 20U);
        }
        for (auto i = 0; i < 20; ++i) {
            auto classes = std::vector<allot::ClassId>{};
            const auto one_in = 1 + random() % 4;
            for (std::uint32_t c = 0; c < spread; ++c) {
                if (random() % (c % 64 < 32 ? 1 : one_in) == 0) { classes.push_back({c}); }
            }
            auto sum = std::uint64_t{0};
            auto filled = std::vector<allot::ClassId>{};
            auto visited = std::vector<allot::ClassId>{};
            for (const auto c : classes) {
                const auto total = world.totals.contains(c.value) ? world.totals[c.value] : 0;
                sum += total;
                if (total > 0) { filled.push_back(c); }
            }
            world.trees.each_filled(classes, [&](allot::ClassId c, const Leaf& leaf) {
                REQUIRE(leaf.name == c.value);
                visited.push_back(c);
                return true;
            });
            REQUIRE(visited == filled);
            auto left = filled.size() / 2;
            world.trees.each_filled(classes, [&](allot::ClassId, const Leaf&) { return left-- > 0; });
            REQUIRE((filled.empty() || left == ~std::size_t{0}));
            REQUIRE(world.trees.total(classes) == sum);
            REQUIRE(world.agrees(classes, sum));
            for (auto j = 0; j < 10 && sum > 0; ++j) { REQUIRE(world.agrees(classes, random() % sum)); }
        }
    }
}

TEMPLATE_TEST_CASE("a class far from the others takes no room for those between", "", std::true_type, std::false_type) {
    auto world = World<TestType>{};
    world.set(0, 3);
    world.set(0xFFFF'FFFE, 4);
    CHECK(world.trees.total(std::vector<allot::ClassId>{{0}, {70'000}, {0xFFFF'FFFE}}) == 7);
    CHECK(world.agrees({{0}, {70'000}, {0xFFFF'FFFE}}, 5));
    world.set(70'000, 9);
    CHECK(world.agrees({{0}, {70'000}, {0xFFFF'FFFE}}, 5));
    CHECK(world.agrees({{0}, {70'000}, {0xFFFF'FFFE}}, 12));
}

TEMPLATE_TEST_CASE("a class whose tree is given back is as one that never had a tree, and its neighbours stay", "[A7]",
                   std::true_type, std::false_type) {
    auto world = World<TestType>{};
    const auto drop = [&](std::uint32_t node_class) {
        world.set(node_class, 0);
        world.trees.drop({node_class});
        world.totals.erase(node_class);
    };
    const auto all = std::vector<allot::ClassId>{{15}, {16}, {17}, {31}, {40}};
    for (const auto c : {15U, 16U, 17U, 40U}) { world.set(c, c); }
    drop(17);
    CHECK(world.trees.index({17}) != world.trees.none);  // one of its sixteen is left
    CHECK(world.trees[world.trees.index({17})].blank());
    CHECK(world.agrees(all, 15 + 5));
    drop(16);
    CHECK(world.trees.index({16}) == world.trees.none);
    CHECK(world.trees.total(all) == 15 + 40);
    CHECK(world.agrees(all, 14));
    CHECK(world.agrees(all, 15 + 5));
    world.trees.drop({16});  // there is none
    drop(15);
    drop(40);
    CHECK(world.trees.total(all) == 0);
    CHECK(world.trees.index({40}) == world.trees.none);
    world.set(16, 3);
    CHECK(world.agrees(all, 2));
}

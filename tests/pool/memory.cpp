// What the pool asks of the allocator, and what it does when that refuses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/holder_tree.hpp>
#include <allot/pool/linear_pool.hpp>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

constexpr std::uint32_t count = 400;
constexpr std::uint32_t models = 5;

struct World {
    std::vector<std::vector<allot::HeldModel>> lists{};
    std::vector<allot::NodePlace> places{};

    World() {
        auto holders = std::vector<std::uint32_t>(20 * models);
        lists.reserve(count);
        for (std::uint32_t n = 0; n < count; ++n) {
            const auto c = n % 20;
            auto& list = lists.emplace_back();
            for (std::uint32_t m = n % 2; m < models; m += 1 + n % 3) {
                list.push_back({allot::ModelId{m}, allot::Holding::on_disk, holders[c * models + m]++});
            }
            places.push_back({{n}, {c}, n / 20, 1'000 + n, 2'000 + n, list});
        }
    }
    auto nowhere(std::uint32_t n) const -> allot::NodePlace {
        auto place = allot::NodePlace{};
        place.node = {n};
        return place;
    }
    auto busy(std::uint32_t n) const -> allot::NodePlace {
        auto place = places[n];
        place.bound = place.bound_local = 0;
        return place;
    }
};

const auto full = [](allot::NodeHandle node, std::uint32_t) {
    return allot::Weight::from_raw(allot::u128{1'000 + node.value} << 64U);
};

}  // namespace

TEST_CASE("a pool in which everybody has stood asks for no memory") {
    const auto world = World{};
    auto pool = allot::GpuGroupPool{};
    auto classes = std::vector<allot::ClassId>{};
    for (std::uint32_t c = 0; c < 20; ++c) { classes.push_back({c}); }
    for (std::uint32_t n = 0; n < count; ++n) { pool.changed(world.nowhere(n), world.places[n]); }
    const auto model = std::vector<allot::ModelId>{{1}, {3}};
    auto words = allot::Random{allot::Entropy{support::seed()}, allot::Purpose::dispatch, {}};
    auto drawn = std::uint32_t{0};
    const auto before = support::calls;
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        const auto frame =
            i % 2 == 0 ? allot::SamplingFrame{classes} : allot::SamplingFrame{classes, model, i % 5 == 0 ? 0U : 32U};
        const auto node = pool.draw(frame, full, words)->node.value;
        pool.changed(world.places[node], world.busy(node));
        drawn += pool.count(frame);
        pool.changed(world.busy(node), world.places[node]);
        if (i % 10 == 0) {
            pool.changed(world.places[node], world.nowhere(node));  // leaves and comes back
            pool.changed(world.nowhere(node), world.places[node]);
        }
    }
    CHECK(support::calls == before);
    CHECK(drawn > 0);
}

TEST_CASE("a change that memory was refused for is taken back by its reverse") {
    const auto world = World{};
    auto pool = allot::GpuGroupPool{};
    auto right = allot::LinearPool{};
    const auto classes = std::vector<allot::ClassId>{{0}, {1}, {2}, {5}, {6}, {19}};
    auto refused = 0;
    for (std::uint32_t n = 0; n < count; ++n) {
        // Out of order, so that classes, models and places come late, too.
        const auto node = n * 149 % count;
        auto done = false;
        for (std::uint64_t nth = 1; !done; ++nth) {
            support::fails_at = support::calls + nth;
            try {
                pool.changed(world.nowhere(node), world.places[node]);
                done = true;
            } catch (const std::bad_alloc&) {
                ++refused;
                support::fails_at = support::calls + 1;  // the way back needs none
                pool.changed(world.places[node], world.nowhere(node));
            }
            support::fails_at = 0;
            if (done) { right.changed(world.nowhere(node), world.places[node]); }
            for (const auto& model : {std::vector<allot::ModelId>{}, std::vector<allot::ModelId>{{0}},
                                      std::vector<allot::ModelId>{{2}, {4}}}) {
                const auto frame = allot::SamplingFrame{classes, model};
                auto words = allot::Random{allot::Entropy{support::seed()}, allot::Purpose::dispatch, {}, n};
                auto words_again = words;
                const auto a = pool.draw(frame, full, words);
                const auto b = right.draw(frame, full, words_again);
                REQUIRE(pool.count(frame) == right.count(frame));
                REQUIRE(a.has_value() == b.has_value());
                REQUIRE((!a || a->node == b->node));
                REQUIRE(words == words_again);
            }
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("a class without nodes gives its tree back", "[A7]") {
    auto pool = allot::GpuGroupPool{};
    const auto place = [](std::uint32_t n, std::uint32_t bound) {
        return allot::NodePlace{{n}, {n < 1'000 ? 0U : 1U}, n % 1'000, bound, 0, {}};
    };
    for (std::uint32_t n = 0; n < 1'001; ++n) { pool.changed(place(n, 0), place(n, 7)); }
    const auto full_bytes = support::live;
    for (std::uint32_t n = 0; n < 1'000; ++n) { pool.changed(place(n, 7), place(n, 0)); }
    pool.gone(allot::ClassId{0});
    if (full_bytes > 0) { CHECK(support::live + 8'000 <= full_bytes); }  // 8 bytes a node at least
    const auto classes = std::vector<allot::ClassId>{{0}, {1}};
    CHECK(pool.count(allot::SamplingFrame{classes}) == 1);
    pool.changed(place(3, 0), place(3, 7));
    CHECK(pool.count(allot::SamplingFrame{classes}) == 2);
}

TEST_CASE("a tree of holders has room for four places more than it has items, at most") {
    if (support::live == 0) { return; }  // nothing counts bytes here
    CHECK(sizeof(allot::HolderTree) == 8 + sizeof(void*));
    for (std::uint32_t items = 1; items <= 64; ++items) {
        const auto before = support::live;
        auto tree = allot::HolderTree{};
        for (std::uint32_t place = 0; place < items; ++place) { tree.put(place, place + 1, 1, place); }
        const auto sums = items <= 16 ? 0U : 64U;
        const auto bytes = support::live - before;
        CAPTURE(items);
        REQUIRE(bytes <= 4 * std::max(items + 4, 6U) + sums + 24);
    }
}

TEST_CASE("a pool gives back the slots, the places and the nodes that are gone, while others stay", "[A7]") {
    if (support::live == 0) { return; }  // nothing counts bytes here
    auto pool = allot::GpuGroupPool{};
    constexpr auto all = 20'000U;
    auto held = std::vector<allot::HeldModels>(all);
    const auto place = [&](std::uint32_t n, bool there) {
        return allot::NodePlace{{n}, {0}, n, there ? 7U : 0U, there ? 7U : 0U, allot::span_of(held[n])};
    };
    for (std::uint32_t n = 0; n < all; ++n) {
        held[n] = {{allot::ModelId{0}, allot::Holding::on_disk, n}};
        pool.changed(place(n, false), place(n, true));
    }
    for (std::uint32_t n = 1; n < all; ++n) { pool.changed(place(n, true), place(n, false)); }
    const auto given = [](auto&& trim) {
        const auto before = support::live;
        trim();
        return before - support::live;
    };
    CHECK(given([&] { pool.trim(allot::ClassId{0}, 1); }) > 8U * (all - 1'000));
    CHECK(given([&] { pool.trim(allot::ModelId{0}, allot::ClassId{0}, 1); }) > 4U * (all - 1'000));
    CHECK(given([&] { pool.trim(1); }) > 4U * (all - 2'000));
    const auto classes = std::vector<allot::ClassId>{{0}};
    const auto model = std::vector<allot::ModelId>{{0}};
    CHECK(pool.count(allot::SamplingFrame{classes}) == 1);
    CHECK(pool.count(allot::SamplingFrame{classes, model}) == 1);
    CHECK(pool.total(allot::SamplingFrame{classes, model}) == 7);
    pool.changed(place(all - 1, false), place(all - 1, true));
    CHECK(pool.total(allot::SamplingFrame{classes, model}) == 14);
}

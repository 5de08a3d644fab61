// The claims of every candidate pool. ALLOT_MODEL names the pool.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/laws/reversible.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

static_assert(allot::candidate_pool<ALLOT_MODEL>);

constexpr auto one = std::uint32_t{1} << 28U;  // the bound of the weight 1

auto at(std::uint32_t node, std::uint32_t node_class, std::uint32_t slot, std::uint32_t bound = one)
    -> allot::NodePlace {
    return {{node}, {node_class}, slot, bound, bound, {}};
}
auto nowhere(std::uint32_t node) -> allot::NodePlace {
    auto place = allot::NodePlace{};
    place.node = {node};
    return place;
}
auto chance(std::uint32_t index) -> allot::Random {
    return {allot::Entropy{support::seed()}, allot::Purpose::dispatch, allot::Random::Subject{}, 0, index};
}
/// Counts how often each node is drawn in `draws` draws.
template <class Pool, class Weigh>
auto frequencies(const Pool& pool, const allot::SamplingFrame& frame, Weigh weigh, std::uint32_t draws) {
    auto counts = std::map<std::uint32_t, std::uint32_t>{};
    for (std::uint32_t i = 0; i < draws; ++i) {
        auto random = chance(i);
        if (const auto drawn = pool.draw(frame, weigh, random)) { ++counts[drawn->node.value]; }
    }
    return counts;
}
const auto classes_0_to_2 = std::vector<allot::ClassId>{{0}, {1}, {2}};
const auto full = [](allot::NodeHandle, std::uint32_t) { return allot::Weight::from_ratio(1, 1); };

}  // namespace

ALLOT_CLAIM("keeps the laws of a pool") {
    for (std::uint64_t i = 0; i < 5; ++i) { ALLOT_KEEPS(allot::laws::reversible(ALLOT_MODEL{}, support::seed() + i)); }
}

ALLOT_CLAIM("has nobody before anybody came") {
    const auto pool = ALLOT_MODEL{};
    auto random = chance(0);
    CHECK(pool.count({classes_0_to_2}) == 0);
    CHECK(!pool.draw({classes_0_to_2}, full, random));
    CHECK(!pool.draw({{}}, full, random));
}

ALLOT_CLAIM("draws in proportion to the weights, whatever the bounds") {
    auto pool = ALLOT_MODEL{};
    pool.changed(nowhere(0), at(0, 0, 0, one));
    pool.changed(nowhere(1), at(1, 1, 0, one / 4 * 3));
    pool.changed(nowhere(2), at(2, 1, 1, one));
    const auto eighths = std::vector<std::uint64_t>{1, 5, 2};
    const auto weigh = [&](allot::NodeHandle node, std::uint32_t) {
        return allot::Weight::from_ratio(eighths[node.value], 8);
    };
    auto counts = frequencies(pool, {classes_0_to_2}, weigh, 8'000);
    auto surplus = std::uint64_t{0};  // chi-square times 5000
    for (std::uint32_t node = 0; node < 3; ++node) {
        const auto expected = 1'000 * eighths[node];
        const auto difference =
            std::uint64_t{counts[node]} > expected ? counts[node] - expected : expected - counts[node];
        surplus += difference * difference * 5 / eighths[node];
    }
    CAPTURE(counts[0], counts[1], counts[2]);
    CHECK(surplus < std::uint64_t{5'000} * 28);  // two degrees of freedom: p = 1e-6
}

ALLOT_CLAIM("never draws a zero weight, and none hides behind one") {
    auto pool = ALLOT_MODEL{};
    pool.changed(nowhere(0), at(0, 0, 0, ~std::uint32_t{0}));
    pool.changed(nowhere(1), at(1, 0, 1, 1));
    const auto faint = [](allot::NodeHandle node, std::uint32_t) {
        return node.value == 1 ? allot::Weight::from_raw(1) : allot::Weight::zero();
    };
    const auto drawn = frequencies(pool, {classes_0_to_2}, faint, 50);
    CHECK(drawn == std::map<std::uint32_t, std::uint32_t>{{1, 50}});
    auto random = chance(0);
    CHECK(!pool.draw(
        {classes_0_to_2}, [](allot::NodeHandle, std::uint32_t) { return allot::Weight::zero(); }, random));
}

ALLOT_CLAIM("draws only from the classes of the frame") {
    auto pool = ALLOT_MODEL{};
    for (std::uint32_t i = 0; i < 6; ++i) { pool.changed(nowhere(i), at(i, i % 3, i / 3)); }
    const auto classes = std::vector<allot::ClassId>{{1}, {7}};
    CHECK(pool.count({classes}) == 2);
    auto drawn = frequencies(pool, {classes}, full, 50);
    CHECK(drawn.size() == 2);
    CHECK(drawn[1] + drawn[4] == 50);
}

ALLOT_CLAIM("counts a busy node out and a free one in") {
    auto pool = ALLOT_MODEL{};
    pool.changed(nowhere(0), at(0, 0, 0));
    pool.changed(nowhere(1), at(1, 0, 1));
    pool.changed(at(0, 0, 0), at(0, 0, 0, 0));
    CHECK(pool.count({classes_0_to_2}) == 1);
    CHECK(frequencies(pool, {classes_0_to_2}, full, 20) == std::map<std::uint32_t, std::uint32_t>{{1, 20}});
    pool.changed(at(0, 0, 0, 0), at(0, 0, 0));
    CHECK(pool.count({classes_0_to_2}) == 2);
}

ALLOT_CLAIM("draws among the holders of a model, each once under the first it holds") {
    auto pool = ALLOT_MODEL{};
    const auto both =
        std::vector<allot::HeldModel>{{{0}, allot::Holding::on_disk, 0}, {{1}, allot::Holding::in_use, 0}};
    const auto second = std::vector<allot::HeldModel>{{{1}, allot::Holding::on_disk, 1}};
    const auto wanted = std::vector<allot::HeldModel>{{{0}, allot::Holding::wanted, 0}};
    auto places = std::vector<allot::NodePlace>{at(0, 0, 0), at(1, 0, 1), at(2, 0, 2), at(3, 0, 3)};
    places[0].models = both;
    places[1].models = second;
    places[2].models = wanted;
    for (const auto& place : places) { pool.changed(nowhere(place.node.value), place); }
    const auto models = std::vector<allot::ModelId>{{0}, {1}};
    const auto frame = allot::SamplingFrame{classes_0_to_2, models};
    CHECK(pool.count({classes_0_to_2}) == 4);
    CHECK(pool.count(frame) == 3);  // node 0 counts once under each
    const auto asked_once = [](allot::NodeHandle node, std::uint32_t model) {
        return node.value == 0 && model == 1 ? allot::Weight::zero() : allot::Weight::from_ratio(1, 1);
    };
    auto counts = frequencies(pool, frame, asked_once, 2'000);
    CHECK(counts.size() == 2);
    CHECK(counts[0] > 850);  // half of them, 6.7 standard deviations away
    CHECK(counts[1] > 850);

    auto forgets = places[0];
    forgets.models = {};
    pool.changed(places[0], forgets);
    CHECK(pool.count(frame) == 1);

    // It gets them back while it is busy, and becomes a candidate with the same bound as without models.
    pool.changed(forgets, at(0, 0, 0, 0));
    auto busy = places[0];
    busy.bound = busy.bound_local = 0;
    pool.changed(busy, places[0]);
    CHECK(pool.count(frame) == 3);
}

#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>

#define ALLOT_MODEL allot::GpuGroupPool
#include "conformance/pool.ipp"

TEST_CASE("the pool of trees draws what the list draws, word for word") {
    auto sampler = allot::laws::Sampler{support::seed()};
    auto fast = allot::GpuGroupPool{};
    auto slow = allot::LinearPool{};
    auto places = std::vector<allot::NodePlace>{};
    for (std::uint32_t node = 0; node < 300; ++node) {
        places.push_back(at(node, node % 3, node / 3, 1 + sampler.small(one)));
        fast.changed(nowhere(node), places.back());
        slow.changed(nowhere(node), places.back());
    }
    const auto weigh = [&](allot::NodeHandle node, std::uint32_t) {
        return allot::Weight::from_raw(allot::u128{places[node.value].bound} << (node.value % 7 == 0 ? 64U : 60U));
    };
    for (std::uint32_t i = 0; i < 300; ++i) {
        auto random_fast = chance(i);
        auto random_slow = chance(i);
        const auto a = fast.draw({classes_0_to_2}, weigh, random_fast);
        const auto b = slow.draw({classes_0_to_2}, weigh, random_slow);
        REQUIRE(a.has_value());
        REQUIRE(b.has_value());
        REQUIRE(a->node == b->node);
        REQUIRE(random_fast == random_slow);
        auto busy = places[a->node.value];
        busy.bound = busy.bound_local = 0;
        fast.changed(places[a->node.value], busy);
        slow.changed(places[a->node.value], busy);
    }
    CHECK(fast.count({classes_0_to_2}) == 0);
    CHECK(fast.total({classes_0_to_2}) == 0);
}

TEST_CASE("the pool may be asked ahead for any class and slot") {
    auto pool = allot::GpuGroupPool{};
    const auto ask = [&] {
        for (const auto c : {allot::ClassId{0}, allot::ClassId{70}, allot::no_handle<allot::ClassId>}) {
            for (const auto slot : {0U, 9U, ~0U}) { pool.look_ahead(c, slot); }
        }
    };
    ask();
    pool.changed(nowhere(1), at(1, 0, 3, 5));
    ask();
    CHECK(pool.count({classes_0_to_2}) == 1);
}

#include <cstdint>

#include <allot/queue/value_queue_parameters.hpp>

#include "support/catch.hpp"

TEST_CASE("the bound of a queue is at least one task and a ratio with a denominator") {
    using Parameters = allot::ValueQueueParameters;
    CHECK(Parameters{}.valid());
    CHECK(Parameters{.tasks_per_node = 0, .capacity_min = 1}.valid());
    CHECK_FALSE(Parameters{.capacity_min = 0}.valid());
    CHECK_FALSE(Parameters{.tasks_per_node = {1, 0}}.valid());
}

TEST_CASE("the bound of a queue is rounded down and never below its least") {
    constexpr auto parameters = allot::ValueQueueParameters{.tasks_per_node = {1, 3}, .capacity_min = 2};
    STATIC_REQUIRE(parameters.capacity(0) == 2);
    STATIC_REQUIRE(parameters.capacity(8) == 2);
    STATIC_REQUIRE(parameters.capacity(9) == 3);
    STATIC_REQUIRE(allot::ValueQueueParameters{.tasks_per_node = ~std::uint32_t{0}}.capacity(2) == ~std::uint32_t{0});
}

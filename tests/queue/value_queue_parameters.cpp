#include <cstdint>
#include <stdexcept>

#include <allot/queue/flat_queue.hpp>
#include <allot/queue/linear_queue.hpp>
#include <allot/queue/value_queue.hpp>
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

TEMPLATE_TEST_CASE("a queue is not made with a bound that divides by zero, nor configured so", "[A10]",
                   allot::ValueQueue, allot::FlatQueue, allot::LinearQueue) {
    const auto bad = allot::ValueQueueParameters{.tasks_per_node = {1, 0}};
    CHECK_THROWS_WITH(TestType{bad}, "allot: ValueQueue: tasks_per_node needs a denominator of at least 1");
    auto queue = TestType{};
    CHECK_THROWS_AS(queue.configure(bad), std::invalid_argument);
    CHECK_THROWS_AS(queue.configure({.capacity_min = 0}), std::invalid_argument);
    CHECK(queue.capacity(100) == 100);
}

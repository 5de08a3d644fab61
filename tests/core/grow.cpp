#include <cstddef>
#include <cstdint>
#include <vector>

#include <allot/core/grow.hpp>

#include "support/catch.hpp"

TEST_CASE("a growing vector keeps at most a sixteenth to spare") {
    auto numbers = std::vector<std::uint32_t>{};
    auto moves = std::size_t{0};
    for (std::size_t count = 1; count <= 70'000; ++count) {
        const auto before = numbers.capacity();
        allot::detail::grow_to(numbers, count, 7U);
        moves += numbers.capacity() != before ? 1 : 0;
        REQUIRE(numbers.size() == count);
        REQUIRE(numbers.back() == 7);
        REQUIRE(numbers.capacity() <= count + count / 16);
    }
    CHECK(moves < 250);  // and still moves seldom: one by one, it would be 70,000 times
}

TEST_CASE("growing never shrinks and leaves what is there") {
    auto numbers = std::vector<std::uint32_t>{1, 2, 3};
    allot::detail::grow_to(numbers, 2);
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3});
    allot::detail::grow_to(numbers, 5);
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 3, 0, 0});
    allot::detail::make_room(numbers, 100);
    CHECK(numbers.size() == 5);
    CHECK(numbers.capacity() >= 100);
}

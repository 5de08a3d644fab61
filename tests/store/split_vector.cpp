#include <cstdint>
#include <utility>

#include <allot/store/split_vector.hpp>

#include "support/catch.hpp"

TEST_CASE("elements of a split vector are found on both sides of its border, and later ones never move") {
    auto elements = allot::SplitVector<std::uint32_t, 6, 4>{};
    CHECK(elements.find(0) == nullptr);
    for (std::uint32_t i = 0; i < 30; ++i) {
        elements.ensure(i);
        CHECK(elements[i] == 0);
        elements[i] = i + 1;
        CHECK(elements.find(30) == nullptr);
    }
    const auto* const seventh = &elements[6];
    elements.ensure(100);
    CHECK(&elements[6] == seventh);
    for (std::uint32_t i = 0; i < 30; ++i) {
        CHECK(elements[i] == i + 1);
        CHECK(elements.find(i) == &std::as_const(elements)[i]);
    }
    CHECK(elements[100] == 0);
    const auto copy = elements;
    elements[29] = 0;
    CHECK(copy[29] == 30);
}

TEST_CASE("an index beyond the border makes all below it") {
    auto elements = allot::SplitVector<std::uint32_t, 6, 4>{};
    elements.ensure(9);
    for (std::uint32_t i = 0; i < 10; ++i) { CHECK(elements[i] == 0); }
    CHECK(elements.find(14) == nullptr);
}

TEST_CASE("a split vector gives back the room of elements that are gone, and keeps the others") {
    auto elements = allot::SplitVector<std::uint32_t, 6, 4>{};
    elements.ensure(40);
    for (std::uint32_t i = 0; i <= 40; ++i) { elements[i] = i + 1; }
    elements.trim(20);
    CHECK(elements.find(30) == nullptr);
    for (std::uint32_t i = 0; i < 20; ++i) { CHECK(elements[i] == i + 1); }
    elements.trim(2);
    CHECK(elements.find(6) == nullptr);
    CHECK(elements.find(2) == nullptr);
    CHECK(elements[1] == 2);
    elements.trim(0);
    CHECK(elements.find(0) == nullptr);
    elements.ensure(7);
    CHECK(elements[7] == 0);
}

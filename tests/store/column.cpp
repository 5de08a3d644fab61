#include <cstdint>
#include <utility>
#include <vector>

#include <allot/store/column.hpp>

#include "support/catch.hpp"

namespace column_test {

using Numbers = allot::Column<std::uint32_t, 8>;

auto listed(const Numbers& column) -> std::vector<std::uint32_t> {
    auto all = std::vector<std::uint32_t>{};
    column.for_each([&](std::uint32_t handle, std::uint32_t value) {
        CHECK(column[handle] == value);
        all.push_back(value);
    });
    return all;
}

TEST_CASE("a column is zero where nothing was written") {
    auto column = Numbers{};
    CHECK(column[0] == 0);
    CHECK(column[4'000'000'000] == 0);
    column.made(20) = 7;
    CHECK(column[20] == 7);
    CHECK(column[16] == 0);
    CHECK(column[3] == 0);
    CHECK(column[24] == 0);
    CHECK(listed(column) == std::vector<std::uint32_t>{7});
}

TEST_CASE("a column keeps values where they are written and lists them by handle") {
    auto column = Numbers{};
    for (const auto handle : {70U, 3U, 15U, 16U, 8U}) { column.made(handle) = handle + 1; }
    column.at(15) = 0;
    CHECK(listed(column) == std::vector<std::uint32_t>{4, 9, 17, 71});
    CHECK(column.made(70) == 71);
}

TEST_CASE("a column's values keep their addresses while it grows") {
    auto column = Numbers{};
    const auto* const first = &column.made(0);
    column.made(100'000) = 1;
    CHECK(&column.at(0) == first);
}

TEST_CASE("room for many handles is room for each of them, and changes no value") {
    auto column = Numbers{};
    column.reserve(30, 20);
    CHECK(listed(column).empty());
    for (std::uint32_t handle = 11; handle <= 30; ++handle) { column.at(handle) = handle; }
    CHECK(listed(column).size() == 20);
    column.reserve(30, 31);
    CHECK(column.at(0) == 0);
    CHECK(column[20] == 20);
}

TEST_CASE("a copy of a column is its own, and a move takes the pages") {
    auto column = Numbers{};
    column.made(30) = 5;
    auto copy = column;
    column.at(30) = 6;
    column.made(2) = 1;
    CHECK(copy[30] == 5);
    CHECK(copy[2] == 0);
    const auto* const there = &column.at(30);
    auto moved = std::move(column);
    CHECK(&moved.at(30) == there);
    copy = moved;
    CHECK(copy[30] == 6);
    CHECK(copy[2] == 1);
}

TEST_CASE("a column gives back whole pages, and never one with a handle below the reach") {
    auto column = Numbers{};
    for (const auto handle : {1U, 9U, 40U}) { column.made(handle) = handle; }
    column.at(40) = 0;
    column.trim(10);
    CHECK(listed(column) == std::vector<std::uint32_t>{1, 9});
    CHECK(column[40] == 0);
    column.trim(9);
    CHECK(column[9] == 9);
    column.at(9) = 0;
    column.trim(8);
    CHECK(listed(column) == std::vector<std::uint32_t>{1});
    column.trim(1'000);
    CHECK(column[1] == 1);
    column.made(9) = 2;
    CHECK(listed(column) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a column gives back one page in the middle, if all of it is blank") {
    const auto blank = [](std::uint32_t value) { return value == 0; };
    auto column = Numbers{};
    for (const auto handle : {1U, 9U, 40U}) { column.made(handle) = handle; }
    column.give_back(9, blank);
    CHECK(column.find(9) != nullptr);
    column.at(9) = 0;
    column.give_back(12, blank);
    column.give_back(1'000'000, blank);
    CHECK(column.find(9) == nullptr);
    CHECK(*column.find(40) == 40);
    CHECK(listed(column) == std::vector<std::uint32_t>{1, 40});
    column.made(9) = 3;
    CHECK(listed(column) == std::vector<std::uint32_t>{1, 3, 40});
}

}  // namespace column_test

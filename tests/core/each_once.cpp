#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <allot/core/each_once.hpp>

#include "support/catch.hpp"

TEST_CASE("a canonical list is sorted, and has nothing twice") {
    auto list = std::vector<std::uint32_t>{3, 1, 3, 2, 1};
    allot::canonical(list);
    CHECK(list == std::vector<std::uint32_t>{1, 2, 3});
    list.clear();
    allot::canonical(list);
    CHECK(list.empty());
}

TEST_CASE("names come once each, in order of their bytes, as views into the list") {
    const auto names = std::vector<std::string>{"b", "a", "", "b", "ab", "a"};
    const auto once = allot::each_once(names);
    CHECK(once == std::vector<std::string_view>{"", "a", "ab", "b"});
    for (const auto& name : once) {
        auto inside = false;
        for (const auto& of : names) { inside = inside || of.data() == name.data(); }
        CHECK(inside);
    }
}

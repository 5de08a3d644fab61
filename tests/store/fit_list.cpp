#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/store/fit_list.hpp>

#include "support/catch.hpp"

using List = allot::FitList<int>;

// A span of a list that nothing holds would be read after the list is gone.
static_assert(!std::is_convertible_v<List, std::span<const int>>);
static_assert(std::is_convertible_v<const List&, std::span<const int>>);
static_assert(!std::is_copy_constructible_v<List>);

TEST_CASE("a list of fits is read where it lies, or from the object that made it") {
    const auto kept = std::vector<int>{1, 2, 3};
    const auto view = List{std::span{kept}};
    CHECK(std::span<const int>{view}.data() == kept.data());
    CHECK(view.size() == 3);
    CHECK(view.end() - view.begin() == 3);
    CHECK_FALSE(view.empty());
    const auto made = List{std::vector<int>{4, 5}};
    CHECK(std::vector<int>{made.begin(), made.end()} == std::vector<int>{4, 5});
    CHECK(List{std::vector<int>{}}.empty());
}

TEST_CASE("a list of fits is kept beyond its object, and moved only if the object made it") {
    const auto kept = std::vector<int>{1, 2, 3};
    auto room = std::vector<int>{9};
    CHECK(List{std::span{kept}}.kept_in(room).data() == kept.data());
    CHECK(room == std::vector<int>{9});
    const auto items = List{std::vector<int>{4, 5}}.kept_in(room);
    CHECK(items.data() == room.data());
    CHECK(room == std::vector<int>{4, 5});
}

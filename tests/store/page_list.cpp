#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <allot/store/page_list.hpp>

#include "support/catch.hpp"

namespace {

/// Counts the values that live.
struct Counted {
    static inline int live = 0;
    Counted() noexcept { ++live; }
    Counted(const Counted&) = delete;
    auto operator=(const Counted&) -> Counted& = delete;
    ~Counted() { --live; }
    std::uint32_t number = 7;
};

using List = allot::detail::PageList<Counted, 4>;

struct alignas(256) Wide {
    std::uint32_t number = 0;
};

}  // namespace

TEST_CASE("a list makes the arrays that are asked for, and no other") {
    {
        auto list = List{};
        CHECK(list.size() == 0);
        list.make(2);
        CHECK(list.size() == 3);
        CHECK(list[0] == nullptr);
        CHECK(list[1] == nullptr);
        REQUIRE(list[2] != nullptr);
        CHECK(list[2][3].number == 7);
        CHECK(Counted::live == 4);
        list.make(0);
        CHECK(list.size() == 3);
        CHECK(Counted::live == 8);
    }
    CHECK(Counted::live == 0);
}

TEST_CASE("an array that is dropped is missing, and may be made again") {
    auto list = List{};
    list.make(0);
    list.make(1);
    list.drop(0);
    CHECK(list.size() == 2);
    CHECK(list[0] == nullptr);
    CHECK(Counted::live == 4);
    list.drop(0);  // missing already
    list.make(0);
    CHECK(list[0][0].number == 7);
    CHECK(Counted::live == 8);
}

TEST_CASE("trim gives arrays from the end back, and keeps the others where they are") {
    auto list = List{};
    for (std::size_t i = 0; i < 100; ++i) { list.make(i); }
    const auto* const kept = list[9];
    list.trim(100);
    CHECK(list.size() == 100);
    list.trim(10);
    CHECK(list.size() == 10);
    CHECK(list[9] == kept);
    CHECK(Counted::live == 40);
    list.trim(0);
    CHECK(Counted::live == 0);
    list.make(0);
    CHECK(list[0][0].number == 7);
}

TEST_CASE("a move leaves the source empty, and an assignment gives the former arrays back") {
    static_assert(!std::is_copy_constructible_v<List>);
    static_assert(std::is_nothrow_move_constructible_v<List>);
    static_assert(std::is_nothrow_move_assignable_v<List>);
    auto list = List{};
    list.make(1);
    const auto* const page = list[1];
    auto other = std::move(list);
    CHECK(list.size() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK(other[1] == page);
    auto third = List{};
    third.make(5);
    third = std::move(other);
    CHECK(other.size() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK(third[1] == page);
    CHECK(Counted::live == 4);
}

TEST_CASE("arrays are aligned as their values ask") {
    auto list = allot::detail::PageList<Wide, 2>{};
    list.make(0);
    CHECK(reinterpret_cast<std::uintptr_t>(list[0]) % 256 == 0);
}

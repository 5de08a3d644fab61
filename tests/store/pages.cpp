#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/store/pages.hpp>
#include <allot/store/slot_set.hpp>

#include "support/catch.hpp"

namespace {

struct Record {
    std::string name = "fresh";
    std::uint32_t number = 0;
};

struct alignas(128) Line {
    std::uint32_t number = 0;
};

// The owner of the pages declares its record inside itself; a constraint on T would be judged too early here.
class Owner {
public:
    [[nodiscard]] auto first() -> std::uint32_t {
        pages_.ensure(0);
        return pages_[0].number;
    }

private:
    struct Inner {
        std::uint32_t number = 5;
    };
    allot::Pages<Inner> pages_;
};

}  // namespace

TEST_CASE("new pages are empty, and ensure makes default records a page at a time") {
    auto pages = allot::Pages<Record, 8>{};
    CHECK(pages.capacity() == 0);
    pages.ensure(0);
    CHECK(pages.capacity() == 8);
    pages.ensure(7);
    CHECK(pages.capacity() == 8);
    pages.ensure(8);
    CHECK(pages.capacity() == 16);
    pages.ensure(70'000);
    CHECK(pages.capacity() == 70'008);
    CHECK(pages[70'000].name == "fresh");
}

TEST_CASE("numbers in new pages are zero") {
    auto pages = allot::Pages<std::uint32_t>{};
    pages.ensure(1'000);
    for (std::uint32_t handle = 0; handle < pages.capacity(); ++handle) { REQUIRE(pages[handle] == 0); }
    CHECK(pages.capacity() == 1'024);
}

TEST_CASE("each handle has a record of its own, whose address never changes") {
    auto pages = allot::Pages<Record, 16>{};
    auto addresses = std::vector<const Record*>{};
    for (std::uint32_t handle = 0; handle < 1'000; ++handle) {
        pages.ensure(handle);
        pages[handle].number = handle;
        addresses.push_back(&pages[handle]);
    }
    pages.ensure(100'000);
    const auto moved = std::move(pages);
    for (std::uint32_t handle = 0; handle < 1'000; ++handle) {
        REQUIRE(&moved[handle] == addresses[handle]);
        REQUIRE(moved[handle].number == handle);
    }
}

TEST_CASE("a moved-from set of pages is empty and usable") {
    auto pages = allot::Pages<Record, 4>{};
    pages.ensure(9);
    auto other = allot::Pages<Record, 4>{};
    other.ensure(50);
    other = std::move(pages);
    CHECK(other.capacity() == 12);
    CHECK(pages.capacity() == 0);
    pages.ensure(0);
    CHECK(pages[0].name == "fresh");
}

TEST_CASE("a copy is deep") {
    auto pages = allot::Pages<Record, 4>{};
    pages.ensure(9);
    pages[9].name = "one";
    auto copy = pages;
    copy[9].name = "two";
    CHECK(pages[9].name == "one");
    CHECK(copy[9].name == "two");
    CHECK(copy.capacity() == pages.capacity());

    for (std::uint32_t handle = 0; handle < 12; ++handle) { pages[handle].number = handle + 1; }
    copy = pages;
    for (std::uint32_t handle = 0; handle < 12; ++handle) { CHECK(copy[handle].number == handle + 1); }
    CHECK(copy[9].name == "one");
    CHECK(&copy[9] != &pages[9]);

    const auto& self = copy;
    copy = self;
    CHECK(copy[9].name == "one");
}

TEST_CASE("pages hold what cannot be copied, what is over-aligned, and what their owner declares inside itself") {
    static_assert(!std::is_copy_constructible_v<allot::Pages<std::unique_ptr<int>>>);
    static_assert(!std::is_copy_assignable_v<allot::Pages<std::unique_ptr<int>>>);
    static_assert(std::is_copy_constructible_v<allot::Pages<Record>>);
    static_assert(std::is_nothrow_move_constructible_v<allot::Pages<Record>>);
    static_assert(std::is_nothrow_move_assignable_v<allot::Pages<Record>>);

    auto unique = allot::Pages<std::unique_ptr<int>, 2>{};
    unique.ensure(2);
    unique[2] = std::make_unique<int>(3);
    const auto moved = std::move(unique);
    CHECK(*moved[2] == 3);

    auto lines = allot::Pages<Line>{};
    lines.ensure(1'000);
    CHECK(reinterpret_cast<std::uintptr_t>(&lines[777]) % alignof(Line) == 0);

    auto owner = Owner{};
    auto copy = owner;
    CHECK(owner.first() == 5);
    CHECK(copy.first() == 5);
}

TEST_CASE("empty pages at the end are given back, but for one, and the records before stay where they are") {
    auto pages = allot::Pages<Record, 64>{};
    auto taken = allot::SlotSet{};
    CHECK_FALSE(trimmed(pages, taken));
    pages.ensure(64 * 10 - 1);
    taken.take(64 * 3 + 5);
    const auto* const kept = &pages[64 * 3 + 5];
    CHECK(trimmed(pages, taken) == 64 * 5);
    CHECK(pages.capacity() == 64 * 5);
    CHECK(&pages[64 * 3 + 5] == kept);
    CHECK_FALSE(trimmed(pages, taken));
    taken.free(64 * 3 + 5);
    CHECK(trimmed(pages, taken) == 64);
    CHECK_FALSE(trimmed(pages, taken));
}

#include "support/allocations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <allot/store/due_tree.hpp>
#include <allot/store/fit_table.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/page_list.hpp>

#include "support/catch.hpp"
#include "support/stakes.hpp"

// What the tables of the store allocate, counted.

namespace {

const auto earlier = [](const allot::Due& a, const allot::Due& b) { return a.handle < b.handle; };
constexpr auto fits = [](const allot::NodeClass& c, const allot::Requirement& r) { return c.vram >= r.vram_min; };

}  // namespace

TEST_CASE("a copy has the room of the original, so that its next entry moves none") {
    auto tree = allot::DueTree<1>{};
    for (std::uint32_t i = 0; i < 1'000; ++i) { tree.set({std::int64_t{i}, 0, i}, earlier); }
    for (std::uint32_t i = 900; i < 1'000; ++i) { tree.erase(0, i, earlier); }
    auto copy = tree;
    const auto before = support::calls;
    for (std::uint32_t i = 900; i < 1'000; ++i) { copy.set({std::int64_t{i}, 0, i}, earlier); }
    CHECK(support::calls == before);
}

TEST_CASE("after a reservation no change asks for memory, however far its time is, and none when it is undone") {
    constexpr auto age = std::int64_t{1} << 40;
    auto tree = allot::DueTree<1>{};
    for (std::uint32_t i = 0; i < 1'000; ++i) { tree.set({std::int64_t{i}, 0, i}, earlier); }
    auto calls = std::uint64_t{0};
    const auto quiet = [&](const auto& change) {
        const auto before = support::calls;
        change();
        calls += support::calls - before;
    };
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        tree.reserve();
        quiet([&] { tree.put({i % 3 == 0 ? i * age : -std::int64_t{i}, 0, i}, earlier); });
        if (i % 7 != 0) { continue; }
        tree.reserve();
        quiet([&] { tree.erase(0, i, earlier); });
    }
    for (std::uint32_t i = 1'000; i-- > 0;) {
        quiet([&] { tree.put({std::int64_t{i}, 0, i}, earlier); });
    }
    CHECK(calls == 0);
    CHECK(tree.top()->handle == 0);
}

TEST_CASE("a new requirement that fits all classes needs little memory, also in a copy", "[A6]") {
    constexpr auto classes = std::uint32_t{800};
    auto original = allot::FitTable{{1, 2}};
    for (std::uint32_t c = 0; c < classes; ++c) {
        original.add(allot::ClassId{c}, allot::NodeClass{"GPU", {24 + c}, "", {}}, fits);
    }
    auto table = original;
    for (std::uint32_t r = 0; r < 24; ++r) {
        const auto before = support::calls;
        table.add(allot::RequirementId{r}, allot::Requirement{{r}}, fits);
        CHECK(support::calls - before < classes / 32 + 16);
        CHECK(table.requirements_of(allot::ClassId{classes - 1}).size() == r + 1);
    }
}

TEST_CASE("a class of a copied table opens without memory, too") {
    auto table = allot::FitTable{{1, 2}};
    for (std::uint32_t c = 0; c < 40; ++c) {
        table.add(allot::ClassId{c}, allot::NodeClass{"GPU", {8 + c}, "", {}}, fits, false);
    }
    table.add(allot::RequirementId{0}, allot::Requirement{{8}}, fits);
    const auto open_all = [](allot::FitTable& t) {
        const auto before = support::calls;
        for (std::uint32_t c = 0; c < 40; ++c) { t.set_open(allot::ClassId{c}, true); }
        return support::calls - before;
    };
    auto copy = table;
    auto assigned = allot::FitTable{{1, 2}};
    assigned = table;
    CHECK(open_all(table) == 0);
    CHECK(open_all(copy) == 0);
    CHECK(open_all(assigned) == 0);
    CHECK(copy.classes_of(allot::RequirementId{0}).size() == 40);
}

TEST_CASE("an interner that is empty again has given back its map") {
    auto interner = allot::Interner<std::string, allot::NameHash>{allot::NameHash{{1, 2}}};
    const auto before = support::live;
    for (auto i = 0; i < 20'000; ++i) { interner.acquire(interner.intern(std::to_string(i))); }
    for (std::uint32_t id = 20'000; id > 0; --id) {
        interner.release(id - 1);
        REQUIRE(interner.erase_if_unused(id - 1));
    }
    auto trims = 0;
    for (; interner.falls(); ++trims) { (void)interner.trim(); }
    CHECK(trims > 1);  // some pages at once
    CHECK(support::live - before < 16'000);
}

TEST_CASE("lists of fits that no command made anew go with the requirements", "[A6]") {
    auto table = allot::FitTable{{1, 2}};
    for (std::uint32_t c = 0; c < 100; ++c) {
        table.add(allot::ClassId{c}, allot::NodeClass{"GPU", {8 + c}, "", {}}, fits);
    }
    const auto before = support::live;
    for (std::uint32_t r = 0; r < 2'000; ++r) {
        table.add(allot::RequirementId{r}, allot::Requirement{{8}, {{std::to_string(r), {}}}}, fits);
    }
    for (std::uint32_t c = 0; c < 100; ++c) { table.list(allot::ClassId{c}); }
    for (std::uint32_t r = 0; r < 2'000; ++r) { REQUIRE(table.erase_if_unused(allot::RequirementId{r})); }
    table.trim();
    CHECK(support::live - before < 100'000);  // a list of 2,000 takes 8 kB
}

TEST_CASE("where requirements come and go with their tasks, no list of fits asks for memory", "[A6]") {
    auto table = allot::FitTable{{1, 2}};
    for (std::uint32_t c = 0; c < 48; ++c) {
        table.add(allot::ClassId{c}, allot::NodeClass{"GPU", {8 + c}, "", {}}, fits);
    }
    const auto come = [&](const allot::Requirement& requirement) {
        const auto r = table.next_requirement();
        table.add(r, requirement, fits);
        table.list(r);
        for (const auto c : table.all_classes()) { table.list(c); }
        return r;
    };
    auto last = std::array<allot::RequirementId, 2>{};
    auto calls = std::uint64_t{0};
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        const auto before = support::calls;
        if (i >= last.size()) { CHECK(table.erase_if_unused(last[i % last.size()])); }
        last[i % last.size()] = come({{8 + i % 48}});
        if (i >= 100) { calls += support::calls - before; }
    }
    CHECK(calls == 0);
    // Only as many lists are kept as a small network needs.
    for (auto& one : last) { table.erase_if_unused(one); }
    for (std::uint32_t i = 0; i < 1'000; ++i) { come({{8}, {{std::to_string(i), {}}}}); }
    const auto before = support::live;
    for (std::uint32_t i = 0; i < 1'000; ++i) { REQUIRE(table.erase_if_unused(allot::RequirementId{i})); }
    CHECK((support::live == 0 || before - support::live > 900 * 48 * sizeof(allot::ClassId)));
}

TEST_CASE("an index of stakes whose growth failed at any allocation has the right maximum afterwards") {
    constexpr auto slots = std::array{16U, 256U, 511U, 5'000U, 100'000U};
    for (const auto first : {0U, 400U, 9'000U}) {
        for (std::uint64_t failure = 1; failure < 40; ++failure) {
            auto stakes = support::Stakes{};
            support::fails_at = support::calls + failure;
            try {
                stakes.reserve(first);
                stakes.set(first, 7);
                stakes.reserve(100'000);
            } catch (const std::bad_alloc&) {}
            support::fails_at = 0;
            stakes.set(first, 100);
            for (const auto slot : slots) {
                stakes.set(slot, 50);
                REQUIRE(stakes.root_max() == allot::StakeRoot::from(100));
                stakes.set(slot, 101);
                REQUIRE(stakes.root_max() == allot::StakeRoot::from(101));
                stakes.set(slot, 0);
                REQUIRE(stakes.root_max() == allot::StakeRoot::from(100));
            }
        }
    }
}

TEST_CASE("an index of stakes gives the room of both its orders back", "[A7]") {
    auto stakes = support::Stakes{};
    for (std::uint32_t slot = 0; slot < 100'000; ++slot) { stakes.set(slot, slot + 1U); }
    for (std::uint32_t slot = 1'000; slot < 100'000; ++slot) { stakes.set(slot, 0); }
    const auto before = support::live;
    stakes.trim(1'000);
    CHECK(before - support::live > 45'000);  // each order has 27 kB
    CHECK(stakes.root_max() == allot::StakeRoot::from(1'000));
    stakes.set(50'000, 2'000);
    CHECK(stakes.root_max() == allot::StakeRoot::from(2'000));
    stakes.set(50'000, 0);
    CHECK(stakes.root_max() == allot::StakeRoot::from(1'000));
}

TEST_CASE("at the border of a page the list of pages is not allocated again") {
    auto list = allot::detail::PageList<std::uint32_t, 64>{};
    for (std::size_t i = 0; i < 5; ++i) { list.make(i); }
    list.trim(4);
    const auto before = support::calls;
    for (auto i = 0; i < 10; ++i) {
        list.make(4);
        list.trim(4);
    }
    CHECK(support::calls - before == 10);  // the page, each time
}

TEST_CASE("a list that was long gives its own room back, too", "[A7]") {
    auto list = allot::detail::PageList<std::uint32_t, 64>{};
    const auto before = support::live;
    for (std::size_t i = 0; i < 10'000; ++i) { list.make(i); }
    list.trim(1);
    CHECK(support::live - before < 1'000);
}

TEST_CASE("where an allocation fails, a list has the pages that it had") {
    auto list = allot::detail::PageList<std::uint32_t, 64>{};
    list.make(0);
    for (const auto at : {1, 2}) {  // the room of the list, and the page
        support::fails_at = support::calls + static_cast<std::uint64_t>(at);
        CHECK_THROWS_AS(list.make(100'000 * static_cast<std::size_t>(at)), std::bad_alloc);
        support::fails_at = 0;
        CHECK(list.size() == 1);
    }
    list.make(1);
    CHECK(list[1][63] == 0);
}

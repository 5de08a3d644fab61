#include "support/allocations.hpp"

#include <cstdint>

#include <allot/store/due_heap.hpp>
#include <allot/store/fit_table.hpp>

#include "support/catch.hpp"

// What the tables of the store allocate, counted.

namespace {

const auto earlier = [](const allot::Due& a, const allot::Due& b) { return a.handle < b.handle; };
constexpr auto fits = [](const allot::NodeClass& c, const allot::Requirement& r) { return c.vram >= r.vram_min; };

}  // namespace

TEST_CASE("a copy has the room of the original, so that its next entry moves none") {
    auto heap = allot::DueHeap<1>{};
    for (std::uint32_t i = 0; i < 1'000; ++i) { heap.set({std::int64_t{i}, 0, i}, earlier); }
    for (std::uint32_t i = 900; i < 1'000; ++i) { heap.erase(0, i, earlier); }
    auto copy = heap;
    const auto before = support::calls;
    for (std::uint32_t i = 900; i < 1'000; ++i) { copy.set({std::int64_t{i}, 0, i}, earlier); }
    CHECK(support::calls == before);
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

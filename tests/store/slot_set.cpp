#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <allot/store/slot_set.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

using Model = std::set<std::uint32_t>;

auto lowest_free(const Model& model) -> std::uint32_t {
    auto slot = std::uint32_t{0};
    while (model.count(slot) != 0) { ++slot; }
    return slot;
}

auto contents(const allot::SlotSet& slots) -> std::vector<std::uint32_t> {
    auto all = std::vector<std::uint32_t>{};
    slots.for_each([&all](std::uint32_t slot) { all.push_back(slot); });
    return all;
}

auto agrees(const allot::SlotSet& slots, const Model& model) -> bool {
    return slots.size() == model.size() && slots.empty() == model.empty() &&
           slots.lowest_free() == lowest_free(model) &&
           contents(slots) == std::vector<std::uint32_t>(model.begin(), model.end());
}

auto toggle(allot::SlotSet& slots, std::uint32_t slot) -> void {
    if (slots.taken(slot)) {
        slots.free(slot);
    } else {
        slots.take(slot);
    }
}

}  // namespace

TEST_CASE("an empty slot set has nothing taken and gives 0 first") {
    const auto slots = allot::SlotSet{};
    CHECK(slots.empty());
    CHECK(slots.lowest_free() == 0);
    CHECK_FALSE(slots.taken(0));
    CHECK_FALSE(slots.taken(0xFFFF'FFFF));
    CHECK(contents(slots).empty());
    CHECK(slots == allot::SlotSet{});
}

TEST_CASE("the lowest free slot is right at every size up to 70,000 and after any one is freed") {
    auto slots = allot::SlotSet{};
    for (std::uint32_t slot = 0; slot < 70'000; ++slot) {
        REQUIRE(slots.lowest_free() == slot);
        slots.take(slot);
    }
    CHECK(slots.size() == 70'000);
    for (const auto slot : {0U, 63U, 64U, 4'095U, 4'096U, 69'999U}) {
        slots.free(slot);
        CHECK(slots.lowest_free() == slot);
        slots.take(slot);
        CHECK(slots.lowest_free() == 70'000);
    }
}

TEST_CASE("the lowest free slot is right when exactly a whole level is full") {
    for (const auto full : {64U, 4'096U, 262'144U}) {
        auto slots = allot::SlotSet{};
        for (std::uint32_t slot = 0; slot < full; ++slot) { slots.take(slot); }
        CHECK(slots.lowest_free() == full);
        slots.take(full);
        CHECK(slots.lowest_free() == full + 1);
        slots.free(full);
        slots.free(full / 2);
        CHECK(slots.lowest_free() == full / 2);
    }
}

TEST_CASE("a slot set does what a std::set does") {
    // Subjects close together fill words; multiplied, they also reach new words and levels.
    const auto stride = GENERATE(1U, 61U, 4'099U);
    support::check_histories({2, 150, 1}, [stride](const support::History& history) {
        auto slots = allot::SlotSet{};
        auto model = Model{};
        for (const auto& step : history) {
            const auto slot = step.verb == 0 ? slots.lowest_free() : step.subject * stride;
            if (slots.taken(slot) != (model.count(slot) != 0)) { return false; }
            toggle(slots, slot);
            if (model.erase(slot) == 0) { model.insert(slot); }
            if (!agrees(slots, model)) { return false; }
        }
        return true;
    });
}

TEST_CASE("undoing a history backwards gives an equal slot set, whatever room was made") {
    auto random = std::mt19937_64{support::seed()};
    auto slots = allot::SlotSet{};
    for (auto i = 0; i < 500; ++i) { toggle(slots, static_cast<std::uint32_t>(random() % 700)); }
    const auto before = slots;
    auto done = std::vector<std::uint32_t>{};
    for (auto i = 0; i < 2'000; ++i) {
        done.push_back(static_cast<std::uint32_t>(random() % 70'000));
        toggle(slots, done.back());
    }
    CHECK_FALSE(slots == before);
    for (; !done.empty(); done.pop_back()) { toggle(slots, done.back()); }
    CHECK(slots == before);
    CHECK(before == slots);
    CHECK(slots.lowest_free() == before.lowest_free());
}

TEST_CASE("slot sets that differ in one slot differ, and equal sizes are not equality") {
    auto a = allot::SlotSet{};
    auto b = allot::SlotSet{};
    a.take(1);
    CHECK_FALSE(a == b);
    b.take(2);
    CHECK_FALSE(a == b);
    b.free(2);
    b.take(70'000);
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
    b.free(70'000);
    b.take(1);
    CHECK(a == b);
    a.free(1);
    b.free(1);
    CHECK(a == allot::SlotSet{});
    CHECK(allot::SlotSet{} == b);
}

TEST_CASE("making room changes no answer") {
    auto slots = allot::SlotSet{};
    slots.take(0);
    const auto before = slots;
    slots.reserve(1'000'000);
    CHECK(slots == before);
    CHECK(slots.lowest_free() == 1);
    CHECK_FALSE(slots.taken(1'000'000));
    slots.reserve(5);
    slots.take(1'000'000);
    CHECK(contents(slots) == std::vector<std::uint32_t>{0, 1'000'000});
}

TEST_CASE("a slot set reaches one past its highest slot") {
    auto set = allot::SlotSet{};
    CHECK(set.reach() == 0);
    for (const auto slot : {0U, 5U, 63U, 64U, 1'000U, 300'000U}) {
        set.take(slot);
        CHECK(set.reach() == slot + 1);
    }
    set.free(300'000U);
    CHECK(set.reach() == 1'001);
    set.free(1'000U);
    set.free(64U);
    CHECK(set.reach() == 64);
}

TEST_CASE("the room that slots need ends one empty page behind the last taken slot") {
    auto random = std::mt19937_64{support::seed()};
    for (auto world = 0; world < 300; ++world) {
        const auto page = std::uint32_t{64} << random() % 4;
        const auto pages = 1 + random() % 20;
        auto set = allot::SlotSet{};
        for (auto n = random() % 3; n > 0; --n) {
            const auto slot = static_cast<std::uint32_t>(random() % (pages * page));
            if (!set.taken(slot)) { set.take(slot); }
        }
        const auto needed = std::uint64_t{set.reach() + page - 1} / page;
        CHECK(set.room_needed(pages * page, page) == std::min<std::uint64_t>(pages, needed + 1) * page);
    }
    CHECK(allot::SlotSet{}.room_needed(0, 64) == 0);
}

TEST_CASE("a trimmed slot set answers as before, and takes and frees as before") {
    auto random = std::mt19937_64{support::seed()};
    const auto range = GENERATE(60U, 700U, 5'000U, 300'000U);
    auto slots = allot::SlotSet{};
    auto model = Model{};
    for (auto i = 0; i < 2'000; ++i) {
        // Half of the time only low slots are taken, and high ones go.
        const auto slot = static_cast<std::uint32_t>(random() % (i / 100 % 2 == 0 ? range : range / 50 + 1));
        const auto gone = i / 100 % 2 != 0 && !model.empty() ? *model.rbegin() : slot;
        toggle(slots, gone);
        if (model.erase(gone) == 0) { model.insert(gone); }
        const auto reach = model.empty() ? 0 : *model.rbegin() + 1;
        REQUIRE(slots.reach() == reach);
        if (random() % 8 == 0) {
            const auto copy = slots;
            slots.trim();
            REQUIRE(slots == copy);
            REQUIRE_FALSE(slots.sparse(0));
        }
        if (i % 50 == 0) { REQUIRE(agrees(slots, model)); }
    }
    REQUIRE(agrees(slots, model));
}

TEST_CASE("a slot set is sparse when an eighth of its room is spare, or more with a spread") {
    auto slots = allot::SlotSet{};
    slots.take(0);
    CHECK_FALSE(slots.sparse(0));
    slots.take(64 * 100 - 1);
    slots.take(64 * 87);
    slots.take(64 * 63);
    slots.free(64 * 100 - 1);
    CHECK_FALSE(slots.sparse(0));  // 88 words of 100
    slots.free(64 * 87);
    CHECK(slots.sparse(0));
    CHECK(slots.sparse(60));
    CHECK_FALSE(slots.sparse(63));  // 64 words of 100
    slots.free(64 * 63);
    CHECK(slots.sparse(63));
    slots.trim();
    CHECK_FALSE(slots.sparse(0));
    CHECK(slots.reach() == 1);
}

TEST_CASE("the bit of any slot may be prefetched, and that changes nothing") {
    auto slots = allot::SlotSet{};
    const auto ask = [&] {
        const auto before = slots;
        for (const auto slot : {0U, 63U, 64U, 6'399U, 6'400U, ~0U}) { slots.prefetch(slot); }
        CHECK(slots == before);
    };
    ask();
    slots.take(5);
    ask();
    slots.take(64 * 100 - 1);
    ask();
}

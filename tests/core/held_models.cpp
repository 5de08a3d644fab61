#include <cstdint>
#include <utility>
#include <vector>

#include <allot/core/held_models.hpp>

#include "support/allocations.hpp"
#include "support/catch.hpp"

namespace held_models_test {

using allot::HeldModel;
using allot::HeldModels;
using allot::Holding;
using allot::ModelId;
using allot::TimePoint;

constexpr auto ends_never = TimePoint{};

auto at(int time) -> TimePoint { return TimePoint{allot::Duration{time}}; }

auto one(std::uint32_t model, Holding holding = Holding::on_disk, std::uint32_t place = 0) -> HeldModel {
    return HeldModel{ModelId{model}, holding, place};
}

/// Models and the times at which they expire.
auto list(const std::vector<std::pair<std::uint32_t, int>>& entries) -> HeldModels {
    auto made = HeldModels(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        made[i] = one(entries[i].first);
        made.set_until(i, at(entries[i].second));
    }
    return made;
}

auto entries_of(const HeldModels& models) -> std::vector<std::pair<std::uint32_t, int>> {
    auto entries = std::vector<std::pair<std::uint32_t, int>>{};
    for (const auto& model : models) {
        entries.emplace_back(model.model.value, static_cast<int>(models.until(&model).time_since_epoch().count()));
    }
    return entries;
}

using Entries = std::vector<std::pair<std::uint32_t, int>>;

/// Bytes that a copy of a list takes.
auto bytes_of(const HeldModels& models) -> std::int64_t {
    const auto before = support::live;
    const auto copy = models;
    return static_cast<std::int64_t>(support::live - before);
}

TEST_CASE("an entry is eight bytes, with the highest model, place and holding") {
    const auto last = HeldModel{allot::no_handle<ModelId>, Holding::in_use, HeldModel::place_max};
    CHECK(sizeof(HeldModel) == 8);
    CHECK(last.model == allot::no_handle<ModelId>);
    CHECK(last.holding == Holding::in_use);
    CHECK(last.place == HeldModel::place_max);
    CHECK(last.on_disk());
    CHECK_FALSE(one(1, Holding::wanted).on_disk());
    CHECK(HeldModel{} == one(0));
}

TEST_CASE("an empty list has no entries, no times and no memory") {
    auto none = HeldModels{};
    CHECK(none.empty());
    CHECK(none.size() == 0);
    CHECK(none.begin() == none.end());
    CHECK_FALSE(none.any_expires());
    CHECK(none == HeldModels(0, true));
    none.erase_if([](const HeldModel*) { return true; });
    none.trim();
    CHECK(none.empty());
    CHECK(bytes_of(none) == 0);
    CHECK(merged(none, none).empty());
    CHECK(find_model(none, ModelId{1}) == nullptr);
    none.insert(none.begin(), one(3), at(7));
    CHECK(entries_of(none) == Entries{{3, 7}});
}

TEST_CASE("the first time that is set leaves the entries and the other times alone") {
    auto models = HeldModels{one(1, Holding::in_use, 5), one(4), one(9, Holding::wanted)};
    CHECK_FALSE(models.any_expires());
    CHECK(models.until(&models[1]) == ends_never);
    models.set_until(1, ends_never);
    CHECK_FALSE(models.any_expires());
    models.set_until(1, at(12));
    CHECK(models.any_expires());
    CHECK(models[0] == one(1, Holding::in_use, 5));
    CHECK(models[2] == one(9, Holding::wanted));
    CHECK(entries_of(models) == Entries{{1, 0}, {4, 12}, {9, 0}});
    CHECK_FALSE(models.expires(&models[0]));
    CHECK(models.expires(&models[1]));
    models.set_until(2, at(3));
    CHECK(entries_of(models) == Entries{{1, 0}, {4, 12}, {9, 3}});
}

TEST_CASE("times take no memory while nothing expires, and none once the last of them is gone") {
    if (support::live == 0) { return; }  // nothing counts bytes here
    auto models = list({{1, 0}, {2, 0}, {3, 0}, {4, 0}});
    const auto plain = bytes_of(models);
    CHECK(plain <= 8 + 4 * 8 + 24);
    const auto idle = support::live;
    const auto both = merged(list({{1, 0}, {3, 0}}), list({{2, 0}, {4, 0}}));
    CHECK(static_cast<std::int64_t>(support::live - idle) == plain);
    models.set_until(0, at(5));
    models.set_until(3, at(6));
    CHECK(bytes_of(models) >= plain + 4 * 8);
    models.set_until(0, ends_never);
    CHECK(bytes_of(models) >= plain + 4 * 8);
    models.set_until(3, ends_never);
    CHECK(bytes_of(models) == plain);
    const auto before = support::live;
    models.trim();
    CHECK(support::live < before);
    CHECK(entries_of(models) == Entries{{1, 0}, {2, 0}, {3, 0}, {4, 0}});
}

TEST_CASE("entries that are erased take their times along, and the order stays") {
    auto models = list({{1, 10}, {2, 0}, {3, 30}, {4, 40}, {5, 0}});
    auto asked = std::vector<std::uint32_t>{};
    models.erase_if([&](const HeldModel* model) {
        asked.push_back(model->model.value);
        return models.until(model) == at(30) || model->model == ModelId{1};
    });
    CHECK(asked == std::vector<std::uint32_t>{1, 2, 3, 4, 5});
    CHECK(entries_of(models) == Entries{{2, 0}, {4, 40}, {5, 0}});
    models.trim();
    CHECK(entries_of(models) == Entries{{2, 0}, {4, 40}, {5, 0}});
    models.set_until(2, at(50));
    CHECK(entries_of(models) == Entries{{2, 0}, {4, 40}, {5, 50}});
    models.erase_if([](const HeldModel*) { return true; });
    CHECK(models.empty());
    CHECK(models == HeldModels{});
    CHECK_FALSE(models.any_expires());
    models.trim();
    CHECK(models.empty());
}

TEST_CASE("a list that lost entries gets its first time behind those that are left") {
    auto models = HeldModels{one(1), one(2), one(3)};
    models.erase_if([](const HeldModel* model) { return model->model == ModelId{1}; });
    models.set_until(1, at(8));
    CHECK(entries_of(models) == Entries{{2, 0}, {3, 8}});
    CHECK(models == list({{2, 0}, {3, 8}}));
}

TEST_CASE("an entry is inserted at its place, with and without a time") {
    auto models = HeldModels{one(2), one(6)};
    const auto insert = [&](std::uint32_t model, TimePoint until) {
        models.insert(place_of(models, ModelId{model}), one(model), until);
    };
    insert(4, ends_never);
    CHECK(entries_of(models) == Entries{{2, 0}, {4, 0}, {6, 0}});
    CHECK_FALSE(models.any_expires());
    insert(8, at(80));
    CHECK(entries_of(models) == Entries{{2, 0}, {4, 0}, {6, 0}, {8, 80}});
    insert(1, at(10));
    insert(7, ends_never);
    CHECK(entries_of(models) == Entries{{1, 10}, {2, 0}, {4, 0}, {6, 0}, {7, 0}, {8, 80}});
    CHECK(find_model(models, ModelId{7}) == &models[4]);
    CHECK(find_model(models, ModelId{3}) == nullptr);
    CHECK(find_model(models, ModelId{9}) == nullptr);
}

TEST_CASE("lists are equal if their entries and times are, whatever room they have") {
    const auto plain = HeldModels{one(1), one(2)};
    auto cleared = plain;
    cleared.set_until(1, at(4));
    CHECK_FALSE(cleared == plain);
    CHECK_FALSE(plain == cleared);
    const auto timed = cleared;
    CHECK(timed == cleared);
    cleared.set_until(1, ends_never);
    CHECK(cleared == plain);
    CHECK(plain == cleared);
    CHECK_FALSE(cleared == timed);
    auto other = timed;
    other.set_until(1, at(5));
    CHECK_FALSE(other == timed);
    other = timed;
    other[0].holding = Holding::in_use;
    CHECK_FALSE(other == timed);
    CHECK_FALSE(plain == HeldModels{one(1)});
    auto longer = list({{1, 0}, {2, 4}, {3, 0}});
    longer.erase_if([](const HeldModel* model) { return model->model == ModelId{3}; });
    CHECK(longer == timed);
}

TEST_CASE("a copy shares nothing, and a move leaves nothing") {
    auto models = list({{1, 0}, {2, 20}});
    auto copy = models;
    copy.set_until(0, at(10));
    copy[1].place = 9;
    CHECK(models == list({{1, 0}, {2, 20}}));
    const auto moved = std::move(copy);
    CHECK(entries_of(moved) == Entries{{1, 10}, {2, 20}});
    models = moved;
    CHECK(models == moved);
    models = {};
    CHECK(models.empty());
}

TEST_CASE("two lists are merged with their times, ascending, and the first list's entry of a model comes first") {
    const auto plain = HeldModels{one(2), one(6)};
    CHECK(merged(plain, {one(1), one(9)}) == HeldModels{one(1), one(2), one(6), one(9)});
    CHECK_FALSE(merged(plain, plain).any_expires());
    CHECK(entries_of(merged(plain, list({{1, 10}, {9, 90}}))) == Entries{{1, 10}, {2, 0}, {6, 0}, {9, 90}});
    CHECK(entries_of(merged(list({{1, 10}, {9, 90}}), plain)) == Entries{{1, 10}, {2, 0}, {6, 0}, {9, 90}});
    CHECK(entries_of(merged(list({{2, 10}}), list({{2, 20}}))) == Entries{{2, 10}, {2, 20}});
    CHECK(entries_of(merged({}, list({{2, 20}}))) == Entries{{2, 20}});
    CHECK(entries_of(merged(list({{2, 20}}), {})) == Entries{{2, 20}});
}

TEST_CASE("the differences of two lists, of which times are none") {
    auto before = HeldModels{one(1), one(3), one(5), one(7)};
    before.set_until(1, at(30));
    const auto after = HeldModels{one(2), one(3), one(5, Holding::in_use), one(8), one(9)};
    auto told = std::vector<std::pair<std::uint32_t, std::uint32_t>>{};
    allot::each_difference(
        allot::span_of(before), allot::span_of(after), [&](const HeldModel* was, const HeldModel* is) {
            told.emplace_back(was == nullptr ? 0 : was->model.value, is == nullptr ? 0 : is->model.value);
        });
    CHECK(told == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {0, 2}, {5, 5}, {7, 0}, {0, 8}, {0, 9}});
}

}  // namespace held_models_test

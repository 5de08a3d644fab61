#include <cstdint>
#include <map>
#include <random>
#include <set>

#include <allot/store/model_table.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::ClassId;
using allot::ModelId;

TEST_CASE("models are found by name, counted, and go when nobody needs them") {
    auto table = allot::ModelTable{{1, 2}};
    CHECK_FALSE(table.find("sdxl"));
    const auto id = table.next();
    table.add(id, "sdxl");
    CHECK(table.find("sdxl") == id);
    CHECK(table.name(id) == "sdxl");
    table.acquire(id);
    CHECK_FALSE(table.erase_if_unused(id));
    table.release(id);
    CHECK(table.erase_if_unused(id));
    CHECK_FALSE(table.find("sdxl"));
    CHECK(table.next() == id);
}

TEST_CASE("holders of a model take the lowest free place of their class") {
    auto table = allot::ModelTable{{1, 2}};
    const auto model = ModelId{0};
    table.add(model, "sdxl");
    CHECK(table.free_place(model, ClassId{5}) == 0);
    table.take(model, ClassId{5}, 0);
    table.take(model, ClassId{5}, 1);
    table.take(model, ClassId{2}, 0);
    CHECK(table.free_place(model, ClassId{5}) == 2);
    CHECK(table.free_place(model, ClassId{2}) == 1);
    CHECK(table.free_place(model, ClassId{3}) == 0);
    table.free(model, ClassId{5}, 0);
    CHECK(table.free_place(model, ClassId{5}) == 0);
    table.free(model, ClassId{5}, 1);
    table.free(model, ClassId{2}, 0);
    CHECK(table.free_place(model, ClassId{2}) == 0);
}

TEST_CASE("a name counts as held while a node has it on its disk, not for a task or a wish", "[A3][A6]") {
    auto table = allot::ModelTable{{1, 2}};
    const auto model = ModelId{0};
    table.add(model, "sdxl");
    table.acquire(model);
    CHECK_FALSE(table.held(model));
    CHECK(table.held() == 0);
    table.acquire(model, true);
    table.acquire(model, true);
    CHECK(table.held(model));
    CHECK(table.held() == 1);
    table.release(model, true);
    CHECK(table.held() == 1);
    table.release(model, true);
    CHECK(table.held() == 0);
    CHECK_FALSE(table.erase_if_unused(model));
    table.release(model);
    CHECK(table.erase_if_unused(model));
}

TEST_CASE("the places of a model's holders are those of a map, whichever class comes and goes") {
    auto random = std::mt19937_64{support::seed()};
    for (auto round = 0; round < 50; ++round) {
        auto places = allot::HolderPlaces{};
        auto model = std::map<std::uint32_t, std::set<std::uint32_t>>{};
        for (auto step = 0; step < 200; ++step) {
            const auto node_class = static_cast<std::uint32_t>(random() % 12);
            auto& expected = model[node_class];
            if (const auto place = static_cast<std::uint32_t>(random() % 70); expected.erase(place) > 0) {
                places.made({node_class}, 7).free(place);
            } else {
                places.made({node_class}, 7).take(place);
                expected.insert(place);
            }
            if (expected.empty() || random() % 9 == 0) {
                places.erase({node_class});
                model.erase(node_class);
            }
            if (random() % 5 == 0) { places.trim(); }
            for (std::uint32_t c = 0; c < 12; ++c) {
                const auto* const found = places.find({c});
                REQUIRE((found != nullptr) == model.contains(c));
                for (std::uint32_t place = 0; found != nullptr && place < 70; ++place) {
                    REQUIRE(found->taken(place) == model[c].contains(place));
                }
            }
        }
    }
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <allot/store/handle_map.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

/// Keys are their own hashes here, kept in a vector by handle: the records of somebody else.
using Records = std::vector<std::uint64_t>;

auto find(const allot::HandleMap& map, const Records& records, std::uint64_t hash) {
    return map.find(hash, [&](std::uint32_t handle) { return records[handle] == hash; });
}

/// Inserts, finds and erases every hash, in different orders, and counts how often a record was asked.
auto asked_for_all(const Records& records, std::uint64_t seed) -> std::size_t {
    auto map = allot::HandleMap{};
    auto asked = std::size_t{0};
    const auto look = [&](std::uint64_t hash) {
        return map.find(hash, [&](std::uint32_t handle) {
            ++asked;
            return records[handle] == hash;
        });
    };
    auto order = std::vector<std::uint32_t>{};
    for (std::uint32_t handle = 0; handle < records.size(); ++handle) {
        REQUIRE_FALSE(look(records[handle]).has_value());
        map.insert(records[handle], handle);
        order.push_back(handle);
    }
    REQUIRE(map.size() == records.size());
    for (std::uint32_t handle = 0; handle < records.size(); ++handle) { REQUIRE(look(records[handle]) == handle); }
    auto random = std::mt19937_64{seed};
    for (auto i = order.size(); i > 1; --i) { std::swap(order[i - 1], order[random() % i]); }
    for (std::size_t i = 0; i < order.size(); ++i) {
        REQUIRE(map.erase(records[order[i]], order[i]));
        REQUIRE_FALSE(map.erase(records[order[i]], order[i]));
        if (i + 1 < order.size()) { REQUIRE(look(records[order[i + 1]]) == order[i + 1]); }
    }
    REQUIRE(map.empty());
    return asked;
}

}  // namespace

TEST_CASE("an empty handle map finds and erases nothing") {
    auto map = allot::HandleMap{};
    CHECK(map.empty());
    CHECK(map.size() == 0);
    CHECK_FALSE(map.find(7, [](std::uint32_t) { return true; }).has_value());
    CHECK_FALSE(map.erase(7, 0));
    map.reserve(0);
    CHECK_FALSE(map.find(7, [](std::uint32_t) { return true; }).has_value());
}

TEST_CASE("one entry is found, and only by its hash and by its handle erased") {
    auto map = allot::HandleMap{};
    const auto hash = std::uint64_t{0x1234'5678'9ABC'DEF0};
    map.insert(hash, 4);
    CHECK(map.find(hash, [](std::uint32_t handle) { return handle == 4; }) == 4U);
    CHECK_FALSE(map.find(hash, [](std::uint32_t) { return false; }).has_value());
    CHECK_FALSE(map.find(~hash, [](std::uint32_t) { return true; }).has_value());
    CHECK_FALSE(map.erase(hash, 5));
    CHECK_FALSE(map.erase(~hash, 4));
    CHECK(map.erase(hash, 4));
    CHECK(map.empty());
}

TEST_CASE("the greatest and the least hash and the greatest handle are ordinary entries") {
    auto map = allot::HandleMap{};
    map.insert(0, 0);
    map.insert(~std::uint64_t{0}, allot::HandleMap::handle_limit - 1);
    CHECK(map.find(0, [](std::uint32_t) { return true; }) == 0U);
    CHECK(map.find(~std::uint64_t{0}, [](std::uint32_t) { return true; }) == allot::HandleMap::handle_limit - 1);
}

TEST_CASE("70,000 random ids are found, each by asking hardly more than one record") {
    auto random = std::mt19937_64{support::seed()};
    auto records = Records{};
    for (auto i = 0; i < 70'000; ++i) { records.push_back(random()); }
    CHECK(asked_for_all(records, support::seed()) < 140'000 + 100);
}

TEST_CASE("30,000 ids with equal low halves of the hash cost no more than random ones") {
    auto random = std::mt19937_64{support::seed()};
    auto records = Records{};
    for (std::uint64_t i = 0; i < 30'000; ++i) {
        const auto high = (random() << 15 & 0xFFFF'8000) | i;  // random, and yet no two alike
        records.push_back(high << 32 | 0xC0FFEE);
    }
    CHECK(asked_for_all(records, support::seed()) < 60'000 + 100);
}

TEST_CASE("equal hashes are slow but right, also where the table wraps round") {
    const auto top = GENERATE(std::uint64_t{0}, std::uint64_t{0x7FFF'FFFF}, std::uint64_t{0xFFFF'FFFF});
    auto records = Records{};
    for (std::uint64_t i = 0; i < 300; ++i) { records.push_back(top << 32 | i); }
    CHECK(asked_for_all(records, support::seed()) > 0);
}

TEST_CASE("a handle map does what a std::map does") {
    // Few distinct high halves make runs of equal stored hashes; with the highest ones, the runs wrap round.
    const auto base = GENERATE(std::uint64_t{0}, std::uint64_t{0xFFFF'FFF0});
    support::check_histories({3, 60, 1}, [base](const support::History& history) {
        auto map = allot::HandleMap{};
        auto model = std::map<std::uint64_t, std::uint32_t>{};
        auto records = Records{};
        for (const auto& step : history) {
            // Spread half of the keys over the table; the others crowd.
            const auto spread = std::uint64_t{step.subject} * 71'582'788;
            const auto high = step.subject % 2 == 0 ? base + step.subject % 16 : spread;
            const auto hash = (high & 0xFFFF'FFFF) << 32 | step.subject;
            const auto found = find(map, records, hash);
            const auto known = model.find(hash);
            if (found.has_value() != (known != model.end())) { return false; }
            if (found && *found != known->second) { return false; }
            if (step.verb != 0 && !found) {
                const auto handle = static_cast<std::uint32_t>(records.size());
                records.push_back(hash);
                map.insert(hash, handle);
                model.emplace(hash, handle);
            } else if (step.verb == 0 && found) {
                if (!map.erase(hash, *found)) { return false; }
                model.erase(known);
            }
            if (map.size() != model.size()) { return false; }
        }
        for (const auto& [hash, handle] : model) {
            if (find(map, records, hash) != handle) { return false; }
        }
        return true;
    });
}

TEST_CASE("room made in advance keeps every entry, and copies are independent") {
    auto records = Records{};
    auto map = allot::HandleMap{};
    auto random = std::mt19937_64{support::seed()};
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        records.push_back(random());
        map.insert(records[handle], handle);
    }
    map.reserve(10'000);
    map.reserve(10);
    const auto copy = map;
    for (std::uint32_t handle = 0; handle < 100; handle += 2) { map.erase(records[handle], handle); }
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        CHECK(find(copy, records, records[handle]) == handle);
        CHECK(find(map, records, records[handle]).has_value() == (handle % 2 == 1));
    }
}

TEST_CASE("a map that shrinks finds all that is left, while entries move and when they have moved") {
    auto random = std::mt19937_64{support::seed()};
    auto records = Records{};
    for (auto i = 0; i < 100'000; ++i) { records.push_back(random()); }
    auto map = allot::HandleMap{};
    for (std::uint32_t handle = 0; handle < records.size(); ++handle) { map.insert(records[handle], handle); }
    auto began = 0;
    for (std::uint32_t left = 100'000; left > 0; left /= 2) {
        for (auto waited = 0; map.falls(); ++waited) {
            map.shrink();
            began += waited == 0 ? 1 : 0;
            if (waited % 512 != 0) { continue; }
            for (std::uint32_t handle = 0; handle < left; ++handle) {
                REQUIRE(find(map, records, records[handle]) == handle);
            }
        }
        CHECK(map.size() == left);
        for (auto handle = left / 2; handle < left; ++handle) { REQUIRE(map.erase(records[handle], handle)); }
    }
    CHECK(began > 3);
}

TEST_CASE("a large map that grows and shrinks by steps does what a std::map does") {
    // Wide: random hashes. Narrow: all of them at home in the last hundredth of the table, where runs wrap round.
    const auto narrow = GENERATE(false, true);
    auto random = std::mt19937_64{support::seed()};
    auto map = allot::HandleMap{};
    auto model = std::vector<std::uint64_t>{};  // by handle
    const auto hash_of = [&] {
        const auto hash = random();
        return narrow && hash % 4 == 0 ? hash | std::uint64_t{0xFF80'0000} << 32 : hash;
    };
    const auto check_some = [&] {
        for (auto i = 0; i < 4 && !model.empty(); ++i) {
            const auto handle = static_cast<std::uint32_t>(random() % model.size());
            if (find(map, model, model[handle]) != handle || find(map, model, random())) { return false; }
        }
        return map.size() == model.size();
    };
    const auto handles = [&] { return static_cast<std::uint32_t>(model.size()); };
    auto moved = 0;
    for (auto wave = 0; wave < 6; ++wave) {
        const auto most = 4'000 + random() % 20'000;
        while (model.size() < most) {
            for (auto i = random() % 4; i < 3; ++i) {
                model.push_back(hash_of());
                map.insert(model.back(), handles() - 1);
            }
            if (random() % 4 == 0) {
                REQUIRE(map.erase(model.back(), handles() - 1));
                model.pop_back();
            }
            REQUIRE(check_some());
            if (random() % 1'000 == 0) { map = allot::HandleMap{map}; }
        }
        for (std::uint32_t handle = 0; handle < handles(); ++handle) {
            REQUIRE(find(map, model, model[handle]) == handle);
        }
        while (model.size() > most / 16) {
            REQUIRE(map.erase(model.back(), handles() - 1));
            model.pop_back();
            if (random() % 2 == 0) { map.shrink(); }
            moved += map.falls() ? 1 : 0;
            REQUIRE(check_some());
        }
        for (std::uint32_t handle = 0; handle < handles(); ++handle) {
            REQUIRE(find(map, model, model[handle]) == handle);
        }
    }
    CHECK(moved > 100);
}

TEST_CASE("a map that began to shrink and then grows has moved all entries before it is full") {
    // What `insert` does to the old array in one go cannot be seen from outside, but `reserve` begins the next growth:
    // then the first move must have ended, and with it the memory of the old array.
    const auto left = GENERATE(std::uint32_t{90'000}, std::uint32_t{40'000}, std::uint32_t{9'000}, std::uint32_t{10});
    auto random = std::mt19937_64{support::seed()};
    auto records = Records{};
    auto map = allot::HandleMap{};
    for (std::uint32_t handle = 0; handle < 200'000; ++handle) {
        records.push_back(random());
        map.insert(records[handle], handle);
    }
    while (map.falls()) { map.shrink(); }  // ends a growth
    while (map.size() > left) { REQUIRE(map.erase(records[map.size() - 1], map.size() - 1)); }
    records.resize(left);
    REQUIRE(map.falls());
    map.shrink();
    REQUIRE(map.falls());
    auto inserts = std::uint32_t{0};
    while (map.falls()) {  // entries move to the smaller array
        records.push_back(random());
        map.insert(records.back(), left + inserts++);
    }
    CHECK(inserts <= (left < 40'000 ? 200'000 / 7 : left / 8));
    for (std::uint32_t handle = 0; handle < map.size(); ++handle) {
        REQUIRE(find(map, records, records[handle]) == handle);
    }
}

TEST_CASE("however large a map was, one call moves few of its entries") {
    const auto size = GENERATE(std::uint32_t{50'000}, std::uint32_t{200'000}, std::uint32_t{800'000});
    auto random = std::mt19937_64{support::seed()};
    auto records = Records{};
    auto map = allot::HandleMap{};
    for (std::uint32_t handle = 0; handle < size; ++handle) {
        records.push_back(random());
        map.insert(records[handle], handle);
    }
    const auto left = size / 4;
    while (map.size() > left) { REQUIRE(map.erase(records[map.size() - 1], map.size() - 1)); }
    auto calls = std::uint32_t{0};
    for (; map.falls(); ++calls) { map.shrink(); }
    CAPTURE(size, calls);
    CHECK(calls >= size / 4'096);  // at most so many places each, and some more until a vacant one
    CHECK(calls <= size / 256);    // but it ends
}

TEST_CASE("a map that grows ends its move when it is asked, though no entry comes") {
    auto random = std::mt19937_64{support::seed()};
    auto map = allot::HandleMap{};
    auto hashes = std::vector<std::uint64_t>{};
    const auto insert = [&] {
        hashes.push_back(random());
        map.insert(hashes.back(), static_cast<std::uint32_t>(hashes.size() - 1));
    };
    while (hashes.size() < 50'000 || (!map.falls() && hashes.size() < 200'000)) { insert(); }
    REQUIRE(map.falls());
    auto times = 0;
    for (; map.falls(); ++times) { map.shrink(); }
    CHECK(times > 1);
    CHECK(times < 50);
    for (std::uint32_t handle = 0; handle < hashes.size(); ++handle) {
        REQUIRE(map.find(hashes[handle], [&](std::uint32_t h) { return h == handle; }) == handle);
    }
}

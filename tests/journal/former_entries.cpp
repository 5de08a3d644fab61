#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <allot/journal/former_entries.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace former_entries_test {

TEST_CASE("entries are kept under their numbers, whatever their sizes") {
    auto random = std::mt19937_64{support::seed()};
    auto entries = allot::FormerEntries{};
    auto kept = std::map<std::uint32_t, std::vector<std::uint8_t>>{};
    for (auto i = 0; i < 3'000; ++i) {
        const auto number = static_cast<std::uint32_t>(random() % (i % 50 == 0 ? 1'000'000 : 2'000));
        REQUIRE(entries.has(number) == kept.contains(number));
        if (kept.contains(number)) { continue; }
        const auto size = i % 500 == 0 ? std::size_t{300'000} : static_cast<std::size_t>(random() % 400);
        const auto entry = std::vector<std::uint8_t>(size, static_cast<std::uint8_t>(random()));
        entries.keep(number, entry);
        kept.emplace(number, entry);
    }
    for (const auto& [number, entry] : kept) {
        REQUIRE(entries.has(number));
        const auto bytes = entries.entry(number);
        REQUIRE(std::vector<std::uint8_t>{bytes.begin(), bytes.end()} == entry);
    }
    CHECK_FALSE(allot::FormerEntries{}.has(0));
}

TEST_CASE("an entry that was not there is kept without bytes") {
    auto entries = allot::FormerEntries{};
    entries.keep(7, {});
    CHECK(entries.has(7));
    CHECK(entries.entry(7).empty());
    CHECK_FALSE(entries.has(6));
}

}  // namespace former_entries_test

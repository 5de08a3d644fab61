#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/list.hpp>

#include "support/catch.hpp"

namespace {

using Words = allot::List<std::string>;

/// Counts those alive, and throws when one more is copied than allowed.
struct Fragile {
    static inline int alive = 0;
    static inline int copies_left = 0;

    Fragile() { ++alive; }
    Fragile(const Fragile&) {
        if (copies_left-- == 0) { throw std::runtime_error{"no copy"}; }
        ++alive;
    }
    Fragile(Fragile&&) noexcept { ++alive; }
    auto operator=(const Fragile&) -> Fragile& = default;
    auto operator=(Fragile&&) noexcept -> Fragile& = default;
    ~Fragile() { --alive; }
};

}  // namespace

TEST_CASE("an empty list is one pointer, and is empty in every way") {
    CHECK(sizeof(Words) == sizeof(void*));
    auto words = Words{};
    CHECK(words.empty());
    CHECK(words.size() == 0);
    CHECK(words.capacity() == 0);
    CHECK(words.begin() == words.end());
    words.clear();
    words.erase(words.begin(), words.end());
    CHECK(words == Words{});
    CHECK(Words(words).data() == nullptr);
    CHECK(allot::span_of(words).empty());
}

TEST_CASE("a list does what a vector does") {
    auto list = Words{};
    auto vector = std::vector<std::string>{};
    auto dice = std::uint32_t{2'463'534'242};
    const auto below = [&](std::size_t n) {
        dice ^= dice << 13U;
        dice ^= dice >> 17U;
        dice ^= dice << 5U;
        return static_cast<std::ptrdiff_t>(dice % n);
    };
    for (auto i = 0; i < 5'000; ++i) {
        const auto word = std::string(static_cast<std::size_t>(below(40)), 'x') + std::to_string(i);
        switch (below(7)) {
            case 0:
            case 1:
                list.push_back(word);
                vector.push_back(word);
                break;
            case 2: {
                const auto at = below(vector.size() + 1);
                CHECK(*list.insert(list.begin() + at, word) == word);
                vector.insert(vector.begin() + at, word);
                break;
            }
            case 3:
                if (!vector.empty()) {
                    const auto at = below(vector.size());
                    CHECK(list.erase(list.begin() + at) == list.begin() + at);
                    vector.erase(vector.begin() + at);
                }
                break;
            case 4: {
                const auto first = below(vector.size() + 1);
                const auto last = first + below(std::min<std::size_t>(3, vector.size() + 1 - std::size_t(first)));
                list.erase(list.begin() + first, list.begin() + last);
                vector.erase(vector.begin() + first, vector.begin() + last);
                break;
            }
            case 5: list = Words{list}; break;
            default: list = std::exchange(list, {}); break;
        }
        REQUIRE(std::equal(list.begin(), list.end(), vector.begin(), vector.end()));
    }
    CHECK(list.front() == vector.front());
    CHECK(list.back() == vector.back());
    list.assign(vector.begin() + 1, vector.end());
    CHECK(list.size() == vector.size() - 1);
    CHECK_FALSE(list == Words{"a"});
    list.clear();
    CHECK(list == Words{});
}

TEST_CASE("a list may add one of its own elements while it grows") {
    auto words = Words{"a word that has memory of its own", "b"};
    for (auto i = 0; i < 100; ++i) { words.push_back(words.front()); }
    CHECK(words.size() == 102);
    CHECK(words.back() == "a word that has memory of its own");
}

TEST_CASE("a copy that throws leaves nothing behind and changes nothing") {
    {
        auto list = allot::List<Fragile>(5);
        CHECK(Fragile::alive == 5);
        Fragile::copies_left = 3;
        CHECK_THROWS_AS(allot::List<Fragile>(list), std::runtime_error);
        CHECK(Fragile::alive == 5);
        Fragile::copies_left = 3;
        CHECK_THROWS_AS(list.assign(list.begin(), list.end()), std::runtime_error);
        CHECK(list.size() == 5);
        Fragile::copies_left = 0;
        CHECK_THROWS_AS(list.push_back(list.front()), std::runtime_error);
        CHECK(list.size() == 5);
        CHECK(Fragile::alive == 5);
    }
    CHECK(Fragile::alive == 0);
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <allot/queue/entry_tree.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

using allot::EntryTree;
using allot::QueueEntry;
using allot::u128;

namespace {

struct InOrder {
    auto operator()(const QueueEntry& a, const QueueEntry& b) const -> bool {
        return a.group == b.group ? allot::goes_before(a, b) : a.group < b.group;
    }
};
using Model = std::set<QueueEntry, InOrder>;

/// What new entries are like: values and groups at random, few of both, or in ascending or descending order.
enum class Kind { spread, crowded, equal, ascending, descending };

auto entry_of(Kind kind, std::mt19937_64& random, std::uint32_t number) -> QueueEntry {
    const auto group = [&](std::uint32_t groups) {
        return allot::RequirementId{static_cast<std::uint32_t>(random() % groups)};
    };
    switch (kind) {
        case Kind::spread: return {{number}, group(30), {random() >> 20, 1 + random() % 1'000}, number};
        case Kind::crowded: return {{number}, group(3), {random() % 5, 1 + random() % 2}, number};
        case Kind::equal: return {{number}, group(2), {7}, number};
        case Kind::ascending: return {{number}, {0}, {number}, number};
        case Kind::descending: return {{number}, {0}, {1'000'000 - number}, number};
    }
    return {};
}

auto all_of(const EntryTree& tree, const QueueEntry& from) {
    auto entries = std::vector<QueueEntry>{};
    auto walk = EntryTree::Walk{tree, from};
    do { entries.push_back(walk.entry()); } while (walk.next());
    return entries;
}

auto same(const EntryTree& tree, const Model& model) -> bool {
    if (tree.size() != model.size()) { return false; }
    if (model.empty()) { return true; }
    const auto entries = all_of(tree, *model.begin());
    return std::equal(entries.begin(), entries.end(), model.begin(), model.end());
}

/// Any entry of the model, in O(log n).
auto any_of(const Model& model, std::mt19937_64& random, Kind kind) -> QueueEntry {
    const auto at = model.lower_bound(entry_of(kind, random, static_cast<std::uint32_t>(random() % 60'000)));
    return at == model.end() ? *model.begin() : *at;
}

}  // namespace

TEST_CASE("an entry tree does what a std::set does, while it grows and falls") {
    const auto kind = GENERATE(Kind::spread, Kind::crowded, Kind::equal, Kind::ascending, Kind::descending);
    CAPTURE(static_cast<int>(kind));
    auto random = std::mt19937_64{support::seed()};
    auto tree = EntryTree{};
    auto model = Model{};
    auto number = std::uint32_t{0};
    const auto erase = [&] {
        const auto from = random() % 4;
        const auto entry = from == 0   ? *model.begin()
                           : from == 1 ? *std::prev(model.end())
                                       : any_of(model, random, kind);
        const auto behind = model.erase(model.find(entry));
        const auto erased = tree.erase(entry);
        REQUIRE(erased.found);
        if (erased.next != nullptr) { REQUIRE(*erased.next == *behind); }
        if (erased.former != nullptr) { REQUIRE(*erased.former == *std::prev(behind)); }
        if (behind != model.end()) { REQUIRE(tree.first_from(entry) == *behind); }
        if (behind != model.begin()) { REQUIRE(tree.last_before(entry) == *std::prev(behind)); }
        REQUIRE_FALSE(tree.erase(entry).found);
        REQUIRE_FALSE(tree.contains(entry));
    };
    for (const auto& [most, least] : {std::pair{200U, 0U}, {9'000U, 300U}, {6'000U, 0U}}) {
        while (model.size() < most) {
            const auto entry = entry_of(kind, random, number++);
            tree.push(entry);
            model.insert(entry);
            REQUIRE(tree.contains(entry));
            if (random() % 4 == 0) { erase(); }
        }
        REQUIRE(same(tree, model));
        while (model.size() > least) {
            erase();
            if (random() % 64 == 0) { tree.trim(); }
            if (model.size() % 1'024 == 0) { REQUIRE(same(tree, model)); }
        }
        REQUIRE(same(tree, model));
    }
    CHECK(tree.size() == 0);
}

TEST_CASE("a walk begins at any entry, in leaves that are sorted and in others") {
    auto random = std::mt19937_64{support::seed()};
    auto tree = EntryTree{};
    auto model = Model{};
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        const auto entry = entry_of(Kind::spread, random, i);
        tree.push(entry);
        model.insert(entry);
        if (i % 100 == 0) { CHECK(tree.first_from(*model.begin()) == *model.begin()); }
    }
    for (auto at = model.begin(); at != model.end();
         std::advance(at, std::min(std::ptrdiff_t{97}, std::distance(at, model.end())))) {
        const auto entries = all_of(tree, *at);
        REQUIRE(std::equal(entries.begin(), entries.end(), at, model.end()));
    }
}

TEST_CASE("a tree of which a few entries are left gives its room back, and keeps them") {
    auto random = std::mt19937_64{support::seed()};
    auto tree = EntryTree{};
    auto model = Model{};
    for (std::uint32_t round = 0; round < 4; ++round) {  // later ones come between those that are left
        for (std::uint32_t i = 0; i < 60'000; ++i) {
            const auto entry = entry_of(Kind::spread, random, round * 90'000 + i);
            tree.push(entry);
            model.insert(entry);
        }
        CHECK_FALSE(tree.falls());
        for (std::uint32_t i = 0; i < 10'000; ++i) {  // leaves become empty, and others get entries from before them
            const auto first = *model.lower_bound({{}, {static_cast<std::uint32_t>(random() % 30)}, {~u128{}}, 0});
            model.erase(first);
            REQUIRE(tree.erase(first).found);
            if (random() % 8 != 0) { continue; }
            const auto entry = entry_of(Kind::spread, random, round * 90'000 + 60'000 + i);
            tree.push(entry);
            model.insert(entry);
        }
        while (model.size() > 600) {
            const auto entry = any_of(model, random, Kind::spread);
            model.erase(entry);
            REQUIRE(tree.erase(entry).found);
        }
        CHECK(tree.falls());
        const auto copy = tree;
        auto calls = 0;
        for (; tree.falls() && calls < 1'000; ++calls) {
            tree.trim();
            REQUIRE(same(tree, model));
        }
        CHECK(calls < 100);
        CHECK(same(copy, model));
    }
}

TEST_CASE("blocks above the leaves that lost their first one are joined where they begin") {
    // Tasks of one value fill leaves of 64, the first 32 of them below one block, the next 32 below another.
    auto tree = EntryTree{};
    auto model = Model{};
    const auto entry = [](std::uint32_t i) { return QueueEntry{{i}, {0}, {7}, i}; };
    const auto push = [&](std::uint32_t i) {
        tree.push(entry(i));
        model.insert(entry(i));
    };
    const auto erase = [&](std::uint32_t first, std::uint32_t end) {
        for (auto i = first; i < end; ++i) {
            REQUIRE(tree.erase(entry(i)).found);
            model.erase(entry(i));
        }
    };
    for (std::uint32_t i = 0; i < 64 * 100; ++i) { push(i); }
    erase(32 * 64, 33 * 64);  // the first leaf of the second block
    push(32 * 64 + 5);
    erase(41 * 64, 64 * 64);
    erase(0, 22 * 64);  // now half of a block holds both
    CHECK(tree.contains(entry(32 * 64 + 5)));
    CHECK(same(tree, model));
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <allot/queue/interval_heap.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

struct Entry {
    std::uint32_t score = 0;
    std::uint32_t name = 0;

    friend auto operator==(const Entry&, const Entry&) noexcept -> bool = default;
};
auto before(const Entry& a, const Entry& b) noexcept -> bool {
    return a.score != b.score ? a.score > b.score : a.name < b.name;
}

/// A heap and, beside it, where it says that each name stands and a sorted list of what it should hold.
struct Both {
    allot::IntervalHeap<Entry, before> heap;
    std::vector<std::uint32_t> places;
    std::vector<Entry> sorted;

    auto note() {
        return [this](const Entry& entry, std::uint32_t place) {
            places.resize(std::max(places.size(), std::size_t{entry.name} + 1));
            places[entry.name] = place;
        };
    }
    void push(const Entry& entry) {
        heap.push(entry, note());
        sorted.insert(std::lower_bound(sorted.begin(), sorted.end(), entry, before), entry);
    }
    void erase(std::size_t rank) {
        heap.erase(places[sorted[rank].name], note());
        sorted.erase(sorted.begin() + static_cast<std::ptrdiff_t>(rank));
    }
    void check() const {
        REQUIRE(heap.size() == sorted.size());
        if (!sorted.empty()) {
            REQUIRE(heap.first() == sorted.front());
            REQUIRE(heap.last() == sorted.back());
        }
        for (const auto& entry : sorted) { REQUIRE(heap[places[entry.name]] == entry); }
    }
    /// All entries, by the walk that starts at the roots.
    auto walked() const -> std::vector<Entry> {
        auto met = std::vector<std::uint32_t>{};
        auto all = std::vector<Entry>{};
        const auto meet = [&](std::uint32_t place) { met.push_back(place); };
        heap.for_roots(meet);
        while (!met.empty()) {
            const auto sooner = [&](std::uint32_t a, std::uint32_t b) { return before(heap[a], heap[b]); };
            const auto first = std::min_element(met.begin(), met.end(), sooner);
            const auto place = *first;
            met.erase(first);
            all.push_back(heap[place]);
            heap.for_next(place, meet);
        }
        return all;
    }
};

}  // namespace

TEST_CASE("an interval heap has both ends at hand, whatever comes and goes") {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (const auto most : {1U, 2U, 3U, 8U, 9U, 10U, 40U, 300U}) {
        auto both = Both{};
        auto name = std::uint32_t{0};
        for (auto step = 0; step < 1'500; ++step) {
            if (both.sorted.empty() || (both.sorted.size() < most && below(2) == 0)) {
                both.push({static_cast<std::uint32_t>(below(60)), name++});
            } else {
                const auto size = both.sorted.size();
                const auto ranks = {below(size), std::size_t{0}, size - 1};
                both.erase(*(ranks.begin() + below(3)));
            }
            both.check();
        }
    }
}

TEST_CASE("an interval heap is walked in order from its roots") {
    auto random = std::mt19937_64{support::seed()};
    auto both = Both{};
    CHECK(both.walked().empty());
    for (std::uint32_t name = 0; name < 150; ++name) {
        both.push({static_cast<std::uint32_t>(random() % 100), name});
        REQUIRE(both.walked() == both.sorted);
    }
    while (!both.sorted.empty()) {
        both.erase(static_cast<std::size_t>(random() % both.sorted.size()));
        REQUIRE(both.walked() == both.sorted);
    }
}

TEST_CASE("a copy of an interval heap goes its own way") {
    auto heap = allot::IntervalHeap<Entry, before>{};
    const auto ignore = [](const Entry&, std::uint32_t) {};
    heap.push({5, 0}, ignore);
    auto copy = heap;
    copy.push({9, 1}, ignore);
    CHECK(heap.first() == Entry{5, 0});
    CHECK(copy.first() == Entry{9, 1});
    CHECK(copy.last() == Entry{5, 0});
}

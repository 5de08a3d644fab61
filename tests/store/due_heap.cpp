#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/store/due_heap.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

using allot::Due;
using Heap = allot::DueHeap<3>;

/// What an owner's ids would say: an order that is neither that of the kinds nor that of the handles.
auto rank(const Due& due) -> std::uint32_t { return (due.handle * 2'654'435'761U) ^ (due.kind * 0x9E37'79B9U); }

const auto ties = [](const Due& a, const Due& b) { return rank(a) < rank(b); };

/// The same contents and the same order, kept by the standard library.
struct Model {
    using Key = std::tuple<std::int64_t, std::uint32_t, std::uint8_t, std::uint32_t>;

    auto erase(std::uint8_t kind, std::uint32_t handle) -> bool {
        const auto found = times.find({kind, handle});
        if (found == times.end()) { return false; }
        order.erase(key({found->second, kind, handle}));
        times.erase(found);
        return true;
    }

    auto set(const Due& due) -> void {
        erase(due.kind, due.handle);
        order.insert(key(due));
        times[{due.kind, due.handle}] = due.time;
    }

    [[nodiscard]] auto top() const -> Due {
        return {std::get<0>(*order.begin()), std::get<2>(*order.begin()), std::get<3>(*order.begin())};
    }

    static auto key(const Due& due) -> Key { return {due.time, rank(due), due.kind, due.handle}; }

    std::set<Key> order;
    std::map<std::pair<std::uint8_t, std::uint32_t>, std::int64_t> times;
};

auto same_first(const Heap& heap, const Model& model) -> bool {
    if (heap.size() != model.order.size() || heap.empty() != model.order.empty()) { return false; }
    return model.order.empty() ? heap.top() == nullptr : *heap.top() == model.top();
}

/// Takes a copy of the heap apart and compares the whole order.
auto same_order(Heap heap, Model model) -> bool {
    while (same_first(heap, model)) {
        if (heap.empty()) { return true; }
        const auto due = *heap.top();
        heap.erase(due.kind, due.handle, ties);
        model.erase(due.kind, due.handle);
    }
    return false;
}

auto restore(Heap& heap, std::uint8_t kind, std::uint32_t handle, const Due* before) -> void {
    if (before != nullptr) {
        heap.set(*before, ties);
    } else {
        heap.erase(kind, handle, ties);
    }
}

}  // namespace

TEST_CASE("nothing is due in an empty heap") {
    auto heap = Heap{};
    CHECK(heap.empty());
    CHECK(heap.size() == 0);
    CHECK(heap.top() == nullptr);
    CHECK_FALSE(heap.contains(0, 0));
    CHECK_FALSE(heap.contains(9, 0));
    CHECK(heap.find(2, 70'000) == nullptr);
    CHECK_FALSE(heap.erase(1, 3, ties));
    CHECK_FALSE(heap.erase(9, 3, ties));
    CHECK(heap == Heap{});
}

TEST_CASE("one entry is due, can be moved, and leaves") {
    auto heap = Heap{};
    heap.set({5, 2, 7}, ties);
    CHECK(*heap.top() == Due{5, 2, 7});
    CHECK(heap.contains(2, 7));
    CHECK_FALSE(heap.contains(1, 7));
    CHECK_FALSE(heap.contains(2, 6));
    heap.set({-3, 2, 7}, ties);
    CHECK(heap.size() == 1);
    CHECK(*heap.top() == Due{-3, 2, 7});
    CHECK(heap.erase(2, 7, ties));
    CHECK_FALSE(heap.erase(2, 7, ties));
    CHECK(heap.top() == nullptr);
}

TEST_CASE("the ends of time come in order") {
    auto heap = Heap{};
    heap.set({INT64_MAX, 0, 1}, ties);
    heap.set({0, 0, 2}, ties);
    heap.set({INT64_MIN, 0, 3}, ties);
    CHECK(heap.top()->handle == 3);
    heap.erase(0, 3, ties);
    CHECK(heap.top()->handle == 2);
    heap.erase(0, 2, ties);
    CHECK(heap.top()->handle == 1);
}

TEST_CASE("equal times come in the order of the ties, and the ties decide nothing else") {
    auto heap = Heap{};
    auto model = Model{};
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        for (std::uint8_t kind = 0; kind < 3; ++kind) {
            heap.set({4, kind, handle}, ties);
            model.set({4, kind, handle});
        }
    }
    CHECK(same_order(heap, model));

    auto spread = Heap{};
    const auto never = [](const Due&, const Due&) -> bool {
        FAIL("these times differ");
        return false;
    };
    for (std::uint32_t handle = 0; handle < 100; ++handle) { spread.set({-std::int64_t{handle}, 0, handle}, never); }
    for (std::uint32_t handle = 100; handle-- > 0;) {
        CHECK(spread.top()->handle == handle);
        spread.erase(0, handle, never);
    }
}

TEST_CASE("a due heap does what a std::set does") {
    // Few times mean many ties.
    const auto times = GENERATE(4U, 1'000U);
    support::check_histories({9, 25, 1'000}, [times](const support::History& history) {
        auto heap = Heap{};
        auto model = Model{};
        for (const auto& step : history) {
            const auto kind = static_cast<std::uint8_t>(step.verb % 3);
            if (step.verb < 3) {
                if (heap.erase(kind, step.subject, ties) != model.erase(kind, step.subject)) { return false; }
            } else {
                const auto due = Due{std::int64_t{step.value % times} - 2, kind, step.subject};
                heap.set(due, ties);
                model.set(due);
                const auto* const found = heap.find(kind, step.subject);
                if (found == nullptr || !(*found == due)) { return false; }
            }
            if (!same_first(heap, model)) { return false; }
        }
        return same_order(heap, model);
    });
}

TEST_CASE("70,000 entries that are moved and erased come out in order") {
    auto heap = Heap{};
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    for (std::uint32_t i = 0; i < 140'000; ++i) {
        const auto handle = i < 70'000 ? i : static_cast<std::uint32_t>(random() % 70'000);
        if (i % 5 == 4) {
            REQUIRE(heap.erase(1, handle, ties) == model.erase(1, handle));
        } else {
            const auto due = Due{static_cast<std::int64_t>(random() % 20'000), 1, handle};
            heap.set(due, ties);
            model.set(due);
        }
        REQUIRE(same_first(heap, model));
    }
    CHECK(same_order(heap, model));
}

TEST_CASE("undoing a history backwards gives an equal heap with the same order") {
    auto heap = Heap{};
    auto random = std::mt19937_64{support::seed()};
    const auto any = [&random] {
        return Due{static_cast<std::int64_t>(random() % 50), static_cast<std::uint8_t>(random() % 3),
                   static_cast<std::uint32_t>(random() % 200)};
    };
    for (auto i = 0; i < 300; ++i) { heap.set(any(), ties); }
    const auto before = heap;
    auto done = std::vector<std::pair<Due, bool>>{};
    for (auto i = 0; i < 2'000; ++i) {
        const auto due = any();
        const auto* const old = heap.find(due.kind, due.handle);
        done.emplace_back(old != nullptr ? *old : due, old != nullptr);
        if (i % 3 == 0) {
            heap.erase(due.kind, due.handle, ties);
        } else {
            heap.set(due, ties);
        }
    }
    CHECK_FALSE(heap == before);
    for (; !done.empty(); done.pop_back()) {
        const auto [due, there] = done.back();
        restore(heap, due.kind, due.handle, there ? &due : nullptr);
    }
    CHECK(heap == before);
    auto rest = before;
    while (rest.top() != nullptr) {
        const auto due = *rest.top();
        REQUIRE(*heap.top() == due);
        heap.erase(due.kind, due.handle, ties);
        rest.erase(due.kind, due.handle, ties);
    }
    CHECK(heap.empty());
}

TEST_CASE("heaps filled in opposite orders are equal, and one other time makes them differ") {
    auto a = Heap{};
    auto b = Heap{};
    for (std::uint32_t i = 0; i < 100; ++i) {
        a.set({std::int64_t{i % 7}, 0, i}, ties);
        b.set({std::int64_t{(99 - i) % 7}, 0, 99 - i}, ties);
    }
    CHECK(a == b);
    b.set({7, 0, 50}, ties);
    CHECK_FALSE(a == b);
    b.erase(0, 50, ties);
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
    b.set({50 % 7, 1, 50}, ties);
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
}

TEST_CASE("entries are listed by kind and handle, whatever their times") {
    auto heap = Heap{};
    heap.set({1, 2, 0}, ties);
    heap.set({3, 0, 9}, ties);
    heap.set({2, 0, 4}, ties);
    auto listed = std::vector<Due>{};
    heap.for_each([&listed](const Due& due) { listed.push_back(due); });
    CHECK(listed == std::vector<Due>{{2, 0, 4}, {3, 0, 9}, {1, 2, 0}});
}

TEST_CASE("a heap may be set from its own first entry") {
    auto heap = Heap{};
    for (std::uint32_t i = 0; i < 20; ++i) { heap.set({std::int64_t{i}, 0, i}, ties); }
    heap.set(*heap.top(), ties);
    CHECK(*heap.top() == Due{0, 0, 0});
    CHECK(heap.size() == 20);
}

TEST_CASE("the entry that is due after the first is one of four") {
    auto heap = Heap{};
    CHECK(heap.after_top().empty());
    heap.set({0, 0, 0}, ties);
    CHECK(heap.after_top().empty());
    for (std::uint32_t i = 1; i < 200; ++i) {
        heap.set({std::int64_t{i / 7}, 0, i}, ties);
        CHECK(heap.after_top().size() == std::min(i, 4U));
    }
    while (heap.size() > 1) {
        const auto next = std::vector<Due>{heap.after_top().begin(), heap.after_top().end()};
        heap.erase(heap.top()->kind, heap.top()->handle, ties);
        REQUIRE(std::count(next.begin(), next.end(), *heap.top()) == 1);
    }
}

TEST_CASE("an order that prefetches is asked about the siblings of equal times alone") {
    struct Order {
        std::uint32_t& asked;
        auto operator()(const Due& a, const Due& b) const -> bool { return ties(a, b); }
        void fetch(const Due&) const { ++asked; }
    };
    auto asked = std::uint32_t{0};
    auto heap = Heap{};
    auto same = Heap{};
    for (std::uint32_t i = 0; i < 100; ++i) {
        heap.set({i < 50 ? std::int64_t{i} : 99, 0, i}, Order{asked});
        same.set({i < 50 ? std::int64_t{i} : 99, 0, i}, ties);
    }
    while (heap.top() != nullptr) {
        REQUIRE(*heap.top() == *same.top());
        if (heap.size() == 90) { CHECK(asked < 200); }
        heap.erase(0, heap.top()->handle, Order{asked});
        same.erase(0, same.top()->handle, ties);
    }
    CHECK(asked > 200);
}

TEST_CASE("a heap takes up to 256 kinds") {
    auto heap = allot::DueHeap<256>{};
    heap.set({1, 255, 3}, ties);
    CHECK(heap.contains(255, 3));
    CHECK(heap.erase(255, 3, ties));
}

TEST_CASE("room given back changes no entry, and is taken again") {
    auto heap = Heap{};
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        heap.set({std::int64_t{i}, static_cast<std::uint8_t>(i % 2), i}, ties);
    }
    for (std::uint32_t i = 100; i < 10'000; ++i) { REQUIRE(heap.erase(static_cast<std::uint8_t>(i % 2), i, ties)); }
    const auto before = heap;
    heap.trim(0, 100);
    heap.trim(1, 100);
    CHECK(heap == before);
    CHECK(heap.find(0, 98)->time == 98);
    CHECK_FALSE(heap.contains(0, 9'998));
    CHECK_FALSE(heap.erase(1, 9'999, ties));
    heap.set({-1, 1, 9'999}, ties);
    CHECK(*heap.top() == Due{-1, 1, 9'999});
}

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/store/due_tree.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

using allot::Due;
using Tree = allot::DueTree<3>;

/// What an owner's ids would say: an order that is neither that of the kinds nor that of the handles.
auto rank(const Due& due) -> std::uint32_t { return (due.handle * 2'654'435'761U) ^ (due.kind * 0x9E37'79B9U); }

/// With hints of which four in seven entries of a line have no own one.
struct Ties {
    auto operator()(const Due& a, const Due& b) const -> bool { return rank(a) < rank(b); }
    [[nodiscard]] auto hint(const Due& due) const -> std::uint8_t { return static_cast<std::uint8_t>(rank(due) >> 30); }
};
const auto ties = Ties{};

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

auto same_first(const Tree& tree, const Model& model) -> bool {
    if (tree.size() != model.order.size() || tree.empty() != model.order.empty()) { return false; }
    return model.order.empty() ? tree.top() == nullptr : *tree.top() == model.top();
}

/// Takes a copy of the tree apart and compares the whole order.
auto same_order(Tree tree, Model model) -> bool {
    while (same_first(tree, model)) {
        if (tree.empty()) { return true; }
        const auto due = *tree.top();
        tree.erase(due.kind, due.handle, ties);
        model.erase(due.kind, due.handle);
    }
    return false;
}

auto restore(Tree& tree, std::uint8_t kind, std::uint32_t handle, const Due* before) -> void {
    if (before != nullptr) {
        tree.set(*before, ties);
    } else {
        tree.erase(kind, handle, ties);
    }
}

}  // namespace

TEST_CASE("nothing is due in an empty tree") {
    auto tree = Tree{};
    CHECK(tree.empty());
    CHECK(tree.size() == 0);
    CHECK(tree.top() == nullptr);
    CHECK_FALSE(tree.contains(0, 0));
    CHECK_FALSE(tree.contains(9, 0));
    CHECK(tree.find(2, 70'000) == std::nullopt);
    CHECK_FALSE(tree.erase(1, 3, ties));
    CHECK_FALSE(tree.erase(9, 3, ties));
    CHECK(tree == Tree{});
}

TEST_CASE("one entry is due, can be moved, and leaves") {
    auto tree = Tree{};
    tree.set({5, 2, 7}, ties);
    CHECK(*tree.top() == Due{5, 2, 7});
    CHECK(tree.contains(2, 7));
    CHECK_FALSE(tree.contains(1, 7));
    CHECK_FALSE(tree.contains(2, 6));
    tree.set({-3, 2, 7}, ties);
    CHECK(tree.size() == 1);
    CHECK(*tree.top() == Due{-3, 2, 7});
    CHECK(tree.erase(2, 7, ties));
    CHECK_FALSE(tree.erase(2, 7, ties));
    CHECK(tree.top() == nullptr);
}

TEST_CASE("the ends of time come in order") {
    auto tree = Tree{};
    tree.set({INT64_MAX - 1, 0, 1}, ties);
    tree.set({0, 0, 2}, ties);
    tree.set({INT64_MIN, 0, 3}, ties);
    CHECK(tree.top()->handle == 3);
    tree.erase(0, 3, ties);
    CHECK(tree.top()->handle == 2);
    tree.erase(0, 2, ties);
    CHECK(tree.top()->handle == 1);
}

TEST_CASE("equal times come in the order of the ties, and the ties decide nothing else") {
    auto tree = Tree{};
    auto model = Model{};
    for (std::uint32_t handle = 0; handle < 100; ++handle) {
        for (std::uint8_t kind = 0; kind < 3; ++kind) {
            tree.set({4, kind, handle}, ties);
            model.set({4, kind, handle});
        }
    }
    CHECK(same_order(tree, model));

    auto spread = Tree{};
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

TEST_CASE("ties are asked only of entries with one hint") {
    struct Asked : Ties {
        auto operator()(const Due& a, const Due& b) const -> bool {
            REQUIRE(hint(a) == hint(b));
            return Ties::operator()(a, b);
        }
    };
    auto tree = Tree{};
    auto model = Model{};
    for (std::uint32_t handle = 0; handle < 2'000; ++handle) {
        tree.set({4, 1, handle}, Asked{});
        model.set({4, 1, handle});
    }
    while (!tree.empty()) {
        REQUIRE(same_first(tree, model));
        const auto first = *tree.top();
        tree.erase(1, first.handle, Asked{});
        model.erase(1, first.handle);
    }
}

namespace {

/// True if the tree does what the model does in a history, whose values stand for times.
template <class TimeOf>
auto does_the_same(const support::History& history, const TimeOf& time_of) -> bool {
    auto tree = Tree{};
    auto model = Model{};
    for (const auto& step : history) {
        const auto kind = static_cast<std::uint8_t>(step.verb % 3);
        if (step.verb < 3) {
            if (tree.erase(kind, step.subject, ties) != model.erase(kind, step.subject)) { return false; }
        } else {
            const auto due = Due{time_of(step.value), kind, step.subject};
            tree.set(due, ties);
            model.set(due);
            if (tree.find(kind, step.subject) != due) { return false; }
        }
        if (!same_first(tree, model)) { return false; }
    }
    auto listed = std::size_t{0};
    auto right = true;
    tree.for_each([&](const Due& due) {
        ++listed;
        right = right && model.times.at({due.kind, due.handle}) == due.time;
    });
    return right && listed == model.times.size() && same_order(tree, model);
}

}  // namespace

TEST_CASE("a due tree does what a std::set does") {
    // Few times mean many ties.
    const auto times = GENERATE(4U, 1'000U);
    support::check_histories({9, 25, 1'000}, [times](const support::History& history) {
        return does_the_same(history, [times](auto value) { return std::int64_t{value % times} - 2; });
    });
}

TEST_CASE("a due tree does what a std::set does with times that are days or ages apart") {
    // A line reaches 2^32 ms; most of these are less than that apart, or just so far, or very far.
    constexpr auto reach = std::int64_t{1} << 32;
    static constexpr auto ages =
        std::array{std::int64_t{0},      reach / 2, reach - 2, reach - 1, reach, -reach, INT64_MIN + 2, INT64_MAX - 2,
                   std::int64_t{1} << 48};
    support::check_histories({9, 25, 1'000}, [](const support::History& history) {
        return does_the_same(history,
                             [](auto value) { return ages[value / 4 % ages.size()] + (std::int64_t{value % 4} - 2); });
    });
}

TEST_CASE("trees with far times are equal, whatever they held before") {
    constexpr auto age = std::int64_t{1} << 40;
    auto a = Tree{};
    auto b = Tree{};
    for (std::uint32_t i = 0; i < 500; ++i) { a.set({i % 3 * age, 0, i}, ties); }
    for (std::uint32_t i = 500; i-- > 0;) {
        b.set({5, 0, i}, ties);
        b.set({i % 5 * -age, 0, i}, ties);
    }
    CHECK_FALSE(a == b);
    for (std::uint32_t i = 0; i < 500; ++i) { b.set({i % 3 * age, 0, i}, ties); }
    CHECK(a == b);
    CHECK(same_order(a, [] {
        auto model = Model{};
        for (std::uint32_t i = 0; i < 500; ++i) { model.set({i % 3 * age, 0, i}); }
        return model;
    }()));
    for (std::uint32_t i = 0; i < 500; ++i) {
        a.erase(0, i, ties);
        b.erase(0, i, ties);
    }
    a.trim(0, 0);
    CHECK(a == b);
    CHECK(a == Tree{});
}

TEST_CASE("70,000 entries that are moved and erased come out in order") {
    auto tree = Tree{};
    auto model = Model{};
    auto random = std::mt19937_64{support::seed()};
    for (std::uint32_t i = 0; i < 140'000; ++i) {
        const auto handle = i < 70'000 ? i : static_cast<std::uint32_t>(random() % 70'000);
        if (i % 5 == 4) {
            REQUIRE(tree.erase(1, handle, ties) == model.erase(1, handle));
        } else {
            const auto due = Due{static_cast<std::int64_t>(random() % 20'000), 1, handle};
            tree.set(due, ties);
            model.set(due);
        }
        REQUIRE(same_first(tree, model));
    }
    CHECK(same_order(tree, model));
}

TEST_CASE("undoing a history backwards gives an equal tree with the same order") {
    auto tree = Tree{};
    auto random = std::mt19937_64{support::seed()};
    const auto any = [&random] {
        return Due{static_cast<std::int64_t>(random() % 50), static_cast<std::uint8_t>(random() % 3),
                   static_cast<std::uint32_t>(random() % 200)};
    };
    for (auto i = 0; i < 300; ++i) { tree.set(any(), ties); }
    const auto before = tree;
    auto done = std::vector<std::pair<Due, bool>>{};
    for (auto i = 0; i < 2'000; ++i) {
        const auto due = any();
        const auto old = tree.find(due.kind, due.handle);
        done.emplace_back(old.value_or(due), old.has_value());
        if (i % 3 == 0) {
            tree.erase(due.kind, due.handle, ties);
        } else {
            tree.set(due, ties);
        }
    }
    CHECK_FALSE(tree == before);
    for (; !done.empty(); done.pop_back()) {
        const auto [due, there] = done.back();
        restore(tree, due.kind, due.handle, there ? &due : nullptr);
    }
    CHECK(tree == before);
    auto rest = before;
    while (rest.top() != nullptr) {
        const auto due = *rest.top();
        REQUIRE(*tree.top() == due);
        tree.erase(due.kind, due.handle, ties);
        rest.erase(due.kind, due.handle, ties);
    }
    CHECK(tree.empty());
}

TEST_CASE("trees filled in opposite orders are equal, and one other time makes them differ") {
    auto a = Tree{};
    auto b = Tree{};
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
    auto tree = Tree{};
    tree.set({1, 2, 0}, ties);
    tree.set({3, 0, 9}, ties);
    tree.set({2, 0, 4}, ties);
    auto listed = std::vector<Due>{};
    tree.for_each([&listed](const Due& due) { listed.push_back(due); });
    CHECK(listed == std::vector<Due>{{2, 0, 4}, {3, 0, 9}, {1, 2, 0}});
}

TEST_CASE("a tree may be set from its own first entry") {
    auto tree = Tree{};
    for (std::uint32_t i = 0; i < 20; ++i) { tree.set({std::int64_t{i}, 0, i}, ties); }
    tree.set(*tree.top(), ties);
    CHECK(*tree.top() == Due{0, 0, 0});
    CHECK(tree.size() == 20);
}

TEST_CASE("the first entry is a finalist of its kind, and mostly the one that is due after it") {
    auto tree = Tree{};
    CHECK(tree.finalists().front().time == Tree::absent);
    CHECK_FALSE(tree.has_second());
    for (std::uint32_t i = 0; i < 512; ++i) { tree.set({std::int64_t{(i * 211) % 512 / 3}, 1, i}, ties); }
    tree.set({1'000, 2, 0}, ties);
    auto foreseen = 0;
    while (tree.size() > 1) {
        const auto finalists = tree.finalists();
        REQUIRE(std::count(finalists.begin(), finalists.end(), *tree.top()) > 0);
        tree.erase(tree.top()->kind, tree.top()->handle, ties);
        CHECK(tree.has_second() == (tree.size() > 2));
        foreseen += std::count(finalists.begin(), finalists.end(), *tree.top()) > 0 ? 1 : 0;
    }
    CHECK(foreseen > 300);
    tree.erase(2, 0, ties);
    CHECK(tree.finalists().front().time == Tree::absent);
}

TEST_CASE("an order that prefetches is asked about the siblings of equal times alone") {
    struct Order {
        std::uint32_t& asked;
        auto operator()(const Due& a, const Due& b) const -> bool { return ties(a, b); }
        void fetch(const Due&) const { ++asked; }
    };
    auto asked = std::uint32_t{0};
    auto tree = Tree{};
    auto same = Tree{};
    for (std::uint32_t i = 0; i < 100; ++i) {
        tree.set({i < 50 ? std::int64_t{i} : 99, 0, i}, Order{asked});
        same.set({i < 50 ? std::int64_t{i} : 99, 0, i}, ties);
    }
    while (tree.top() != nullptr) {
        REQUIRE(*tree.top() == *same.top());
        if (tree.size() == 90) { CHECK(asked < 200); }
        tree.erase(0, tree.top()->handle, Order{asked});
        same.erase(0, same.top()->handle, ties);
    }
    CHECK(asked > 200);
}

TEST_CASE("a tree takes up to 256 kinds") {
    auto tree = allot::DueTree<256>{};
    tree.set({1, 255, 3}, ties);
    CHECK(tree.contains(255, 3));
    CHECK(tree.erase(255, 3, ties));
}

TEST_CASE("room given back changes no entry, and is taken again") {
    auto tree = Tree{};
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        tree.set({std::int64_t{i}, static_cast<std::uint8_t>(i % 2), i}, ties);
    }
    for (std::uint32_t i = 100; i < 10'000; ++i) { REQUIRE(tree.erase(static_cast<std::uint8_t>(i % 2), i, ties)); }
    const auto before = tree;
    tree.trim(0, 100);
    tree.trim(1, 100);
    CHECK(tree == before);
    CHECK(tree.find(0, 98)->time == 98);
    CHECK_FALSE(tree.contains(0, 9'998));
    CHECK_FALSE(tree.erase(1, 9'999, ties));
    tree.set({-1, 1, 9'999}, ties);
    CHECK(*tree.top() == Due{-1, 1, 9'999});
}

TEST_CASE("the place of any handle may be prefetched, and that changes nothing") {
    auto tree = allot::DueTree<2>{};
    const auto by_handle = [](const allot::Due& a, const allot::Due& b) { return a.handle < b.handle; };
    const auto ask = [&] {
        const auto before = tree;
        for (const auto h : {0U, 10U, 11U, 100'000U, ~0U}) {
            tree.prefetch(0, h);
            tree.prefetch(1, h);
        }
        CHECK(tree == before);
    };
    ask();
    tree.set({5, 1, 3'000}, by_handle);
    ask();
}

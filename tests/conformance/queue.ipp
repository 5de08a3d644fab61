// The claims of every task queue. ALLOT_MODEL names the queue; ValueQueueParameters bound it.
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/laws/ordered.hpp>
#include <allot/queue/value_queue_parameters.hpp>

#include "conformance/name.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

static_assert(allot::task_queue<ALLOT_MODEL>);

/// A task of a group with the value `num / den`; its number is the order of submission.
auto queued(std::uint32_t task, std::uint32_t group, std::uint64_t num, std::uint64_t den = 1) -> allot::QueueEntry {
    return {{task}, {group}, {num, den}, task};
}
auto queue_of(const std::vector<allot::QueueEntry>& entries) -> ALLOT_MODEL {
    auto queue = ALLOT_MODEL{};
    for (const auto& entry : entries) { queue.push(entry); }
    return queue;
}
auto task(std::uint32_t number) -> std::optional<allot::TaskHandle> { return allot::TaskHandle{number}; }

const auto all = [](allot::TaskHandle) { return true; };
const auto groups_0_to_2 = std::vector<allot::RequirementId>{{0}, {1}, {2}};

}  // namespace

ALLOT_CLAIM("keeps the laws of a queue") {
    for (std::uint64_t i = 0; i < 5; ++i) { ALLOT_KEEPS(allot::laws::ordered(ALLOT_MODEL{}, support::seed() + i)); }
}

ALLOT_CLAIM("holds nothing at first") {
    const auto queue = ALLOT_MODEL{};
    CHECK(queue.size() == 0);
    CHECK(!queue.worst());
    CHECK(!queue.best(groups_0_to_2, all));
    CHECK(!queue.best({}, all));
}

ALLOT_CLAIM("gives the highest value first, over all groups asked for") {
    const auto queue = queue_of({queued(0, 0, 5), queued(1, 1, 9), queued(2, 2, 7), queued(3, 3, 99)});
    CHECK(queue.best(groups_0_to_2, all) == task(1));
    const auto two = std::vector<allot::RequirementId>{{0}, {2}};
    CHECK(queue.best(two, all) == task(2));
}

ALLOT_CLAIM("gives the earlier one among equal values, and drops the later") {
    const auto queue = queue_of({queued(4, 1, 10, 2), queued(1, 0, 5), queued(3, 2, 15, 3), queued(2, 1, 5)});
    CHECK(queue.best(groups_0_to_2, all) == task(1));
    CHECK(queue.worst() == task(4));
}

ALLOT_CLAIM("compares values that no binary fraction tells apart") {
    const auto queue =
        queue_of({queued(0, 0, 1'000'000'006, 1'000'000'007), queued(1, 1, 1'000'000'007, 1'000'000'008)});
    CHECK(queue.best(groups_0_to_2, all) == task(1));  // 1 - 1/1000000008 is more than 1 - 1/1000000007
    CHECK(queue.worst() == task(0));
}

ALLOT_CLAIM("steps over tasks that the node cannot take") {
    const auto queue = queue_of({queued(0, 0, 9), queued(1, 0, 8), queued(2, 1, 7), queued(3, 0, 6), queued(4, 1, 5)});
    const auto from = [&](std::uint32_t first) {
        return queue.best(groups_0_to_2, [&](allot::TaskHandle t) { return t.value >= first; });
    };
    for (std::uint32_t first = 0; first < 5; ++first) { CHECK(from(first) == task(first)); }
    CHECK(!from(5));
}

ALLOT_CLAIM("forgets what was erased, and nothing else") {
    auto queue = queue_of({queued(0, 0, 9), queued(1, 0, 8), queued(2, 0, 7)});
    queue.erase(queued(1, 0, 8));
    queue.erase(queued(1, 0, 8));
    queue.erase(queued(7, 0, 8));
    CHECK(queue.size() == 2);
    queue.erase(queued(0, 0, 9));
    CHECK(queue.best(groups_0_to_2, all) == task(2));
    CHECK(queue.worst() == task(2));
    queue.erase(queued(2, 0, 7));
    CHECK(queue.size() == 0);
    CHECK(!queue.worst());
}

ALLOT_CLAIM("erases what was pushed, and nothing that differs from it in any part") {
    auto queue = queue_of({queued(0, 0, 9), queued(1, 0, 8), queued(2, 1, 7)});
    const auto there = queued(1, 0, 8);
    const auto differs = [&](auto&& change) {
        auto entry = there;
        change(entry);
        return entry;
    };
    for (const auto& entry :
         {differs([](auto& e) { e.task = {2}; }), differs([](auto& e) { e.task = {3'000'000}; }),
          differs([](auto& e) { e.group = {1}; }), differs([](auto& e) { e.group = {3'000}; }), differs([](auto& e) {
              e.value = {9, 1};
          }),
          differs([](auto& e) { e.sequence = 2; })}) {
        queue.erase(entry);
        REQUIRE(queue.size() == 3);
        REQUIRE(queue.best(groups_0_to_2, [](allot::TaskHandle t) { return t.value > 0; }) == task(1));
    }
    queue.erase(queued(1, 0, 16, 2));  // the same value
    queue.push(there);
    CHECK(queue.size() == 3);
    queue.erase(there);
    CHECK(queue.size() == 2);
    CHECK(queue.worst() == task(2));
    CHECK(queue.best(groups_0_to_2, [](allot::TaskHandle t) { return t.value > 0; }) == task(2));
}

ALLOT_CLAIM("finds the one of many tasks that fits") {
    auto queue = ALLOT_MODEL{};
    for (std::uint32_t t = 0; t < 400; ++t) { queue.push(queued(t, t % 4, t * 37 % 101)); }
    const auto in_order = [](std::uint32_t a, std::uint32_t b) {
        return goes_before(queued(a, 0, a * 37 % 101), queued(b, 0, b * 37 % 101));
    };
    for (std::uint32_t wanted = 0; wanted < 400; ++wanted) {
        const auto right = wanted % 4 == 3 ? std::nullopt : task(wanted);
        REQUIRE(queue.best(groups_0_to_2, [&](allot::TaskHandle t) { return t.value == wanted; }) == right);
    }
    for (const std::uint32_t most : {100U, 90U, 60U, 20U, 3U, 0U}) {  // ever more tasks come before the first that fits
        const auto fits = [&](allot::TaskHandle t) { return t.value * 37 % 101 < most; };
        auto right = std::optional<allot::TaskHandle>{};
        for (std::uint32_t t = 0; t < 400; ++t) {
            right = t % 4 != 3 && fits({t}) && (!right || in_order(t, right->value)) ? task(t) : right;
        }
        REQUIRE(queue.best(groups_0_to_2, fits) == right);
    }
    auto asked = std::vector<bool>(400);
    CHECK(!queue.best(groups_0_to_2, [&](allot::TaskHandle t) { return asked[t.value] = true, false; }));
    for (std::uint32_t t = 0; t < 400; ++t) { REQUIRE(asked[t] == (t % 4 != 3)); }
}

ALLOT_CLAIM("has room for fifty tasks, or one a node") {
    const auto queue = ALLOT_MODEL{};
    CHECK(queue.capacity(0) == 50);
    CHECK(queue.capacity(50) == 50);
    CHECK(queue.capacity(51) == 51);
    CHECK(queue.capacity(1'000'000) == 1'000'000);
}

ALLOT_CLAIM("takes a ratio of tasks to nodes") {
    const auto parameters = allot::ValueQueueParameters{.tasks_per_node = {5, 2}, .capacity_min = 3};
    auto queue = ALLOT_MODEL{parameters};
    CHECK(queue.capacity(1) == 3);
    CHECK(queue.capacity(3) == 7);
    CHECK(queue.capacity(~std::uint32_t{0}) == ~std::uint32_t{0});
    queue.configure({.tasks_per_node = 2});
    CHECK(queue.parameters() == allot::ValueQueueParameters{.tasks_per_node = 2});
    CHECK(queue.capacity(100) == 200);
}

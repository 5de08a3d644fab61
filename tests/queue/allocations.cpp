#include "support/allocations.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

// What the queues ask of the allocator: nothing once they have grown, and no half-done push when it fails.

using support::calls;
using support::fails_at;

namespace {

constexpr std::uint32_t groups = 40;

auto random_entry(allot::laws::Sampler& sampler, std::uint32_t task, std::uint64_t sequence) -> allot::QueueEntry {
    const auto group = static_cast<std::uint32_t>(sampler.below(groups));
    return {{task}, {group}, {sampler.below(1'000), 1 + sampler.below(9)}, sequence};
}
const auto any = [](allot::TaskHandle) { return true; };

}  // namespace

TEMPLATE_TEST_CASE("a queue that has grown allocates nothing", "", allot::ValueQueue, allot::FlatQueue) {
    auto sampler = allot::laws::Sampler{support::seed()};
    auto queue = TestType{};
    auto entries = std::vector<allot::QueueEntry>{};
    auto all = std::vector<allot::RequirementId>{};
    for (std::uint32_t group = 0; group < groups; ++group) { all.push_back({group}); }
    auto sequence = std::uint64_t{0};
    for (std::uint32_t task = 0; task < 2'000; ++task) {
        entries.push_back(random_entry(sampler, task, sequence++));
        queue.push(entries.back());
    }
    const auto pairs = [&](int count) {
        for (auto pair = 0; pair < count; ++pair) {
            const auto gone = pair % 4 == 0 ? *queue.worst()
                              : pair % 4 == 1
                                  ? allot::TaskHandle{static_cast<std::uint32_t>(sampler.below(entries.size()))}
                                  : *queue.best(all, any);
            auto& entry = entries[gone.value];
            queue.erase(entry);
            // In the same group, so that no group outgrows what it ever held.
            const auto group = entry.group;
            entry = random_entry(sampler, gone.value, sequence++);
            entry.group = group;
            queue.push(entry);
        }
    };
    pairs(20'000);  // a queue that only grew has fuller blocks than one of which tasks leave
    const auto before = calls;
    pairs(100'000);
    CHECK(calls - before == 0);
    CHECK(queue.size() == 2'000);
}

TEMPLATE_TEST_CASE("a push that finds no memory leaves the queue as it was", "", allot::ValueQueue, allot::FlatQueue) {
    auto failures = 0;
    auto queue = TestType{};
    const auto all = std::vector<allot::RequirementId>{{0}, {1}, {2}, {70}};
    for (std::uint32_t task = 0; task < 300; ++task) {
        const auto entry = allot::QueueEntry{{task}, {task < 200 ? task % 3 : 70}, {task * 7 % 100, 1}, task};
        const auto best = queue.best(all, any);
        const auto worst = queue.worst();
        for (auto at = std::uint64_t{1}; queue.size() == task; ++at) {
            fails_at = calls + at;
            try {
                queue.push(entry);
                fails_at = 0;
            } catch (const std::bad_alloc&) {
                fails_at = 0;
                ++failures;
                REQUIRE(queue.size() == task);
                REQUIRE(queue.best(all, any) == best);
                REQUIRE(queue.worst() == worst);
                queue.erase(entry);  // is not there
                REQUIRE(queue.size() == task);
            }
        }
        REQUIRE(queue.size() == task + 1);
    }
    CHECK(failures > 5);
    for (std::uint32_t left = 300; left > 0; --left) {
        const auto task = queue.worst()->value;
        queue.erase({{task}, {task < 200 ? task % 3 : 70}, {task * 7 % 100, 1}, task});
        REQUIRE(queue.size() == left - 1);
    }
}

TEST_CASE("tasks of one value, which come in order, fill the blocks of a flat queue") {
    const auto before = calls;
    auto queue = allot::FlatQueue{};
    for (std::uint32_t task = 0; task < 32'768; ++task) { queue.push({{task}, {task % 2}, {7}, task}); }
    CHECK(calls - before < 32'768 / (16 * 64) * 5 / 4 + 60);  // pages of 16 blocks, each of 64 tasks
}

TEMPLATE_TEST_CASE("copies of a queue share nothing", "", allot::ValueQueue, allot::FlatQueue) {
    auto sampler = allot::laws::Sampler{support::seed()};
    auto queue = TestType{};
    for (std::uint32_t task = 0; task < 500; ++task) { queue.push(random_entry(sampler, task, task)); }
    const auto worst = queue.worst();
    auto copy = queue;
    auto moved = std::move(queue);
    const auto above = allot::QueueEntry{{500}, {0}, {5'000, 1}, 500};
    copy.push(above);
    CHECK(copy.best(std::vector<allot::RequirementId>{{0}}, any) == allot::TaskHandle{500});
    CHECK(moved.size() == 500);
    CHECK(moved.worst() == worst);
    std::swap(copy, moved);
    CHECK(copy.size() == 500);
    CHECK(moved.size() == 501);
    queue = moved;
    queue.erase(above);
    CHECK(queue.size() == 500);
    CHECK(moved.size() == 501);
}

TEMPLATE_TEST_CASE("a push that finds no memory fails in the same way where room was given back", "", allot::ValueQueue,
                   allot::FlatQueue) {
    auto failures = 0;
    for (std::uint32_t left = 1'024; left <= 5'120; left += 64) {
        auto queue = TestType{};
        auto entries = std::vector<allot::QueueEntry>{};
        for (std::uint32_t task = 0; task < 8'192; ++task) {
            entries.push_back({{task}, {0}, {std::uint64_t{8'192 - task}, 1}, task});
            queue.push(entries.back());
        }
        for (auto task = left; task < entries.size(); ++task) { queue.erase(entries[task]); }
        for (auto i = 0; i < 1'000 && queue.falls(); ++i) { queue.trim(1, left); }
        for (auto task = left; task < left + 128; ++task) {
            entries[task].value = {std::uint64_t{8'192 - task % left}, 1};  // among the others, whose leaves are full
            for (auto at = std::uint64_t{1}; queue.size() == task; ++at) {
                fails_at = calls + at;
                try {
                    queue.push(entries[task]);
                    fails_at = 0;
                } catch (const std::bad_alloc&) {
                    fails_at = 0;
                    ++failures;
                    REQUIRE(queue.size() == task);
                }
            }
        }
    }
    CHECK(failures > 0);
}

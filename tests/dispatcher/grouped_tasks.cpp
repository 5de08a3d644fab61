#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/grouped_tasks.hpp>

#include "support/catch.hpp"

namespace grouped_tasks_test {
namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
using allot::GroupHandle;
using allot::TaskHandle;

auto grouped(std::uint32_t task, std::uint64_t value) -> allot::QueueEntry {
    return {TaskHandle{task}, allot::RequirementId{0}, {value, 1}, task};
}

auto tasks_of(const allot::GroupedTasks& tasks, std::uint32_t group, std::size_t most = 99)
    -> std::vector<std::uint32_t> {
    auto found = std::vector<std::uint32_t>{};
    tasks.each(GroupHandle{group}, [&](TaskHandle task) {
        found.push_back(task.value);
        return found.size() < most;
    });
    return found;
}

auto at(allot::Duration time, bool entropy = true) -> allot::Moment {
    return {allot::TimePoint{time}, entropy ? std::optional{allot::Entropy{2026}} : std::nullopt};
}
auto node(std::uint64_t id, const char* gpu) -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = gpu;
    spec.vram = 24_GiB;
    spec.stake = 400;
    spec.operator_id = allot::OperatorId{std::uint64_t{1'000}};
    return spec;
}
auto task(std::uint64_t id, const char* gpu, std::uint64_t fee) -> allot::TaskSpec {
    auto spec = allot::TaskSpec{.id = id};
    spec.gpus = {{gpu, 24_GiB}};
    spec.fee = fee;
    spec.duration_estimate = 100s;
    spec.group = allot::GroupId{std::uint64_t{1}};
    return spec;
}

/// An operator has two nodes of different cards. Its first node runs a task of a group, so tasks 2, 3 and 4 of the
/// group, which ask for the other card, wait.
auto operator_in_group() -> allot::Dispatcher<> {
    auto d = allot::Dispatcher<>{};
    REQUIRE(d.join(node(1, "RTX 4090"), at(0s)).accepted());
    REQUIRE(d.join(node(2, "RTX 3090"), at(0s)).accepted());
    REQUIRE(d.submit(task(1, "RTX 4090", 100), at(0s)).lease() != nullptr);
    REQUIRE(d.submit(task(2, "RTX 3090", 100), at(0s)).lease() == nullptr);
    REQUIRE(d.submit(task(3, "RTX 3090", 300), at(0s)).lease() == nullptr);
    REQUIRE(d.submit(task(4, "RTX 3090", 200), at(0s)).lease() == nullptr);
    return d;
}

}  // namespace

TEST_CASE("the waiting tasks of a group come best first, and of no other group") {
    auto tasks = allot::GroupedTasks{};
    tasks.push(GroupHandle{1}, grouped(4, 10));
    tasks.push(GroupHandle{1}, grouped(5, 30));
    tasks.push(GroupHandle{1}, grouped(6, 10));
    tasks.push(GroupHandle{2}, grouped(7, 50));
    CHECK(tasks_of(tasks, 1) == std::vector<std::uint32_t>{5, 4, 6});
    CHECK(tasks_of(tasks, 1, 2) == std::vector<std::uint32_t>{5, 4});
    CHECK(tasks_of(tasks, 2) == std::vector<std::uint32_t>{7});
    CHECK(tasks_of(tasks, 0).empty());
    tasks.erase(GroupHandle{1}, grouped(5, 30));
    tasks.erase(GroupHandle{1}, grouped(5, 30));
    tasks.erase(GroupHandle{3}, grouped(4, 10));
    CHECK(tasks_of(tasks, 1) == std::vector<std::uint32_t>{4, 6});
}

TEST_CASE("when a node declines a group's task, an idle node of its operator takes the best one that waits") {
    auto d = operator_in_group();
    const auto events = d.decline(*d.lease(1, 0), at(1s));
    REQUIRE(events.accepted());
    REQUIRE(events.lease() != nullptr);
    CHECK(events.lease()->task == allot::TaskId{std::uint64_t{3}});
    CHECK(events.lease()->node == allot::NodeId{std::uint64_t{2}});
    CHECK(d.queued() == 3);  // task 1, too, which its only node declined
}

TEST_CASE("without entropy the tasks of the group wait for a match") {
    auto d = operator_in_group();
    REQUIRE(d.decline(*d.lease(1, 0), at(1s, false)).accepted());
    CHECK(d.queued() == 4);
    CHECK(d.match(at(1s)).get<allot::event::Matched>()->started == 1);
}

TEST_CASE("under rules version 1 a node that declined stays a member, so no task of the group starts") {
    auto d = operator_in_group();
    REQUIRE(d.configure(allot::RulesParameters{}, 1, at(0s)).accepted());
    REQUIRE(d.decline(*d.lease(1, 0), at(1s)).accepted());
    CHECK(d.queued() == 4);
    CHECK(d.match(at(1s)).get<allot::event::Matched>()->started == 0);
}

}  // namespace grouped_tasks_test

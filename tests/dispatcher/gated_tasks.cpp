#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <allot/core/random.hpp>
#include <allot/dispatcher/gated_tasks.hpp>
#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "support/catch.hpp"

namespace {

struct GatedTask {
    allot::QueueEntry entry;
    std::vector<allot::ModelId> models;
};

/// A task of one of three requirements that needs up to two of four models.
auto gated_task(std::uint32_t handle, allot::Random& random) -> GatedTask {
    auto task = GatedTask{{allot::TaskHandle{handle},
                           allot::RequirementId{static_cast<std::uint32_t>(random.below(3))},
                           {random.below(5), 1},
                           handle},
                          {}};
    for (std::uint32_t model = 0; model < 4 && task.models.size() < 2; ++model) {
        if (random.below(3) == 0) { task.models.push_back(allot::ModelId{model}); }
    }
    return task;
}

template <class Queue>
auto groups_of(const allot::GatedTasks<Queue>& gated) -> std::vector<allot::RequirementId> {
    auto groups = std::vector<allot::RequirementId>{};
    gated.each([&](allot::RequirementId group, const allot::GateAsk&) { groups.push_back(group); });
    return groups;
}

}  // namespace

TEMPLATE_TEST_CASE("each group is listed once, under its requirement or its highest model, while it has a task", "",
                   allot::ValueQueue, allot::FlatQueue) {
    auto random = allot::Random{allot::Entropy{7}, allot::Purpose::dispatch, {}};
    auto gated = allot::GatedTasks<TestType>{TestType{}, {1, 2}};
    auto tasks = std::vector<std::optional<GatedTask>>(40);
    for (auto step = 0; step < 3'000; ++step) {
        const auto handle = static_cast<std::uint32_t>(random.below(tasks.size()));
        auto& task = tasks[handle];
        if (task) {
            gated.erase(task->entry);
            gated.erase(task->entry);  // an absent one changes nothing
            task.reset();
        } else {
            task = gated_task(handle, random);
            gated.push(task->entry, task->models);
            gated.push(task->entry, task->models);  // one that is there changes nothing
        }

        auto expected = std::set<std::pair<std::uint32_t, std::vector<allot::ModelId>>>{};
        auto first = std::optional<allot::QueueEntry>{};
        for (const auto& one : tasks) {
            if (!one) { continue; }
            expected.emplace(one->entry.group.value, one->models);
            if (!first || allot::goes_before(one->entry, *first)) { first = one->entry; }
        }
        const auto groups = groups_of(gated);
        REQUIRE(groups.size() == expected.size());
        auto listed = std::size_t{0};
        for (const auto group : groups) {
            const auto& ask = gated.ask(group);
            REQUIRE(expected.count({ask.requirement.value, ask.models}) == 1);
            if (ask.models.empty()) {
                REQUIRE(gated.without_models(ask.requirement) == group);
                ++listed;
            }
        }
        for (std::uint32_t model = 0; model < 5; ++model) {
            for (const auto group : gated.under(allot::ModelId{model})) {
                const auto& models = gated.ask(group).models;
                REQUIRE(*std::max_element(models.begin(), models.end()) == allot::ModelId{model});
                ++listed;
            }
        }
        REQUIRE(listed == groups.size());
        const auto best = gated.queue().best(groups, [](allot::TaskHandle) { return true; });
        REQUIRE(best == (first ? std::optional{first->task} : std::nullopt));
    }
}

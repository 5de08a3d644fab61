// A task queue without a dispatcher: tasks by value in groups. It gives the best task for a node and the worst to
// evict.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <allot/queue/value_queue.hpp>
#include <allot/valuation/fee_per_second.hpp>

using namespace std::chrono_literals;

namespace {

struct Job {
    const char* name;
    allot::RequirementId group;  // the cards that fit: 0 wants an A100, 1 takes any with 8 GiB
    allot::Amount fee;
    allot::Duration estimate;
};

const auto jobs = std::vector<Job>{{"portrait", {1}, 10, 20s},  // the two tasks of Crynux' pricing, by image time ...
                                   {"triptych", {1}, 15, 40s},
                                   {"training", {0}, 900, 1'800s},
                                   {"thumbnail", {1}, 1, 2s}};

auto entry(std::uint32_t i) -> allot::QueueEntry {
    auto task = allot::Task{};
    task.fee = jobs[i].fee;
    task.duration_estimate = jobs[i].estimate;
    return {allot::TaskHandle{i}, jobs[i].group, allot::FeePerSecond{}.value(task, {}), i};
}

}  // namespace

int main() {
    auto queue = allot::ValueQueue{{.tasks_per_node = {1, 2}, .capacity_min = 3}};
    for (std::uint32_t i = 0; i < jobs.size(); ++i) { queue.push(entry(i)); }

    // One task too many for four nodes: the task with the lowest value is evicted.
    while (queue.size() > queue.capacity(4)) {
        const auto worst = queue.worst()->value;
        std::printf("%s is evicted\n", jobs[worst].name);
        queue.erase(entry(worst));
    }

    // A small node asks for a task that it can run; it has no room for thumbnails now.
    const auto small = std::vector<allot::RequirementId>{{1}};
    const auto no_thumbnails = [](allot::TaskHandle task) { return task.value != 3; };
    const auto taken = queue.best(small, no_thumbnails)->value;
    std::printf("the small node takes %s\n", jobs[taken].name);
    queue.erase(entry(taken));

    // A large node takes the best task of all groups until the queue is empty.
    const auto both = std::vector<allot::RequirementId>{{0}, {1}};
    while (const auto best = queue.best(both, [](allot::TaskHandle) { return true; })) {
        std::printf("the A100 takes %s\n", jobs[best->value].name);
        queue.erase(entry(best->value));
    }
    return queue.size() == 0 ? 0 : 1;
}

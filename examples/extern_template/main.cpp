#include <chrono>
#include <cstdio>
#include <utility>

#include "dispatcher.hpp"

using namespace std::chrono_literals;
using namespace allot::literals;

int main() {
    auto dispatcher = relay::Dispatcher{relay::ServiceFirst{}, allot::ValueQueue{{.tasks_per_node = 2}}};
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    for (const auto& [name, points] : {std::pair{"swift", 10U}, std::pair{"slow", 2U}}) {
        (void)dispatcher.join({.id = name, .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}, now).or_throw();
        (void)dispatcher.score(name, points, now).or_throw();
    }

    auto slow = 0;
    for (auto task = 0; task < 1'000; ++task) {
        now.time += 1s;
        now.entropy = task;
        const auto placed =
            dispatcher.submit({.id = task, .vram_min = 8_GiB, .duration_estimate = 20s}, now).or_throw();
        slow += placed.lease()->node == allot::NodeId{"slow"} ? 1 : 0;
        (void)dispatcher.complete(*placed.lease(), now).or_throw();
    }
    // A fifth of the score gives a weight of 1/26 against 1/2, which is 71 of 1000; without the square it would be 250.
    std::printf("the slow node got %d of 1000 tasks\n", slow);
    return slow > 30 && slow < 120 ? 0 : 1;
}

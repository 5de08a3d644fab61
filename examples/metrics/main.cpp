// A small network under load; its figures are written to standard output in Prometheus' text format. README.md lists
// the names.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include <allot/allot.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/task.hpp>

#include "prometheus.hpp"

using namespace std::chrono_literals;
using namespace allot::literals;

namespace {

using Dispatcher = allot::Dispatcher<>;

/// A dispatcher with a recorder. Only `apply` and `explain` use the recorder.
class Network {
public:
    auto apply(const Dispatcher::Command& command, allot::Duration time) -> allot::Events {
        auto events = allot::Events{};
        const auto moment = allot::Moment{allot::TimePoint{time}, entropy_++};
        dispatcher_.apply(command, moment, events, recorder_.trace<Dispatcher>());
        recorder_.hear(dispatcher_, events);
        return events;
    }
    void explain(const allot::TaskId& task) {
        (void)allot::explain(dispatcher_, task);
        recorder_.explained();
    }
    [[nodiscard]] auto metrics() const -> allot::Metrics { return recorder_.metrics(dispatcher_); }

private:
    Dispatcher dispatcher_{};
    allot::MetricsRecorder recorder_{};
    std::uint64_t entropy_ = 2026;
};

void join_all(Network& network) {
    for (auto id = std::uint64_t{1}; id <= 12; ++id) {
        auto node = allot::NodeSpec{.id = id};
        node.gpu = id % 3 == 0 ? "H100" : "RTX 4090";
        node.vram = id % 3 == 0 ? 80_GiB : 24_GiB;
        node.stake = 100 * id;
        (void)network.apply(allot::command::Join{node}, 0s);
    }
    (void)network.apply(allot::command::Pause{12}, 0s);
}

auto a_task(std::uint64_t id) -> allot::TaskSpec {
    auto task = allot::TaskSpec{.id = id};
    task.vram_min = id % 5 == 0 ? 80_GiB : 16_GiB;
    task.fee = 10 + id % 7;
    task.duration_estimate = std::chrono::seconds{30 + id * 7 % 90};
    if (id % 4 == 0) {
        task.gpus = {{"RTX 4090", {}}};
        task.vram_min = 24_GiB;
    }
    return task;
}

/// A task every four seconds for twenty minutes. Each runs as long as estimated; one in ten never answers.
void play(Network& network) {
    struct Running {
        allot::Lease lease;
        allot::Duration ends;
    };
    auto running = std::vector<Running>{};
    const auto take = [&](const allot::Events& events, allot::Duration now) {
        for (const auto& event : events) {
            if (const auto* started = std::get_if<allot::event::TaskStarted>(&event); started != nullptr) {
                running.push_back({started->lease, now + (started->lease.deadline - allot::TimePoint{now}) / 2});
            }
        }
    };
    for (auto id = std::uint64_t{1}; id <= 300; ++id) {
        const auto now = allot::Duration{4s} * id;
        take(network.apply(allot::command::Advance{}, now), now);
        for (std::size_t i = 0; i < running.size();) {
            if (running[i].ends > now) {
                ++i;
                continue;
            }
            const auto lease = running[i].lease;
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            if (lease.token % 10 != 0) { take(network.apply(allot::command::Complete{lease}, now), now); }
        }
        const auto answer = network.apply(allot::command::Submit{a_task(id)}, now);
        take(answer, now);
        if (answer.accepted() && answer.lease() == nullptr && id % 20 == 0) { network.explain(id); }
    }
    (void)network.apply(allot::command::Submit{a_task(300)}, 1'200s);  // refused: its id is taken
}

}  // namespace

int main() {
    auto network = Network{};
    join_all(network);
    play(network);
    std::fputs(metrics::to_prometheus(network.metrics()).c_str(), stdout);
}

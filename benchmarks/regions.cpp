// A network beyond one machine's cache, in one dispatcher and in many, one a region:
//
//     regions [NODES [PAIRS]]
//
// It prints what a node and a queued task take of memory, and for 1, 2, 4, 8 and 16 dispatchers the time of a pair of
// commands (complete and submit, a quarter of the nodes busy), by one thread and by two. Then it loads a small network
// until few nodes are free, and counts tasks that wait in their region while a node is free in another one.

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/hub_of_allot.hpp"
#include "workload/dependent_load.hpp"
#include "workload/dispatching.hpp"
#include "workload/footprint.hpp"

namespace bench { namespace {

using Hub = HubOfAllot<allot::ValueQueue>;
using Clock = std::chrono::steady_clock;
constexpr auto regions_most = std::size_t{16};

/// The router: which of `regions` dispatchers a command is for. It is a pure function of ids, so every machine routes
/// alike and nothing has to be looked up. A node chooses its region by the first byte of its id, and so does a task.
auto region_of(const Hub::Command& command, std::size_t regions) -> std::size_t {
    const auto first_byte = [](const auto& id) { return std::size_t{id.bytes()[0]}; };
    return std::visit(
               [&](const auto& c) {
                   if constexpr (requires { c.lease.node; }) {
                       return first_byte(c.lease.node);
                   } else if constexpr (requires { c.node.id; }) {
                       return first_byte(c.node.id);
                   } else if constexpr (requires { c.node; }) {
                       return first_byte(c.node);
                   } else if constexpr (requires { c.task.id; }) {
                       return first_byte(c.task.id);
                   } else if constexpr (requires { c.task; }) {
                       return first_byte(c.task);
                   } else {
                       return std::size_t{0};  // such as Advance: for all of them
                   }
               },
               command) %
           regions;
}

auto seconds_since(Clock::time_point from) -> double {
    return std::chrono::duration<double>(Clock::now() - from).count();
}

/// One network in so many dispatchers of equal size.
class Regions {
public:
    Regions(std::size_t nodes, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            all_.push_back(std::make_unique<Dispatching<Hub>>(nodes / count, Regime::idle));
        }
    }

    /// Nanoseconds a pair by so many threads, each of which has its own dispatchers and goes round them, 64 pairs each.
    [[nodiscard]] auto nanoseconds_a_pair(std::size_t pairs, std::size_t threads) -> double {
        auto times = std::vector<double>(threads);
        auto crew = std::vector<std::thread>{};
        for (std::size_t t = 0; t < threads; ++t) {
            crew.emplace_back([&, t] {
                for (auto left = pairs / threads; left >= 64;) {
                    for (auto i = t; i < all_.size() && left >= 64; i += threads, left -= 64) {
                        times[t] += all_[i]->turn(64, Feed::one_by_one);
                    }
                }
            });
        }
        for (auto& one : crew) { one.join(); }
        return *std::max_element(times.begin(), times.end()) / static_cast<double>(pairs);
    }

private:
    std::vector<std::unique_ptr<Dispatching<Hub>>> all_{};
};

void times(std::size_t nodes, std::size_t pairs) {
    auto load = DependentLoad{};
    std::printf("dispatchers  joined in   a pair  of one  by two threads  in dependent loads\n");
    auto one = 0.0;
    for (auto count = std::size_t{1}; count <= regions_most; count *= 2) {
        const auto began = Clock::now();
        auto regions = Regions{nodes, count};
        const auto joined = seconds_since(began);
        (void)regions.nanoseconds_a_pair(pairs, 1);
        auto alone = regions.nanoseconds_a_pair(pairs, 1);
        auto together = count > 1 ? regions.nanoseconds_a_pair(pairs, 2) : alone;
        for (auto turn = 0; turn < 2; ++turn) {
            alone = std::min(alone, regions.nanoseconds_a_pair(pairs, 1));
            if (count > 1) { together = std::min(together, regions.nanoseconds_a_pair(pairs, 2)); }
        }
        if (count == 1) { one = together = alone; }
        const auto yardstick = load.turn(1'000'000) / 1'000'000;
        std::printf("%11zu  %7.1f s  %4.0f ns    %4.2f            %4.2f  %18.1f\n", count, joined, alone, alone / one,
                    together / one, alone / yardstick);
        std::fflush(stdout);
    }
}

/// Tasks that wait although a node is free: in a network of `nodes`, so many parts in a hundred of whose nodes would be
/// busy, and whose tasks and nodes choose their regions by chance.
void waiting(std::size_t nodes) {
    std::printf("dispatchers  tasks that wait for a free node elsewhere, of 100, with tasks for 80, 90, 95, 99 %% of "
                "%zu nodes\n",
                nodes);
    for (auto count = std::size_t{1}; count <= regions_most; count *= 2) {
        auto hubs = std::vector<Hub>(count, Hub{nodes});
        auto chance = Chance{11};
        auto events = allot::Events{};
        const auto give = [&](Hub::Command command) {
            const auto region = region_of(command, count);
            events.clear();
            hubs[region].apply(command, allot::Moment{allot::TimePoint{}, 2026}, events);
        };
        for (const auto& profile : population(nodes)) {
            give(allot::command::Join{spec_of(profile, allot::NodeId{chance.bytes()})});
        }
        std::printf("%11zu ", count);
        auto submitted = std::size_t{0};
        for (const auto percent : {80, 90, 95, 99}) {
            for (; submitted < nodes * static_cast<std::size_t>(percent) / 100; ++submitted) {
                auto task = allot::TaskSpec{.id = allot::TaskId{chance.bytes()}};
                task.vram_min = vram_of(0);
                task.fee = 1;
                task.duration_estimate = std::chrono::minutes{30};
                give(allot::command::Submit{std::move(task)});
            }
            auto waits = std::size_t{0};
            for (auto& hub : hubs) { waits += hub.hub().queue().size(); }
            std::printf("  %5.2f", 100.0 * static_cast<double>(waits) / static_cast<double>(submitted));
        }
        std::printf("\n");
    }
}

}}  // namespace bench

auto main(int argc, char** argv) -> int {
    const auto nodes = argc > 1 ? static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10)) : 1'000'000;
    const auto pairs = argc > 2 ? static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10)) : 200'000;
    if (nodes < 1'000 || pairs < 2'048) {
        std::fprintf(stderr, "regions [NODES [PAIRS]]: at least 1,000 nodes and 2,048 pairs\n");
        return 2;
    }
    using namespace bench;
    std::printf("%zu nodes: %.1f bytes a node, %.1f a queued task, %.1f in a FlatQueue\n", nodes,
                bytes_a_node<Hub>(nodes, false), bytes_a_task<Hub>(nodes),
                bytes_a_task<HubOfAllot<allot::FlatQueue>>(nodes));
    std::fflush(stdout);
    times(nodes, pairs);
    waiting(10'000);
}

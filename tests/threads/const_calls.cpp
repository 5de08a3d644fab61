#define ALLOT_TESTS_OWN_INSTANCES

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// Const calls may run at the same time: nothing is written behind them. A thread sanitizer makes this test sharp.

TEST_CASE("const calls of one dispatcher run together and agree") {
    using Dispatcher = allot::Dispatcher<>;
    auto chaos = Chaos<Dispatcher>{seed()};
    auto grown = Dispatcher{};
    for (auto i = 0; i < 300; ++i) { (void)grown.apply(chaos.command(grown), chaos.moment(grown)); }
    auto commands = std::vector<Dispatcher::Command>{};
    for (auto i = 0; i < 100; ++i) { commands.push_back(chaos.command(grown)); }
    const auto& shared = grown;
    auto answers = std::vector<std::uint64_t>(4);
    auto ready = std::atomic<int>{0};
    const auto ask = [&](std::size_t which) {
        ++ready;
        while (ready < 4) { std::this_thread::yield(); }
        auto answer = std::uint64_t{0};
        for (auto round = 0; round < 5; ++round) {
            for (const auto& command : commands) {
                const auto error = shared.check(command);
                answer = answer * 31 + (error ? static_cast<std::uint64_t>(*error) : 0U);
            }
            for (auto id = 0; id < 40; ++id) {
                const auto* task = shared.task(id);
                const auto* node = shared.node(id);
                answer = answer * 31 + (task == nullptr ? 7U : task->sequence);
                answer = answer * 31 + (node == nullptr ? 7U : shared.qos_score(*node).raw());
            }
            const auto next = shared.next_deadline();
            answer = answer * 31 + (next ? static_cast<std::uint64_t>(next->time_since_epoch().count()) : 0U);
            answer = answer * 31 + shared.digest() + shared.queued() + shared.queue_capacity();
            auto copy = shared;  // a copy is a thread's own
            (void)copy.advance(Moment{shared.now() + 1h, allot::Entropy{round}});
            answer = answer * 31 + copy.digest() + (copy == shared ? 1U : 0U);
        }
        answers[which] = answer;
    };
    auto threads = std::vector<std::thread>{};
    for (std::size_t i = 0; i < answers.size(); ++i) { threads.emplace_back(ask, i); }
    for (auto& thread : threads) { thread.join(); }
    CHECK(answers[0] != 0);
    for (const auto answer : answers) { CHECK(answer == answers[0]); }
}

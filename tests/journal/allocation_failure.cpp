#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/preset/hardened.hpp>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"
#include "support/trace.hpp"

namespace allocation_failure_test {

// Memory runs out at the n-th request within a command, for n = 1 until none fails: each time the state is what it was,
// and once there is memory again the command does what it would have done.

namespace {

template <class D>
void starve(const D& composed, std::uint64_t seed, int commands) {
    auto d = composed;
    auto chaos = support::Chaos<D>{seed, true};
    auto failures = 0;
    for (auto i = 0; i < commands; ++i) {
        const auto moment = chaos.moment(d);
        const auto command = chaos.command(d);
        auto reference = d;
        const auto expected = reference.apply(command, moment);
        const auto before = allot::state_root(d);
        auto answer = std::optional<allot::Events>{};
        for (std::uint64_t nth = 1; !answer; ++nth) {
            support::fails_at = support::calls + nth;
            try {
                answer = d.apply(command, moment);
                support::fails_at = 0;
            } catch (const std::bad_alloc&) {
                support::fails_at = 0;
                ++failures;
                INFO("command " << i << ", request " << nth);
                REQUIRE(allot::state_root(d) == before);
            }
        }
        INFO("command " << i);
        REQUIRE(support::exact_text(*answer) == support::exact_text(expected));
        REQUIRE(d == reference);
        REQUIRE(allot::state_root(d) == allot::state_root(reference));
    }
    CHECK(failures > commands);
}

}  // namespace

TEST_CASE("a command that runs out of memory changes nothing, and can be repeated") {
    const auto small = allot::ValueQueueParameters{.tasks_per_node = 1, .capacity_min = 5};
    starve(allot::Dispatcher<>{}, support::seed(), 300);
    starve(allot::Dispatcher{allot::ValueQueue{small}}, support::seed() + 1, 300);
    starve(allot::Dispatcher{allot::FlatQueue{small}, allot::Rules{{.narrowing = allot::Narrowing::all}}},
           support::seed() + 2, 300);
    starve(allot::Dispatcher{allot::preset::Hardened{500, 10}, allot::FlatQueue{small}}, support::seed() + 3, 300);
}

TEST_CASE("an assignment that runs out of memory changes nothing") {
    auto chaos = support::Chaos<allot::Dispatcher<>>{support::seed(), true};
    const auto played = [&](int commands) {
        auto d = allot::Dispatcher<>{};
        for (auto i = 0; i < commands; ++i) { (void)d.apply(chaos.command(d), chaos.moment(d)); }
        return d;
    };
    const auto from = played(200);
    auto d = played(100);
    const auto before = allot::state_root(d);
    REQUIRE(before != allot::state_root(from));
    auto failures = 0;
    for (std::uint64_t nth = 1, done = 0; done == 0; ++nth) {
        support::fails_at = support::calls + nth;
        try {
            d = from;
            support::fails_at = 0;
            done = 1;
        } catch (const std::bad_alloc&) {
            support::fails_at = 0;
            ++failures;
            REQUIRE(allot::state_root(d) == before);
        }
    }
    CHECK(failures > 10);
    CHECK(d == from);
    CHECK(allot::state_root(d) == allot::state_root(from));
}

}  // namespace allocation_failure_test

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/valuation/fee_per_reserved_second.hpp>

#define ALLOT_MODEL allot::FeePerReservedSecond
#include "conformance/valuation.ipp"
#include "support/network.hpp"

namespace reserved_test {
namespace {

using namespace support;

auto declares(allot::TaskId id, int fee, Duration estimate) -> TaskSpec {
    return with(paying(id, fee), [&](auto& t) { t.duration_estimate = estimate; });
}

/// Which of the tasks starts first when the one node becomes free.
template <class D>
auto first(D d, const std::vector<TaskSpec>& tasks) -> std::vector<std::string> {
    join_plain(d, 1);
    ok(d.pause(1, dark(0s)));
    for (const auto& task : tasks) { ok(d.submit(task, dark(0s))); }
    return started(d.resume(1, at(0s)));
}

}  // namespace

TEST_CASE("the value is the fee over the length of the lease, once for each node") {
    auto task = allot::Task{};
    task.fee = 120;
    auto requirement = allot::Requirement{};
    CHECK(allot::FeePerReservedSecond{}.value(task, requirement, 60s) == allot::Value{120, 60'000});
    requirement.gang_size = 3;
    CHECK(allot::FeePerReservedSecond{}.value(task, requirement, 60s) == allot::Value{40, 60'000});
}

TEST_CASE("who reserves longer is worth less, however long it is and however many nodes it has") {
    auto task = allot::Task{};
    task.fee = 1'000'000'000;
    auto requirement = allot::Requirement{};
    requirement.gang_size = 255;
    auto before = allot::FeePerReservedSecond{}.value(task, requirement, 24h);
    for (const auto days : {2, 7, 30, 49, 50, 365, 10'000}) {
        const auto value = allot::FeePerReservedSecond{}.value(task, requirement, 24h * days);
        CHECK(value < before);
        before = value;
    }
    CHECK(before > allot::Value{});
}

TEST_CASE("a declared millisecond buys no place in the queue") {
    const auto tasks = std::vector{declares("liar", 10, 1ms), declares("honest", 100, 25s)};
    CHECK(first(allot::Dispatcher{allot::FeePerSecond{}}, tasks) == std::vector<std::string>{"liar"});
    CHECK(first(allot::Dispatcher{allot::FeePerReservedSecond{}}, tasks) == std::vector<std::string>{"honest"});
}

TEST_CASE("what is declared too long is worth less, and what reserves more nodes is, too") {
    const auto d = allot::Dispatcher{allot::FeePerReservedSecond{}};
    CHECK(first(d, {declares("long", 100, 2min), declares("short", 99, 1min)}) == std::vector<std::string>{"short"});
    CHECK(first(d, {declares("equal", 100, 1ms), declares("later", 100, 30s)}) == std::vector<std::string>{"equal"});
    const auto gang = with(declares("gang", 199, 1min), [](auto& t) { t.gang_size = 2; });
    auto pair = d;
    join_plain(pair, 2);
    ok(pair.submit(gang, dark(0s)));
    ok(pair.submit(declares("one", 100, 1min), dark(0s)));
    CHECK(started(pair.match(at(0s))) == std::vector<std::string>{"one"});
}

TEST_CASE("other terms change the value of later tasks") {
    auto d = allot::Dispatcher{allot::FeePerReservedSecond{}};
    ok(d.submit(declares(1, 60, 1ms), dark(0s)));
    CHECK(d.task(1)->value == allot::Value{60, 60'000});
    CHECK(d.view().record_of(declares(2, 60, 1ms)).value == d.task(1)->value);
    auto terms = d.view().terms.parameters();
    terms.length_min = 120s;
    ok(d.configure(terms, 2, dark(0s)));
    ok(d.submit(declares(3, 60, 1ms), dark(0s)));
    CHECK(d.task(3)->value == allot::Value{30, 60'000});
    CHECK(d.task(1)->value == allot::Value{60, 60'000});
}

}  // namespace reserved_test

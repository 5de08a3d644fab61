// Defects of real systems that no other test would see; table.txt lists all of them, each with its test.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/stakes.hpp"

namespace {

using namespace support;
using Names = std::vector<std::string>;

/// How long it takes to lose and regain the largest of so many stakes, many times.
auto time_to_lose_the_largest(std::uint32_t count) -> std::chrono::nanoseconds {
    auto stakes = Stakes{};
    for (std::uint32_t slot = 0; slot < count; ++slot) { stakes.set(slot, slot + 1U); }
    const auto second = allot::StakeRoot::from(count - 1U);
    auto best = std::chrono::nanoseconds::max();
    for (auto run = 0; run < 5; ++run) {
        const auto start = std::chrono::steady_clock::now();
        auto right = 0;
        for (auto i = 0; i < 500; ++i) {
            stakes.set(count - 1, 1);
            right += stakes.root_max() == second ? 1 : 0;
            stakes.set(count - 1, count);
        }
        best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        REQUIRE(right == 500);
    }
    return best;
}

/// Worth more the longer it waits: a token for each second. Everybody ages alike, so the order of two tasks never
/// changes, and the seconds before some far day say as much as those since the submission.
struct Ageing {
    using role = allot::role::valuation;
    static auto value(const allot::Task& task, const allot::Requirement&) -> allot::Value {
        const auto left = allot::time_point_max - task.submitted_at;
        return {task.fee.units * allot::u128{1'000} + allot::u128{static_cast<std::uint64_t>(left.count())}, 1};
    }
};

/// How many dear tasks a node takes, one coming every ten seconds, before the cheap one that waits.
template <class Dispatcher>
auto dear_ones_before_the_cheap(Dispatcher d, int most) -> int {
    join_plain(d, 1);
    auto lease = leased(d.submit(paying("first", 100), at(0s)));
    ok(d.submit(paying("cheap", 1), at(0s)));
    for (auto round = 1; round <= most; ++round) {
        const auto now = at(10s * round);
        ok(d.submit(paying(round, 100), now));
        lease = leased(d.complete(lease, now));
        if (lease.task == allot::TaskId{"cheap"}) { return round - 1; }
    }
    return most;
}

}  // namespace

TEST_CASE("losing the largest stake costs about as much among a million stakes as among a thousand (D5)") {
    const auto few = time_to_lose_the_largest(1'000);
    const auto many = time_to_lose_the_largest(1'000'000);
    CAPTURE(few.count(), many.count());
    CHECK(many < 50 * few);  // a walk over all stakes: a thousand times
}

TEST_CASE("hundreds of blocked tasks of higher value hold up nobody (D11)") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = 1'000}}};
    join_plain(d, 1);
    for (auto i = 0; i < 150; ++i) {  // one member ran on the only node, so that another may not
        const auto member = [&](const char* part, int fee) {
            return with(paying(std::string{part} + std::to_string(i), fee), [&](auto& t) { t.group = i + 1; });
        };
        ok(d.complete(leased(d.submit(member("ran ", 1), at(0s))), dark(0s)));
        ok(d.submit(member("blocked ", 1'000 + i), dark(0s)));
        ok(d.submit(with(paying(i, 2'000 + i), [](auto& t) { t.vram_min = 80_GiB; }), dark(0s)));
    }
    ok(d.submit(paying("good", 10), dark(0s)));
    REQUIRE(d.queued() == 301);
    SECTION("when waiting tasks are tried") { CHECK(started(d.match(at(0s))) == Names{"good"}); }
    SECTION("when the node becomes free") {
        ok(d.pause(1, dark(0s)));
        CHECK(started(d.resume(1, at(0s))) == Names{"good"});
    }
}

TEST_CASE("a task that starts over keeps its value and its place (D16)") {
    auto d = allot::Dispatcher{allot::FixedTerms{{.after_failure = allot::Next::retry}}};
    join_plain(d, 1);
    auto lease = leased(d.submit(paying("tried", 100), at(0s)));
    ok(d.submit(paying("as dear", 100), at(0s)));
    ok(d.submit(with(paying("just cheaper", 100), [](auto& t) { t.duration_estimate = 100'001ms; }), at(0s)));
    const auto value = d.task("tried")->value;
    for (auto attempt = 1; attempt < 3; ++attempt) {
        CHECK(count<event::TaskRetried>(d.fail(lease, allot::FailCause::execution_error, dark(0s))) == 1);
        CHECK(d.task("tried")->value == value);
        const auto events = d.match(at(0s));
        REQUIRE(started(events) == Names{"tried"});
        lease = all<event::TaskStarted>(events).at(0).lease;
    }
    CHECK(started(d.complete(lease, at(0s))) == Names{"as dear"});
}

TEST_CASE("a task that pays nothing or needs no model is taken like any other (D18)") {
    auto d = allot::Dispatcher<>{};
    ok(d.submit(paying("gift", 0), at(0s)));
    ok(d.submit(with(paying("dear", 2), [](auto& t) { t.models = {"m"}; }), at(0s)));
    ok(d.submit(paying("plain", 1), at(0s)));
    SECTION("by a node that becomes free") {
        auto order = Names{};
        auto events = d.join(with(plain_node(1), [](auto& n) { n.models = {"m"}; }), at(0s));
        while (const auto* lease = events.lease()) {
            order.push_back(lease->task.text());
            events = d.complete(Lease{*lease}, at(0s));
        }
        CHECK(order == Names{"dear", "plain", "gift"});
    }
    SECTION("when waiting tasks are tried") {
        join_plain(d, 3, dark(0s));
        CHECK(started(d.match(at(0s))) == Names{"dear", "plain", "gift"});
    }
    CHECK(d.queued() == 0);
}

TEST_CASE("a trace that fails takes no task with it (D40)") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto before = d;
    const auto submit = command::Submit{plain_task(1)};
    const auto failing = allot::Trace<allot::Dispatcher<>::View>{
        nullptr, [](void*, const allot::Dispatcher<>::View&, const allot::Decision&) {
            throw std::runtime_error{"no space left"};
        }};
    auto events = Events{};
    CHECK_THROWS_AS(d.apply(submit, at(0s), events, failing), std::runtime_error);
    CHECK(d == before);
    CHECK(events.size() == 0);
    d.apply(submit, at(0s), events);
    CHECK(started(events) == Names{"1"});
}

TEST_CASE("what names are made of never makes two requirements one (D42)") {
    for (const auto& separator : {",", ";", "|", ":", "/", "+", "_", "-", " ", "\n", "\x1F", ",,", "\",\""}) {
        CAPTURE(separator);
        auto d = allot::Dispatcher<>{};
        const auto joined = "a" + std::string{separator} + "b";
        const auto wants = [](const char* id, std::vector<std::string> platforms, std::vector<allot::GpuChoice> gpus) {
            return with(plain_task(id), [&](TaskSpec& t) {
                t.platforms = std::move(platforms);
                t.gpus = std::move(gpus);
            });
        };
        ok(d.submit(wants("one platform", {joined}, {}), at(0s)));
        ok(d.submit(wants("two platforms", {"a", "b"}, {}), at(0s)));
        ok(d.submit(wants("one card", {}, {{joined, {}}}), at(0s)));
        ok(d.submit(wants("two cards", {}, {{"a", {}}, {"b", {}}}), at(0s)));
        ok(d.submit(wants("a card and a platform", {"b"}, {{"a", {}}}), at(0s)));
        CHECK(d.state().fits().requirements().size() == 5);
        const auto pulled = [&](const char* gpu, const std::string& platform) {
            auto some = d;
            auto names = Names{};
            auto events = some.join(with(plain_node(1),
                                         [&](auto& n) {
                                             n.gpu = gpu;
                                             n.platform = platform;
                                         }),
                                    at(0s));
            while (const auto* lease = events.lease()) {
                names.push_back(lease->task.text());
                events = some.complete(Lease{*lease}, at(0s));
            }
            return names;
        };
        CHECK(pulled("c", joined) == Names{"one platform"});
        CHECK(pulled("c", "b") == Names{"two platforms"});
        CHECK(pulled("b", "c") == Names{"two cards"});
        CHECK(pulled("a", "b") == Names{"two platforms", "two cards", "a card and a platform"});
    }
}

// The seeds ask for strict order of value, and so it is by default: who pays too little waits until its time is up, is
// told its place meanwhile, and has its fee back. Who wants ageing says so in the valuation.
TEST_CASE("a cheap task gets its turn where the valuation ages, and only there (D43)") {
    CHECK(dear_ones_before_the_cheap(allot::Dispatcher<>{}, 100) == 100);
    CHECK(dear_ones_before_the_cheap(allot::Dispatcher{Ageing{}}, 100) == 9);  // 99 tokens more, ten seconds each
}

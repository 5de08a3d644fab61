#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <allot/explain/expected_wait.hpp>
#include <allot/explain/task.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace expected_wait_test { namespace {

using namespace support;
using allot::TaskId;
using Wait = std::optional<Duration>;
using D = allot::Dispatcher<allot::Rules>;

template <class Dispatcher>
auto wait_of(const Dispatcher& d, TaskId task) -> Wait {
    return allot::expected_wait(d, task).value();
}

auto large_node(allot::NodeId id) -> NodeSpec {
    return with(plain_node(id), [](NodeSpec& n) { n.vram = 80_GiB; });
}
auto large_task(TaskId id, allot::Amount fee) -> TaskSpec {
    return with(paying(id, fee), [](TaskSpec& t) { t.vram_min = 80_GiB; });
}

TEST_CASE("a task waits until the node's task should be done, and a late one is trusted less and less") {
    auto d = D{};
    CHECK(allot::expected_wait(d, plain_task(2)).value() == Wait{});  // no node at all
    join_plain(d, 1);
    CHECK(allot::expected_wait(d, plain_task(2)).value() == Wait{0s});
    ok(d.submit(plain_task(1), at(0s)));  // 100 s, for 200 s at most
    ok(d.submit(plain_task(2), at(30s)));
    ok(d.submit(plain_task(3), at(30s)));
    CHECK(wait_of(d, 2) == Wait{70s});
    CHECK(wait_of(d, 3) == Wait{170s});
    CHECK(allot::expected_wait(d, paying(4, 101)).value() == Wait{70s});
    ok(d.advance(dark(100s)));
    CHECK(wait_of(d, 2) == Wait{0s});
    ok(d.advance(dark(130s)));
    CHECK(wait_of(d, 2) == Wait{30s});
    CHECK(wait_of(d, 3) == Wait{130s});
    ok(d.advance(dark(190s)));
    CHECK(wait_of(d, 2) == Wait{10s});  // then its lease ends
}

TEST_CASE("only better tasks that take the same nodes hold a task up") {
    auto d = D{};
    ok(d.join(plain_node(1), at(0s)));
    ok(d.join(large_node(2), at(0s)));
    ok(d.submit(large_task(1, 1), at(0s)));
    ok(d.submit(with(paying(2, 1), [](TaskSpec& t) { t.duration_estimate = 40s; }), at(0s)));
    REQUIRE(d.queued() == 0);
    ok(d.submit(large_task(11, 500), at(0s)));  // on node 2 from 100 s to 200 s
    ok(d.submit(paying(12, 400), at(0s)));      // on node 1 from 40 s to 140 s
    ok(d.submit(paying(13, 300), at(0s)));      // on node 1 from 140 s to 240 s
    ok(d.submit(large_task(14, 200), at(0s)));  // on node 2 from 200 s to 300 s
    ok(d.submit(paying(15, 100), at(0s)));      // on node 1 from 240 s
    CHECK(wait_of(d, 11) == Wait{100s});
    CHECK(wait_of(d, 12) == Wait{40s});
    CHECK(wait_of(d, 13) == Wait{140s});
    CHECK(wait_of(d, 14) == Wait{200s});
    CHECK(wait_of(d, 15) == Wait{240s});
}

TEST_CASE("whoever pays more and came within the hour is expected to come again") {
    auto d = D{};
    join_plain(d, 1);
    ok(d.submit(with(paying(1, 40'000), [](TaskSpec& t) { t.duration_estimate = 2'000s; }), at(0s)));  // 20 a second
    ok(d.submit(paying(2, 100), at(1'100s)));
    ok(d.submit(paying(3, 2'000), at(1'100s)));  // 20 a second, too
    CHECK(wait_of(d, 3) == Wait{900s});
    // 2,000 s of 3,600 s are gone: (900 s + 100 s) · 3,600 / 1,600
    CHECK(wait_of(d, 2) == Wait{2'250s});
    ok(d.join(plain_node(2), dark(1'100s)));
    ok(d.pause(2, dark(1'100s)));
    CHECK(wait_of(d, 2) == Wait{2'250s});  // a paused node offers nothing
    ok(d.join(plain_node(3), dark(1'100s)));
    CHECK(wait_of(d, 3) == Wait{0s});
    // Node 3 takes task 3 for 100 s; of 7,200 s a third and a bit are gone: 100 s · 7,200 / 5,200
    CHECK(wait_of(d, 2) == Wait{Duration{138'461}});
}

TEST_CASE("newcomers stretch a wait fourfold at most, and are forgotten after an hour") {
    auto d = D{};
    join_plain(d, 1);
    ok(d.submit(with(paying(1, 100'000), [](TaskSpec& t) { t.duration_estimate = 5'000s; }), at(0s)));
    ok(d.submit(paying(2, 1), at(3'599s)));
    CHECK(wait_of(d, 2) == Wait{4 * 1'401s});
    ok(d.advance(dark(3'600s)));
    CHECK(wait_of(d, 2) == Wait{1'400s});
}

TEST_CASE("an excluded node is expected back when its exclusion ends") {
    auto d = D{};
    join_plain(d, 1);
    for (auto i = 0; i < 50 && !d.node(1)->node.excluded; ++i) {
        ok(d.observe(1, allot::OutcomeKind::timeout, at(0s)));
    }
    REQUIRE(d.node(1) != nullptr);
    REQUIRE(d.node(1)->node.excluded);
    ok(d.submit(plain_task(1), at(0s)));
    CHECK(wait_of(d, 1) == Wait{d.node(1)->node.due_at - TimePoint{}});
}

TEST_CASE("a busy node that will be removed takes nothing any more, not even what goes before") {
    auto d = D{};
    join_plain(d, 1);
    ok(d.submit(plain_task(1), at(0s)));
    ok(d.join(plain_node(2), at(0s)));
    ok(d.submit(with(paying(2, 300), [](TaskSpec& t) { t.duration_estimate = 300s; }), at(0s)));
    ok(d.submit(plain_task(3), at(0s)));
    ok(d.submit(plain_task(4), at(0s)));
    CHECK(wait_of(d, 3) == Wait{100s});
    CHECK(wait_of(d, 4) == Wait{200s});
    for (auto i = 0; i < 100 && !d.node(1)->node.kicked_out; ++i) { ok(d.score(1, 0, at(0s))); }
    REQUIRE(d.node(1)->node.kicked_out);
    REQUIRE(d.node(1)->node.leased());
    CHECK(wait_of(d, 3) == Wait{300s});
    CHECK(wait_of(d, 4) == Wait{400s});
}

TEST_CASE("no wait is told where no node takes the task by itself") {
    auto d = D{allot::Rules{{.narrowing = allot::Narrowing::gate}}};
    join_plain(d, 1);
    const auto none = [&](const TaskSpec& spec) { return allot::expected_wait(d, spec).value() == Wait{}; };
    CHECK_FALSE(none(plain_task(1)));
    CHECK(none(large_task(1, 1)));
    CHECK(none(with(plain_task(1), [](TaskSpec& t) { t.models = {"sdxl"}; })));
    auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK_FALSE(none(plain_task(2)));
    ok(d.decline(lease, dark(1s)));
    CHECK(wait_of(d, 1) == Wait{});  // it avoids the node
    CHECK_FALSE(none(plain_task(2)));
    lease = leased(d.submit(plain_task(3), at(1s)));
    ok(d.pause(1, dark(1s)));
    CHECK(none(plain_task(2)));
    ok(d.resume(1, dark(1s)));
    CHECK_FALSE(none(plain_task(2)));
    ok(d.leave(1, dark(1s)));
    CHECK(none(plain_task(2)));
    ok(d.complete(lease, dark(2s)));
    CHECK(allot::expected_wait(d, TaskId{3}).error() == Error::task_ended);
    CHECK(allot::expected_wait(d, TaskId{9}).error() == Error::task_unknown);
    CHECK(allot::expected_wait(d, with(plain_task(9), [](TaskSpec& t) { t.duration_estimate = 0s; })).error() ==
          Error::duration_invalid);
}

/// Lets each running task end when its estimate says, until nobody runs; tells when each task started.
auto play_out(D& d) -> std::map<std::string, TimePoint> {
    auto starts = std::map<std::string, TimePoint>{};
    for (;;) {
        auto next = std::optional<std::pair<TimePoint, Lease>>{};
        d.state().leases().for_each([&](allot::LeaseHandle, const allot::LeaseRecord& record) {
            const auto& task = d.state().tasks()[record.task];
            const auto end = record.started_at + task.duration_estimate;
            // At one time the nodes end in the order of their records, which is that of their ids here.
            const auto& node = d.state().nodes()[record.node].node;
            if (!next || std::pair{end, node.id} < std::pair{next->first, next->second.node}) {
                next = {end, {task.id, node.id, record.token, 0, 1, record.deadline}};
            }
        });
        if (!next) { return starts; }
        const auto events = d.complete(next->second, {next->first, 7});
        ok(events);
        for (const auto& start : all<event::TaskStarted>(events)) {
            starts.emplace(start.lease.task.text(), next->first);
        }
    }
}

TEST_CASE("where every estimate is right and nobody comes, each task starts when it was said to") {
    auto random = std::mt19937_64{support::seed()};
    const auto below = [&](std::uint64_t n) { return random() % n; };
    auto compared = 0;
    for (auto run = 0; run < 40; ++run) {
        auto d = D{};
        const auto random_task = [&](std::uint64_t id, std::uint64_t value) {
            return with(plain_task(id), [&](TaskSpec& t) {
                const auto seconds = 1 + below(100);
                t.vram_min = {static_cast<std::uint32_t>(8 + 8 * below(3))};
                t.gpus = below(3) == 0 ? std::vector<allot::GpuChoice>{{"H100", {}}} : t.gpus;
                t.duration_estimate = std::chrono::seconds{seconds};
                t.fee = seconds * value;
            });
        };
        const auto nodes = 1 + below(6);
        for (auto id = std::uint64_t{1}; id <= nodes; ++id) {
            ok(d.join(with(plain_node(id),
                           [&](NodeSpec& n) {
                               n.vram = {static_cast<std::uint32_t>(8 + 8 * below(3))};
                               n.gpu = below(2) == 0 ? "H100" : "RTX 4090";
                           }),
                      at(0s)));
            ok(d.submit(with(random_task(1'000 + id, 1),
                             [&](TaskSpec& t) {
                                 t.vram_min = 8_GiB;
                                 t.gpus.clear();
                             }),
                        at(0s)));
        }
        for (auto id = std::uint64_t{1}; id <= 20; ++id) { ok(d.submit(random_task(id, 2 + below(8)), at(0s))); }
        auto said = std::map<std::string, TimePoint>{};
        auto unplaced = std::vector<TaskId>{};
        for (auto id = std::uint64_t{1}; id <= 20; ++id) {
            const auto wait = wait_of(d, id);
            if (wait) {
                said.emplace(TaskId{id}.text(), TimePoint{*wait});
            } else {
                unplaced.emplace_back(id);
            }
        }
        INFO("ALLOT_SEED " << support::seed() << ", run " << run);
        CHECK(play_out(d) == said);
        for (const auto& id : unplaced) { CHECK(is_queued(d, id)); }
        compared += static_cast<int>(said.size());
    }
    CHECK(compared > 200);
}

TEST_CASE("whatever happened, a wait is not negative, the first of the queue does not wait for a free node, and value "
          "helps") {
    auto zero = 0;
    auto shorter = 0;
    auto none = 0;
    for (auto run = std::uint64_t{0}; run < 9; ++run) {
        auto d = D{allot::Rules{{.narrowing = static_cast<allot::Narrowing>(run % 3)}}};
        auto chaos = support::Chaos<D>{support::seed() + run};
        for (auto step = 0; step < 400; ++step) {
            const auto moment = chaos.moment(d);
            const auto command = chaos.command(d);
            (void)d.apply(command, moment);
            auto spec = chaos.a_task();
            if (d.check(command::Submit{spec})) { continue; }
            INFO("ALLOT_SEED " << support::seed() << ", run " << run << ", step " << step);
            const auto before = d.digest();
            const auto explained = allot::explain(d, spec).value();
            const auto wait = allot::expected_wait(d, spec).value();
            spec.fee = spec.fee.units + 1 + chaos.below(9);
            const auto wait_for_more = allot::expected_wait(d, spec).value();
            CHECK(d.digest() == before);
            CHECK(wait.has_value() == wait_for_more.has_value());
            none += wait ? 0 : 1;
            if (wait) {
                CHECK(*wait_for_more >= 0s);
                CHECK(*wait_for_more <= *wait);
                shorter += *wait_for_more < *wait ? 1 : 0;
            }
            if (explained.position == 1 && explained.candidates > 0) {
                CHECK(wait == Wait{0s});
                ++zero;
            }
        }
    }
    CHECK(zero > 20);
    CHECK(shorter > 20);
    CHECK(none > 20);
}

}}  // namespace expected_wait_test

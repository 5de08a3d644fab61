#include <cstdint>
#include <string>
#include <vector>

#include <allot/dispatcher/look.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace look_test {

using namespace support;
using Names = std::vector<std::string>;

TEST_CASE("a lease is found by its task and by its node", "[S3]") {
    auto d = allot::Dispatcher<>{};
    for (auto n = 1U; n <= 3; ++n) { ok(d.join(plain_node(n), at(0s))); }
    CHECK_FALSE(d.lease_of(1));
    CHECK_FALSE(d.lease_of(99));
    CHECK_FALSE(d.lease(7));
    const auto started =
        all<event::TaskStarted>(d.submit(with(plain_task(7), [](auto& t) { t.gang_size = 3; }), at(0s)));
    REQUIRE(started.size() == 3);
    for (const auto& start : started) {
        CHECK(d.lease(7, start.lease.member) == start.lease);
        CHECK(d.lease_of(start.lease.node) == start.lease);
    }
    CHECK_FALSE(d.lease(7, 3));
    auto seen = std::vector<Lease>{};
    allot::each_lease(d, [&](const Lease& lease) { seen.push_back(lease); });
    CHECK(seen.size() == 3);
    ok(d.cancel(7, at(1s)));
    CHECK_FALSE(d.lease(7));
    CHECK_FALSE(d.lease_of(1));
}

TEST_CASE("verbs take a lease of which only task, node and token are right", "[S3]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    const auto lease = leased(d.submit(plain_task(7), at(0s)));
    CHECK(d.complete(Lease{lease.task, lease.node, lease.token}, at(1s)).accepted());
}

TEST_CASE("a node is shown by values, with the names of its class and models", "[N4]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node("a"), [](auto& n) { n.models = {"sdxl", "flux"}; }), at(0s)));
    const auto lease = leased(d.submit(with(plain_task(7), [](auto& t) { t.models = {"sdxl"}; }), at(0s)));
    const auto node = allot::find_node(d, "a");
    REQUIRE(node);
    CHECK((node->gpu == "RTX 4090" && node->vram == 24_GiB && node->stake == allot::Amount{400}));
    CHECK(node->state == NodeState::busy);
    CHECK(node->score_permille == d.qos_score(*d.node("a")).permille());
    CHECK(node->score_permille > 0);
    CHECK(node->lease == lease);
    REQUIRE(node->models.size() == 2);
    CHECK((node->models[0].name == "flux" && node->models[0].holding == allot::Holding::on_disk));
    CHECK((node->models[1].name == "sdxl" && node->models[1].holding == allot::Holding::in_use));
    CHECK_FALSE(allot::find_node(d, "b"));
    ok(d.complete(lease, at(1s)));
    ok(d.leave("a", at(1s)));
    const auto gone = allot::find_node(d, "a");
    REQUIRE(gone);
    CHECK((gone->state == NodeState::left && gone->gpu.empty() && gone->models.empty() && !gone->lease));
}

TEST_CASE("a task is shown by values, with its leases while it runs", "[N4]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node(1), at(0s)));
    const auto lease = leased(d.submit(plain_task(7), at(0s)));
    ok(d.submit(plain_task(8), at(1s)));
    auto ids = Names{};
    allot::each_task(d, [&](const allot::TaskView& task) { ids.push_back(task.id.text()); });
    CHECK(ids == Names{"7", "8"});
    const auto runs = *allot::find_task(d, 7);
    CHECK(
        (runs.state == allot::TaskState::running && runs.leases == std::vector{lease} && runs.due_at == allot::never));
    CHECK((runs.attempts == 1 && runs.owner == plain_task(7).owner));
    const auto waits = *allot::find_task(d, 8);
    CHECK((waits.state == allot::TaskState::queued && waits.leases.empty() && waits.submitted_at == TimePoint{1s}));
    CHECK_FALSE(allot::find_task(d, 9));
    auto nodes = Names{};
    allot::each_node(d, [&](const allot::NodeView& node) { nodes.push_back(node.id.text()); });
    CHECK(nodes == Names{"1"});
}

TEST_CASE("settling takes as many steps as what is due needs", "[S4]") {
    auto d = allot::Dispatcher{allot::Rules{{.due_max = 2}}};
    for (auto t = 1U; t <= 7; ++t) { ok(d.submit(plain_task(t), at(0s))); }
    const auto later = at(24h * 365);
    CHECK(refusal(d.join(plain_node(1), later)) == Error::advance_first);
    auto expired = 0;
    auto steps = 0;
    allot::settle(d, later, [&](const Events& events) {
        ++steps;
        expired += static_cast<int>(count<event::TaskTimedOut>(events));
    });
    CHECK(expired >= 5);  // what the refused command settled came before
    CHECK(steps > 1);
    CHECK(d.join(plain_node(1), later).accepted());
    auto calls = 0;
    allot::settle(d, at(1s), [&](const Events& events) {
        ++calls;
        CHECK(refusal(events) == Error::time_went_back);
    });
    CHECK(calls == 1);
}

}  // namespace look_test

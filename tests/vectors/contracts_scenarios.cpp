// labels: vectors
// What happened on the unmodified contracts from end to end, played again here by their preset. Where ours does
// otherwise on purpose, both are stated, with the defect.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <allot/preset/crynux_contracts.hpp>

#include "support/network.hpp"
#include "vectors/cases.hpp"

namespace {

using namespace support;

// States of tasks and nodes in the contracts.
constexpr auto task_queued = 0;
constexpr auto task_started = 1;
constexpr auto task_aborted = 9;
constexpr auto node_quit = 0;
constexpr auto node_available = 1;

/// The second contracts with this many places in the queue and this window that kicks out.
auto contracts(std::uint32_t places = 50, std::uint32_t kick_out_at = 10) {
    return allot::Dispatcher{allot::preset::CrynuxContracts2{},
                             allot::ValueQueue{{.tasks_per_node = 0, .capacity_min = places}},
                             allot::ContractQos{{.kick_out_at = kick_out_at}}};
}
using Network = decltype(contracts());

auto task_of(allot::TaskId id, std::uint64_t fee, std::uint32_t size = 1) -> TaskSpec {
    return with(paying(id, fee), [&](TaskSpec& t) {
        t.duration_estimate = allot::FeePerSize{}.estimate(size).value();
        t.models = {"model"};
        t.software = allot::SoftwareVersion{2, 5, 0};
    });
}
auto node_of(allot::NodeId id) -> NodeSpec {
    return with(plain_node(id), [](NodeSpec& n) { n.software = {2, 5, 0}; });
}
/// As the contracts number the states that both know.
auto task_status(const Network& d, allot::TaskId id) -> int {
    const auto& task = *d.task(id);
    return task.state == allot::TaskState::queued    ? task_queued
           : task.state == allot::TaskState::running ? task_started
                                                     : -1;
}
auto node_status(const Network& d, allot::NodeId id) -> int {
    const auto state = state_of(d, id);
    return state == NodeState::available ? node_available : state == NodeState::left ? node_quit : -1;
}
auto number(const Json& value) -> std::uint64_t { return value.get<std::uint64_t>(); }

void full_queue(const Json& row) {
    CHECK(row["observed"] == "Task queue is full");  // theirs: the newcomer is refused, however dear
    CHECK(row["statusOfCheapest"] == task_queued);
    auto d = contracts(static_cast<std::uint32_t>(number(row["sizeLimit"])));
    auto cheapest = std::pair{~std::uint64_t{0}, allot::TaskId{0}};
    auto id = 0;
    for (const auto& fee : row["feesQueued"]) {
        CHECK(d.submit(task_of(++id, number(fee)), at(0s)).get<event::TaskQueued>() != nullptr);
        cheapest = std::min(cheapest, std::pair{number(fee), allot::TaskId{id}});
    }
    CHECK(d.queued() == number(row["queueSize"]));
    const auto fee = number(row["newFee"]);
    REQUIRE(fee > cheapest.first);
    const auto events = d.submit(task_of("new", fee), at(0s));
    REQUIRE(events.accepted());  // ours: the cheapest goes, and its fee with it (D20, D22)
    const auto* evicted = events.get<event::TaskEvicted>();
    REQUIRE(evicted != nullptr);
    CHECK(evicted->task == cheapest.second);
    CHECK(evicted->refunded == allot::Amount{cheapest.first});
    CHECK(task_status(d, "new") == task_queued);
    CHECK(d.queued() == number(row["queueSize"]));
}

void abort_of_a_queued_task(const Json& row) {
    const auto fee = number(row["fee"]);
    CHECK(whole(row["contractBalanceBefore"]) == allot::u128{fee});
    CHECK(whole(row["after"]) == allot::u128{fee});  // theirs: the contract keeps it
    CHECK(row["refunded"] == false);
    CHECK(row["status"] == task_aborted);
    auto d = contracts();
    ok(d.submit(task_of(1, fee), at(0s)));
    const auto events = d.cancel(1, at(0s));
    CHECK(events.get<event::TaskCancelled>()->refunded == allot::Amount{fee});  // ours: it goes back (D22)
    CHECK(d.ended(1)->ending == allot::Ending::cancelled);
}

void dearest_needs_a_newer_version(const Json& row) {
    auto d = contracts();
    ok(d.submit(with(task_of("dear", 20), [](auto& t) { t.software = allot::SoftwareVersion{2, 6, 0}; }), at(0s)));
    ok(d.submit(task_of("cheap", 10), at(0s)));
    ok(d.join(node_of(1), at(0s)));
    CHECK(task_status(d, "dear") == row["statusDear"].get<int>());
    CHECK(row["statusCheapCompatible"] == task_queued);  // theirs: it starves behind the dear one
    CHECK(task_status(d, "cheap") == task_started);      // ours: it starts (D17)
}

/// Theirs: such a task is never popped. Ours: it starts (D18).
void starved(const Json& row, const TaskSpec& task) {
    CHECK(row["status"] == task_queued);
    auto d = contracts();
    ok(d.submit(task, at(0s)));
    CHECK(task_status(d, task.id) == task_queued);
    ok(d.join(node_of(1), at(0s)));
    CHECK(task_status(d, task.id) == task_started);
}

/// Theirs: a task of size 0 starts, but divides by zero where it has to wait. Ours: refused where it is made, and where
/// it is submitted all the same (D19).
void size_zero(bool node_is_free) {
    CHECK(allot::FeePerSize{}.estimate(0).error() == Error::duration_invalid);
    auto d = contracts();
    if (node_is_free) { ok(d.join(node_of(1), at(0s))); }
    const auto task = with(task_of(1, 10), [](auto& t) { t.duration_estimate = Duration{0}; });
    CHECK(refusal(d.submit(task, at(0s))) == Error::duration_invalid);
    CHECK(d.task(1) == nullptr);
}

void best_of_four(const Json& row) {
    auto d = contracts();
    const auto wants = [](const char* id, std::uint64_t fee, std::uint32_t vram,
                          std::vector<allot::GpuChoice> gpus = {}) {
        return with(task_of(id, fee), [&](auto& t) {
            t.vram_min = allot::Gibibytes{vram};
            t.gpus = std::move(gpus);
        });
    };
    ok(d.submit(wants("a", 50, 8), at(0s)));
    ok(d.submit(wants("b", 60, 16), at(0s)));
    ok(d.submit(wants("c", 70, 0, {{"RTX 4080", 16_GiB}}), at(0s)));
    ok(d.submit(wants("d", 90, 24), at(0s)));
    ok(d.join(with(node_of(1),
                   [](auto& n) {
                       n.gpu = "RTX 4080";
                       n.vram = 16_GiB;
                   }),
              at(0s)));
    REQUIRE(row["started"].size() == 4);
    for (const auto& [id, theirs] : row["started"].items()) {
        CAPTURE(id);
        CHECK(task_status(d, id) == theirs.get<int>());
    }
}

/// The node's books after each of its tasks ended in this way.
template <class End>
void books(Network& d, const Json& trace, End end) {
    ok(d.join(node_of(1), at(0s)));
    auto time = Duration{0};
    auto id = 0;
    for (const auto& step : trace) {
        CAPTURE(step.dump());
        if (step.is_string()) {
            CHECK(step == "queued: node gone");
            CHECK(d.submit(task_of(++id, 10), at(time)).get<event::TaskQueued>() != nullptr);
            CHECK(task_status(d, id) == task_queued);
            continue;
        }
        const auto lease = leased(d.submit(task_of(++id, 10), at(time)));
        CHECK(number(step["timeout"]) == static_cast<std::uint64_t>(id));
        time = end(lease);
        const auto& scores = d.node(1)->qos;
        CHECK(node_status(d, 1) == step["nodeStatus"].get<int>());
        CHECK(scores.mean(20) == number(step["taskScore"]));
        CHECK(scores.recent_sum() == number(step["recent"]));
    }
}
void timeouts(const Json& row) {
    auto d = contracts(50, static_cast<std::uint32_t>(number(row["kickoutThreshold"])));
    books(d, row["trace"], [&](const Lease& lease) {
        const auto time = lease.deadline.time_since_epoch();
        CHECK(count<event::TaskTimedOut>(d.advance(at(time))) == 1);
        return time;
    });
}
/// The creator takes the task back, which is no fault of the node's.
void aborts_before_the_start(const Json& row) {
    auto d = contracts();
    books(d, row["trace"], [&](const Lease& lease) {
        const auto time = lease.deadline.time_since_epoch() - 1ms;
        CHECK(count<event::TaskCancelled>(d.cancel(lease.task, at(time))) == 1);
        return time;
    });
}

void model_reported(const Json& row) {
    auto d = contracts();
    ok(d.join(node_of(1), at(0s)));
    ok(d.submit(with(task_of(1, 10), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));  // somebody asks for the model
    const auto free_holders = [&] {
        const auto model = d.state().models().find("model").value();
        return d.pool().count(allot::SamplingFrame{d.state().fits().all_classes(), {&model, 1}});
    };
    CHECK(free_holders() == number(row["before"]));
    ok(d.report_model(1, command::Report::add, {"model"}, at(0s)));
    CHECK((holding(d, 1, "model") == allot::Holding::on_disk) == row["nodeContains"].get<bool>());
    CHECK(row["after"] == row["before"]);                // theirs: not counted until it was busy once
    CHECK(free_holders() == number(row["before"]) + 1);  // ours: at once (D26)
}

}  // namespace

TEST_CASE("what happened on the contracts happens here, or better on purpose") {
    const auto plays = std::map<std::string, void (*)(const Json&)>{
        {"queue full, dearer task arrives", full_queue},
        {"creator aborts queued task: is the fee refunded?", abort_of_a_queued_task},
        {"same vram group: dearest task needs newer version than node; cheaper one matches",
         dearest_needs_a_newer_version},
        {"queued task with zero modelIDs, matching node joins",
         [](const Json& row) { starved(row, with(task_of(1, 10), [](auto& t) { t.models = {}; })); }},
        {"queued task with price fee/size = 0, matching node joins",
         [](const Json& row) { starved(row, task_of(1, 2, 3)); }},
        {"taskSize = 0 when it must be queued",
         [](const Json& row) {
             CHECK(row["observed"] == "0x12");  // a division by zero
             size_zero(false);
         }},
        {"taskSize = 0 when a node is available",
         [](const Json& row) {
             CHECK(row["status"] == task_started);
             size_zero(true);
         }},
        {"joined 16GB RTX 4080; queue: 8GB@50, 16GB@60, RTX4080@70, 24GB@90", best_of_four},
        {"consecutive execution timeouts (params uploaded, then abort after timeout) until kickout", timeouts},
        {"consecutive aborts while still Started (relay never uploaded params): node is compensated",
         aborts_before_the_start},
        {"reportModelDownloaded on an Available node: is it counted available for that model?", model_reported},
    };
    for (const auto& row : cases("contracts_v2_scenarios")) {
        CAPTURE(row.dump());
        const auto play = plays.find(row["scenario"].get<std::string>());
        REQUIRE(play != plays.end());  // a scenario that nobody plays
        play->second(row);
    }
}

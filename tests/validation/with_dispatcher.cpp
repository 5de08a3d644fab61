#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/validation.hpp>

#include "support/catch.hpp"
#include "support/instances.hpp"

namespace {

using namespace std::chrono_literals;
using namespace allot::literals;
namespace said = allot::validation_event;
using allot::NodeId;
using allot::TaskId;
using allot::ValidationGroup;
using Bytes = std::vector<std::uint8_t>;

/// What an embedder does: it tells the group of the leases that begin, and the dispatcher of what the group says.
struct Embedder {
    allot::Dispatcher<> dispatcher{};
    std::map<TaskId, allot::Lease> leases{};
    std::vector<allot::Event> events{};
    allot::Moment now{{}, 2026};

    void join(const char* id, const char* operator_id) {
        hear(dispatcher.join({.id = id, .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400, .operator_id = operator_id},
                             now));
    }
    void submit(TaskId id, std::optional<allot::GroupId> group = std::nullopt) {
        hear(dispatcher.submit({.id = id, .vram_min = 8_GiB, .fee = 100, .duration_estimate = 600s, .group = group},
                               now));
    }
    void hear(const allot::Events& heard) {
        REQUIRE(heard.accepted());
        for (const auto& event : heard) {
            if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
                leases.insert_or_assign(started->lease.task, started->lease);
            }
            events.push_back(event);
        }
    }
    auto placed(TaskId task) const -> allot::Placement {
        const auto& lease = leases.at(task);
        const auto* record = dispatcher.node(lease.node);
        return {lease.node, record->node.operator_id(), "RTX 4090", lease.deadline};
    }
    void act(const allot::ValidationEffects& effects) {
        REQUIRE(effects.accepted());
        for (const auto& event : effects.events) {
            std::visit([&](const auto& e) { on(e); }, event);
        }
    }
    void on(const said::MemberPassed& e) { hear(dispatcher.renew(leases.at(e.task), now)); }
    void on(const said::MemberMatched& e) { hear(dispatcher.complete(leases.at(e.task), now)); }
    void on(const said::MemberCompleted& e) { hear(dispatcher.complete(leases.at(e.task), now)); }
    void on(const said::MemberWrong& e) {
        hear(e.slash ? dispatcher.slash(e.node, now)
                     : dispatcher.fail(leases.at(e.task), allot::FailCause::incorrect_result, now));
    }
    void on(const said::MemberUndecided& e) {
        hear(dispatcher.fail(leases.at(e.task), allot::FailCause::execution_error, now));
    }
    void on(const said::NodeScored& e) { hear(dispatcher.score(e.node, e.points, now)); }
    void on(const said::UploadMissed& e) {
        hear(dispatcher.observe(e.node, allot::OutcomeKind::timeout_in_group, now));
    }
    template <class E>
    void on(const E&) {}

    template <class E>
    auto all() const -> std::vector<E> {
        auto out = std::vector<E>{};
        for (const auto& event : events) {
            if (const auto* found = std::get_if<E>(&event)) { out.push_back(*found); }
        }
        return out;
    }
};

const auto tasks =
    std::vector<allot::ValidationTask>{{1, "creator", 100, {7}}, {2, "creator", 100, {7}}, {3, "creator", 100, {7}}};

}  // namespace

TEST_CASE("the dispatcher keeps a declared group apart, and does what its verdict says") {
    const auto slash = GENERATE(true, false);
    auto e = Embedder{};
    e.join("a1", "a");
    e.join("a2", "a");
    e.join("a3", "a");
    e.join("b1", "b");
    e.join("c1", "c");
    auto group = ValidationGroup::declared("g", tasks, {.slash_wrong = slash}).value();
    for (auto id = 1; id <= 3; ++id) {
        e.submit(id, "g");
        e.act(group.started(id, e.placed(id), e.now.time));  // refused if it shared a node or an operator
    }
    const auto liar = e.leases.at(3).node;
    for (const auto& [id, result] : {std::pair{3, Bytes{9}}, std::pair{1, Bytes{7}}, std::pair{2, Bytes{7}}}) {
        e.now.time += 5s;
        e.act(group.submitted(id, result, e.now.time));
    }
    e.act(group.uploaded(1, e.now.time += 5s));

    CHECK(e.all<allot::event::NodeSlashed>().size() == (slash ? 1 : 0));
    CHECK((e.dispatcher.node(liar) == nullptr || !e.dispatcher.node(liar)->node.present()) == slash);
    const auto done = e.all<allot::event::TaskDone>();
    REQUIRE(done.size() == 2);
    CHECK(done[0].task == TaskId{2});  // matched
    CHECK(done[1].task == TaskId{1});  // passed, and uploaded
    const auto failed = e.all<allot::event::TaskFailed>();
    REQUIRE(failed.size() == 1);
    CHECK(failed[0].cause == allot::FailCause::incorrect_result);
    const auto scored = e.all<allot::event::NodeScored>();
    REQUIRE(scored.size() == 2);
    CHECK(scored[0].outcome.points == 5);  // second and third by speed: the liar was first, and got nothing
    CHECK(scored[1].outcome.points == 2);
    if (!slash) { CHECK(e.dispatcher.node(liar)->qos.count == 1); }  // a review is no amnesty: a verdict of zero (D36)
}

TEST_CASE("a node that declined a task of a group may run another one, and is not blamed for the first") {
    auto e = Embedder{};
    e.join("a1", "a");
    auto group = ValidationGroup::declared("g", tasks, {}).value();
    for (auto id = 1; id <= 3; ++id) { e.submit(id, "g"); }
    const auto feed = [&](const allot::Events& heard) {
        e.hear(heard);
        for (const auto& event : heard) {
            if (const auto* waits = std::get_if<allot::event::TaskQueued>(&event)) {
                e.act(group.queued(waits->task, e.now.time));
            } else if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
                e.act(group.started(started->lease.task, e.placed(started->lease.task), e.now.time));
            }
        }
    };
    e.act(group.started(1, e.placed(1), e.now.time));
    const auto deadline = e.leases.at(1).deadline;
    feed(e.dispatcher.decline(e.leases.at(1), e.now));
    REQUIRE(e.leases.contains(2));  // on the same node
    CHECK(group.members()[0].state == allot::MemberState::waiting);
    e.act(group.submitted(2, Bytes{7}, e.now.time));

    e.now.time = deadline + 1s;
    const auto effects = group.advance(e.now.time);
    CHECK(effects.events.empty());
    CHECK(!group.next_deadline());
}

TEST_CASE("hidden tasks may meet on one operator, and then the reveal refuses them") {
    auto e = Embedder{};
    e.join("a1", "a");
    e.join("a2", "a");
    const auto parameters = allot::ValidationParameters{.sampling = {1, 1}};
    auto singles = std::vector<ValidationGroup>{};
    const auto opening = [](int id) { return allot::Opening{"g", {static_cast<std::uint8_t>(id)}}; };
    for (auto id = 1; id <= 2; ++id) {
        const auto& task = tasks[static_cast<std::size_t>(id - 1)];
        singles.push_back(
            ValidationGroup::hidden(task, allot::CommitmentOf{}(opening(id), task.work), parameters).value());
        e.submit(id);
        e.act(singles.back().started(id, e.placed(id), e.now.time));
        e.act(singles.back().submitted(id, Bytes{7}, e.now.time));
    }
    REQUIRE(singles[0].revealed(opening(1), 7, e.now.time).accepted());
    CHECK(singles[0].added(singles[1], opening(2), e.now.time).error == allot::ValidationError::operator_shared);
    // Nobody else joins: the creator says nothing more, and both are paid.
    e.now.time += 600s;
    for (auto& single : singles) { e.act(single.advance(e.now.time)); }
    CHECK(e.all<allot::event::TaskDone>().size() == 2);
}

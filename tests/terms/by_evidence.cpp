#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/qos/resting.hpp>
#include <allot/terms/by_evidence.hpp>

#define ALLOT_MODEL allot::ByEvidence<>
#include "conformance/terms.ipp"
#include "support/network.hpp"

// A node that failed a task is blamed once a node of another operator has finished it, and not before.

namespace by_evidence_test {
namespace {

using namespace support;
using allot::ByEvidence;
using allot::FailCause;
using allot::FixedTerms;
using allot::Next;
using allot::NodeId;
using allot::OutcomeKind;

auto terms() {
    return ByEvidence{FixedTerms{
        {.after_timeout = Next::retry_elsewhere, .after_failure = Next::retry, .attempts_max = 10, .strikes_max = 4}}};
}
/// A dispatcher of four nodes, of which 3 and 4 have one operator.
auto network(const allot::RulesParameters& rules = {}) {
    auto d = allot::Dispatcher{terms(), allot::Rules{rules}};
    for (auto i = 1U; i <= 4; ++i) {
        const auto of = i == 4 ? allot::OperatorId{"operator-3"} : allot::OperatorId{"operator-" + std::to_string(i)};
        (void)d.join(with(plain_node(i), [&](NodeSpec& n) { n.operator_id = of; }), at(0s)).or_throw();
    }
    return d;
}
using Network = decltype(network());

/// Submits a task, and lets these nodes fail it, one after the other; returns the lease of the next.
auto failed_by(Network& d, const std::vector<std::uint64_t>& nodes, std::uint64_t next, FailCause cause) -> Lease {
    for (auto i = 1U; i <= 4; ++i) { (void)d.pause(i, at(0s)); }
    (void)d.submit(with(plain_task(1), [](TaskSpec& t) { t.fee = 100; }), at(0s)).or_throw();
    auto entropy = 1U;
    for (const auto node : nodes) {
        const auto lease = d.resume(node, at(0s, entropy++)).template get<event::TaskStarted>()->lease;
        (void)d.pause(node, at(0s));
        const auto events = d.fail(lease, cause, at(0s, entropy++));
        CHECK(events.template get<event::TaskRetried>() != nullptr);
        CHECK(all<event::NodeScored>(events).empty());
        CHECK(events.template get<event::LeaseEnded>()->outcome == OutcomeKind::cancelled);
    }
    return d.resume(next, at(0s, entropy)).template get<event::TaskStarted>()->lease;
}

}  // namespace

TEST_CASE("a node that failed a task is blamed when another has finished it, whatever it called the failure") {
    for (const auto cause : {FailCause::execution_error, FailCause::out_of_memory, FailCause::model_download}) {
        auto d = network();
        const auto clean = d.qos().score(d.node(1)->qos, d.now());
        const auto lease = failed_by(d, {1, 2}, 3, cause);
        CHECK(d.qos().score(d.node(1)->qos, d.now()) == clean);
        const auto events = d.complete(lease, at(1s));
        const auto blamed = all<event::NodeScored>(events);
        REQUIRE(blamed.size() == 2);
        CHECK(blamed[0].node == NodeId{1});
        CHECK(blamed[1].node == NodeId{2});
        CHECK(blamed[0].outcome.kind == OutcomeKind::timeout);
        CHECK(d.qos().score(d.node(1)->qos, d.now()) < clean);
        CHECK(events.get<event::TaskDone>()->paid == allot::Amount{100});
    }
}

TEST_CASE("a node of the same operator proves nothing") {
    auto d = network();
    const auto events = d.complete(failed_by(d, {1, 4}, 3, FailCause::execution_error), at(1s));
    const auto blamed = all<event::NodeScored>(events);
    REQUIRE(blamed.size() == 1);
    CHECK(blamed[0].node == NodeId{1});
}

TEST_CASE("a task that no node finishes has none blamed, and neither has one that is cancelled") {
    auto d = network();
    const auto lease = failed_by(d, {1, 2, 3}, 4, FailCause::execution_error);
    SECTION("failed everywhere") {
        const auto events = d.fail(lease, FailCause::execution_error, at(1s));
        CHECK(events.get<event::TaskFailed>() != nullptr);
        CHECK(all<event::NodeScored>(events).empty());
    }
    SECTION("late at last") {
        const auto events = d.advance(at(1h));
        CHECK(events.get<event::TaskTimedOut>() != nullptr);
        CHECK(all<event::NodeScored>(events).empty());
    }
    SECTION("cancelled") { CHECK(all<event::NodeScored>(d.cancel(1, at(1s))).empty()); }
}

TEST_CASE("a node that declined is no suspect, though it is avoided as well") {
    auto d = network();
    const auto second = failed_by(d, {1}, 2, FailCause::execution_error);
    CHECK(d.decline(second, at(0s)).accepted());
    const auto lease = d.resume(3, at(0s, 9)).get<event::TaskStarted>()->lease;
    const auto blamed = all<event::NodeScored>(d.complete(lease, at(1s)));
    REQUIRE(blamed.size() == 1);
    CHECK(blamed[0].node == NodeId{1});
}

TEST_CASE("a node that declined takes no suspect's place, however few nodes a task avoids") {
    auto d = network({.avoided_max = 1});
    const auto second = failed_by(d, {1}, 2, FailCause::execution_error);
    CHECK(d.pause(2, at(0s)).accepted());  // for the task does not avoid it
    CHECK(d.decline(second, at(0s)).accepted());
    const auto lease = d.resume(3, at(0s, 9)).get<event::TaskStarted>()->lease;
    const auto blamed = all<event::NodeScored>(d.complete(lease, at(1s)));
    REQUIRE(blamed.size() == 1);
    CHECK(blamed[0].node == NodeId{1});
}

TEST_CASE("a wrong result is proven, and so is blamed at once") {
    auto d = network();
    const auto lease = failed_by(d, {}, 1, FailCause::execution_error);
    const auto events = d.fail(lease, FailCause::incorrect_result, at(0s));
    CHECK(events.get<event::LeaseEnded>()->outcome == OutcomeKind::incorrect_result);
}

TEST_CASE("a suspect that left, or was forgotten, does no harm") {
    auto d = network();
    const auto lease = failed_by(d, {1, 2}, 3, FailCause::execution_error);
    CHECK(d.leave(1, at(0s)).accepted());
    const auto blamed = all<event::NodeScored>(d.complete(lease, at(1s)));
    CHECK(blamed.size() == 2);  // its history goes on
}

TEST_CASE("a task starts over elsewhere, for a node cannot give evidence against itself") {
    auto task = allot::Task{};
    CHECK(terms().after(task, OutcomeKind::execution_error) == Next::retry_elsewhere);
    CHECK(terms().after(task, OutcomeKind::timeout) == Next::retry_elsewhere);
    CHECK(ByEvidence{FixedTerms{}}.after(task, OutcomeKind::timeout) == Next::end);
}

TEST_CASE("a node that fails at once rests for half of the time that the lease had left") {
    auto d = allot::Dispatcher{terms(), allot::Resting{allot::RollingQos{}}};
    join_plain(d, 2);
    const auto lease =
        *d.submit(with(plain_task(1), [](TaskSpec& t) { t.duration_estimate = 1min; }), at(0s, 1)).lease();
    (void)d.fail(lease, FailCause::execution_error, at(30s)).or_throw();
    CHECK(d.qos().back_at(d.node(lease.node)->qos) == at(30s).time + 45s);  // of 120 s, 90 s were left
}

}  // namespace by_evidence_test

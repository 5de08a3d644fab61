#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/reward/fee_split.hpp>
#include <allot/validation/validation_group.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using namespace std::chrono_literals;
namespace event = allot::validation_event;
using allot::Amount;
using allot::FeeShare;
using allot::NodeId;
using allot::Opening;
using allot::Placement;
using allot::TaskId;
using allot::ValidationEffects;
using allot::ValidationEnd;
using allot::ValidationError;
using allot::ValidationGroup;
using allot::ValidationParameters;
using allot::ValidationPhase;
using allot::ValidationTask;
using Bytes = std::vector<std::uint8_t>;
using E = ValidationError;

const auto right = Bytes{1, 2, 3};
const auto other = Bytes{4, 5, 6};
const auto always = ValidationParameters{.sampling = {1, 1}};
const auto seldom = ValidationParameters{.sampling = {0, 1}};

auto at(allot::Duration time) -> allot::TimePoint { return allot::TimePoint{time}; }
auto on(std::uint32_t node, allot::TimePoint deadline = allot::never) -> Placement {
    return {node, node, "RTX 4090", deadline};
}
const auto work = allot::Hash256{7};
auto task(std::uint32_t id, Amount fee = 100) -> ValidationTask { return {id, "creator", fee, work}; }

auto declared(const ValidationParameters& parameters = {}) -> ValidationGroup {
    return ValidationGroup::declared("group", std::vector{task(1), task(2), task(3)}, parameters).value();
}

/// Runs on the nodes of the same number since 0 s.
auto running(const ValidationParameters& parameters = {}) -> ValidationGroup {
    auto group = declared(parameters);
    for (std::uint32_t i = 1; i <= 3; ++i) { REQUIRE(group.started(i, on(i), at(0s)).accepted()); }
    return group;
}

auto opening(std::uint8_t nonce, const char* group = "group") -> Opening { return {group, {nonce}}; }

/// A hidden task that has ended with a result on the node of its number, one second after its start.
auto hidden(std::uint8_t id, const ValidationParameters& parameters = always, const Bytes& result = right,
            const char* group = "group") -> ValidationGroup {
    auto single =
        ValidationGroup::hidden(task(id), allot::CommitmentOf{}(opening(id, group), work), parameters).value();
    REQUIRE(single.started(id, on(id), at(std::chrono::seconds{id - 1})).accepted());
    if (!result.empty()) { REQUIRE(single.submitted(id, result, at(std::chrono::seconds{id})).accepted()); }
    return single;
}

template <class... Es>
struct Handlers : Es... {
    using Es::operator()...;
};
template <class... Es>
Handlers(Es...) -> Handlers<Es...>;

/// The fees that leave a group, by task, and the points by node.
struct Books {
    std::map<TaskId, std::vector<Amount>> left{};
    std::map<NodeId, std::uint32_t> points{};
    std::vector<ValidationEnd> ends{};
    std::uint64_t paid = 0;

    void enter(const ValidationEffects& effects) {
        for (const auto& one : effects.events) {
            std::visit(Handlers{[&](const event::MemberTimedOut& e) { left[e.task].push_back(e.refund); },
                                [&](const event::MemberAborted& e) { left[e.task].push_back(e.refund); },
                                [&](const event::MemberMatched& e) { left[e.task].push_back(e.refund); },
                                [&](const event::MemberWrong& e) { left[e.task].push_back(e.refund); },
                                [&](const event::MemberUndecided& e) { left[e.task].push_back(e.refund); },
                                [&](const event::UploadMissed& e) { left[e.task].push_back(e.refund); },
                                [&](const event::FeeDue& e) {
                                    left[e.task].push_back(e.fee);
                                    auto scores = std::vector<std::uint32_t>{};
                                    for (const auto& share : e.shares) { scores.push_back(share.points); }
                                    const auto split = allot::split_fee(e.fee, scores);
                                    REQUIRE(split.has_value());
                                    for (const auto& amount : split->paid) { paid += amount.units.low(); }
                                },
                                [&](const event::NodeScored& e) { points[e.node] = e.points; },
                                [&](const event::GroupEnded& e) { ends.push_back(e.end); },
                                [](const event::MemberPassed&) {}, [](const event::MemberCompleted&) {},
                                [](const event::RefereeAsked&) {}},
                       one);
        }
    }
};

}  // namespace

TEST_CASE("two that agree against a third: the faster one's result counts and its fee is shared") {
    auto group = running();
    CHECK(group.phase() == ValidationPhase::running);
    CHECK(group.submitted(3, other, at(1s)).events.empty());
    CHECK(group.submitted(2, right, at(2s)).events.empty());
    const auto verdict = group.submitted(1, right, at(3s));
    REQUIRE(verdict.accepted());
    CHECK(group.phase() == ValidationPhase::uploading);
    CHECK(verdict.get<event::MemberPassed>()->task == TaskId{2});
    CHECK(verdict.get<event::MemberPassed>()->upload_until == at(603s));
    CHECK(verdict.get<event::MemberMatched>()->task == TaskId{1});
    CHECK(verdict.get<event::MemberMatched>()->refund == Amount{100});
    CHECK(verdict.get<event::MemberWrong>()->node == NodeId{3});
    CHECK(verdict.get<event::MemberWrong>()->refund == Amount{100});
    CHECK(verdict.get<event::MemberWrong>()->slash);
    CHECK(group.next_deadline() == at(603s));
    auto books = Books{};
    books.enter(verdict);
    CHECK(books.points == std::map<NodeId, std::uint32_t>{{2, 5}, {1, 2}});

    CHECK(group.uploaded(1, at(4s)).error == E::upload_unasked);
    const auto end = group.uploaded(2, at(4s));
    REQUIRE(end.accepted());
    CHECK(end.get<event::MemberCompleted>()->node == NodeId{2});
    CHECK(end.get<event::FeeDue>()->fee == Amount{100});
    CHECK(end.get<event::FeeDue>()->shares == std::vector<FeeShare>{{2, 2, 5}, {1, 1, 2}});
    CHECK(end.get<event::GroupEnded>()->end == ValidationEnd::passed);
    CHECK(group.phase() == ValidationPhase::ended);
    CHECK(group.next_deadline() == std::nullopt);
    CHECK(group.uploaded(2, at(5s)).error == E::upload_unasked);
}

TEST_CASE("where wrong answers are reviewed nobody is slashed") {
    auto group = running({.slash_wrong = false});
    (void)group.submitted(1, right, at(1s));
    (void)group.submitted(2, right, at(2s));
    CHECK_FALSE(group.submitted(3, other, at(3s)).get<event::MemberWrong>()->slash);
}

TEST_CASE("where results differ a referee says who was right, and the majority names nobody") {
    const auto judged_by = [](const Bytes& truth) {
        auto group = running({.referee_window = 60s});
        (void)group.submitted(1, other, at(1s));
        (void)group.submitted(2, other, at(2s));
        const auto asked = group.submitted(3, right, at(3s));
        REQUIRE(asked.accepted());
        REQUIRE(asked.events.size() == 1);
        CHECK(asked.get<event::RefereeAsked>()->work == work);
        CHECK(asked.get<event::RefereeAsked>()->until == at(63s));
        CHECK(group.phase() == ValidationPhase::awaiting_referee);
        CHECK(group.next_deadline() == at(63s));
        const auto said = group.recomputed(truth, at(62s));
        REQUIRE(said.accepted());
        return std::pair{group, said};
    };
    SECTION("the one was right, and the two that agree are wrong") {
        auto [group, said] = judged_by(right);
        auto books = Books{};
        books.enter(said);
        CHECK(said.get<event::MemberPassed>()->node == NodeId{3});
        CHECK(said.get<event::MemberPassed>()->upload_until == at(662s));
        CHECK(said.get<event::MemberWrong>()->node == NodeId{1});
        CHECK(std::count_if(said.events.begin(), said.events.end(), [](const auto& one) {
                  const auto* wrong = std::get_if<event::MemberWrong>(&one);
                  return wrong != nullptr && wrong->slash;
              }) == 2);
        CHECK(books.points == std::map<NodeId, std::uint32_t>{{3, 2}});  // its rank by speed among all answers
        CHECK(group.uploaded(3, at(70s)).get<event::FeeDue>()->shares == std::vector<FeeShare>{{3, 3, 2}});
    }
    SECTION("the two were right") {
        const auto [group, said] = judged_by(other);
        CHECK(said.get<event::MemberPassed>()->node == NodeId{1});
        CHECK(said.get<event::MemberMatched>()->node == NodeId{2});
        CHECK(said.get<event::MemberWrong>()->node == NodeId{3});
    }
    SECTION("none was: nobody is named, and all fees go back") {
        const auto [group, said] = judged_by(Bytes{9});
        auto books = Books{};
        books.enter(said);
        CHECK(said.get<event::MemberWrong>() == nullptr);
        CHECK(books.points.empty());
        CHECK(said.get<event::GroupEnded>()->end == ValidationEnd::no_agreement);
        CHECK(books.left.size() == 3);
        CHECK(group.phase() == ValidationPhase::ended);
    }
}

TEST_CASE("a referee that says nothing in time leaves the majority's result and names nobody") {
    auto group = running({.referee_window = 60s});
    (void)group.submitted(1, right, at(1s));
    (void)group.submitted(2, right, at(2s));
    (void)group.submitted(3, other, at(3s));
    CHECK(group.recomputed(Bytes{}, at(4s)).error == E::result_empty);
    CHECK(group.recomputed(Bytes(70'000), at(4s)).error == E::result_too_long);
    CHECK(group.phase() == ValidationPhase::awaiting_referee);
    const auto late = group.recomputed(right, at(63s));
    CHECK(late.error == E::recomputation_unasked);
    CHECK(late.get<event::MemberPassed>()->node == NodeId{1});
    CHECK(late.get<event::MemberUndecided>()->node == NodeId{3});
    CHECK(late.get<event::MemberUndecided>()->refund == Amount{100});
    CHECK(late.get<event::MemberWrong>() == nullptr);
    CHECK(group.phase() == ValidationPhase::uploading);
    CHECK(group.next_deadline() == at(663s));
}

TEST_CASE("a referee is asked only where results differ") {
    const auto said = [](const Bytes& second, bool error) {
        auto group = running({.referee_window = 60s, .slash_across_errors = true});
        (void)group.submitted(1, right, at(1s));
        (void)group.submitted(2, second, at(2s));
        return error ? group.error_reported(3, at(3s)) : group.submitted(3, right, at(3s));
    };
    CHECK(said(right, false).get<event::RefereeAsked>() == nullptr);
    const auto reported = said(right, true);
    CHECK(reported.get<event::RefereeAsked>() == nullptr);
    CHECK(reported.get<event::MemberUndecided>()->node == NodeId{3});  // a report is no result that differs
    CHECK(reported.get<event::MemberWrong>() == nullptr);
    CHECK(said(other, true).get<event::RefereeAsked>() != nullptr);  // no two agree
    CHECK(said(other, false).get<event::RefereeAsked>() != nullptr);
    auto alone = running({.referee_window = 60s});
    (void)alone.submitted(1, right, at(1s));
    (void)alone.error_reported(2, at(2s));
    CHECK(alone.error_reported(3, at(3s)).get<event::RefereeAsked>() == nullptr);  // reports call for no work
    CHECK(alone.phase() == ValidationPhase::ended);
    CHECK(running({.referee_window = 60s}).recomputed(right, at(1s)).error == E::recomputation_unasked);
    CHECK_FALSE(ValidationParameters{.referee_window = -1s}.valid());
    CHECK_FALSE(ValidationParameters{.referee_window = allot::Duration{std::int64_t{1} << 32}}.valid());
}

TEST_CASE("hidden tasks whose results differ ask the referee, too") {
    auto parameters = always;
    parameters.referee_window = 60s;
    auto group = hidden(1, parameters, other);
    REQUIRE(group.revealed(opening(1), 0, at(2s)).accepted());
    REQUIRE(group.added(hidden(2, parameters, other), opening(2), at(3s)).accepted());
    const auto third = group.added(hidden(3, parameters), opening(3), at(4s));
    REQUIRE(third.get<event::RefereeAsked>() != nullptr);
    const auto verdict = group.recomputed(right, at(5s));
    CHECK(verdict.get<event::MemberPassed>()->node == NodeId{3});
}

TEST_CASE("members never share a node or an operator, nor differ in class where that is asked") {
    auto group = declared({.same_class = true});
    REQUIRE(group.started(1, on(1), at(0s)).accepted());
    const auto before = group;
    CHECK(group.started(2, on(1), at(0s)).error == E::node_shared);
    CHECK(group.started(2, {2, 1, "RTX 4090"}, at(0s)).error == E::operator_shared);
    CHECK(group.started(2, {2, 2, "RTX 3090"}, at(0s)).error == E::class_differs);
    CHECK(group == before);
    (void)group.aborted(1, at(0s));
    CHECK(group.started(2, on(1), at(0s)).error == E::node_shared);  // it ran there
    CHECK(group.started(2, on(2), at(0s)).accepted());
    CHECK(declared().started(2, {2, 2, "RTX 3090"}, at(0s)).accepted());
}

TEST_CASE("a second start renews on the same node and starts over on another") {
    auto group = running();
    REQUIRE(group.started(1, on(1, at(100s)), at(40s)).accepted());
    CHECK(group.next_deadline() == at(100s));
    REQUIRE(group.started(2, on(4), at(50s)).accepted());
    CHECK(group.members()[1].started_at == at(50s));
    (void)group.submitted(1, right, at(60s));  // took 60 s
    (void)group.submitted(2, right, at(80s));  // took 30 s
    const auto verdict = group.submitted(3, right, at(90s));
    CHECK(verdict.get<event::MemberPassed>()->node == NodeId{4});
}

TEST_CASE("members time out at their deadlines, in order, and zero points follow if another answered (D32)") {
    auto group = declared();
    REQUIRE(group.started(1, on(1, at(20s)), at(0s)).accepted());
    REQUIRE(group.started(2, on(2, at(10s)), at(0s)).accepted());
    REQUIRE(group.started(3, on(3, at(30s)), at(0s)).accepted());
    CHECK(group.next_deadline() == at(10s));
    CHECK(group.advance(at(10s) - 1ms).events.empty());
    CHECK(group.submitted(3, right, at(9'999ms)).accepted());
    const auto due = group.submitted(1, right, at(20s));  // a deadline has passed when now >= deadline
    CHECK(due.error == E::member_ended);
    REQUIRE(due.events.size() == 6);
    CHECK(std::get<event::MemberTimedOut>(due.events[0]).task == TaskId{2});
    CHECK(std::get<event::MemberTimedOut>(due.events[1]).task == TaskId{1});
    CHECK(std::get<event::MemberUndecided>(due.events[2]).task == TaskId{3});
    CHECK(due.get<event::GroupEnded>()->end == ValidationEnd::too_few);
    auto books = Books{};
    books.enter(due);
    CHECK(books.points == std::map<NodeId, std::uint32_t>{{1, 0}, {2, 0}});
}

TEST_CASE("three errors end a group at once, and blame nobody (D34)") {
    auto group = running();
    for (std::uint32_t id = 1; id <= 2; ++id) { CHECK(group.error_reported(id, at(1s)).events.empty()); }
    const auto verdict = group.error_reported(3, at(2s));
    REQUIRE(verdict.accepted());
    CHECK(verdict.get<event::GroupEnded>()->end == ValidationEnd::error_agreed);
    CHECK(group.phase() == ValidationPhase::ended);
    CHECK(group.next_deadline() == std::nullopt);
    auto books = Books{};
    books.enter(verdict);
    CHECK(books.points.empty());
    for (const auto& [task, fees] : books.left) { CHECK(fees == std::vector<Amount>{100}); }
    CHECK(books.left.size() == 3);
}

TEST_CASE("a task that timed out in the queue has no node to score") {
    auto group = declared();
    const auto lost = group.timed_out(1, at(0s));
    CHECK(lost.get<event::MemberTimedOut>()->node == std::nullopt);
    REQUIRE(group.started(2, on(2), at(0s)).accepted());
    (void)group.aborted(3, at(0s));
    const auto verdict = group.submitted(2, right, at(1s));
    CHECK(verdict.get<event::NodeScored>() == nullptr);
    CHECK(verdict.get<event::GroupEnded>()->end == ValidationEnd::too_few);
}

TEST_CASE("a hidden task that is not sampled is accepted alone") {
    auto single = hidden(1, seldom);
    CHECK(single.phase() == ValidationPhase::awaiting_creator);
    CHECK(single.next_deadline() == at(601s));
    CHECK(single.revealed(opening(1), 7, at(2s)).error == E::task_not_sampled);
    const auto word = single.accepted(7, at(2s));
    CHECK(word.get<event::MemberPassed>()->upload_until == at(602s));
    CHECK(word.get<event::NodeScored>() == nullptr);  // only groups score
    CHECK(single.uploaded(1, at(3s)).get<event::FeeDue>()->shares == std::vector<FeeShare>{{1, 1, 1}});

    auto error = hidden(1, seldom, {});
    (void)error.error_reported(1, at(1s));
    CHECK(error.accepted(7, at(2s)).get<event::MemberUndecided>()->refund == Amount{100});
    CHECK(error.phase() == ValidationPhase::ended);

    auto silent = hidden(1, seldom, {});
    CHECK(silent.accepted(7, at(2s)).error == E::not_awaited);
    (void)silent.timed_out(1, at(1s) + 1s);
    CHECK(silent.accepted(7, at(2s)).error == E::nothing_submitted);
    CHECK(silent.advance(at(1h)).get<event::GroupEnded>()->end == ValidationEnd::too_few);
}

TEST_CASE("when the creator says nothing in time results are paid, and nobody is scored") {
    auto single = hidden(1);
    CHECK(single.advance(at(601s) - 1ms).events.empty());
    const auto late = single.revealed(opening(1), 7, at(601s));
    CHECK(late.error == E::not_awaited);
    CHECK(late.get<event::MemberCompleted>()->node == NodeId{1});
    CHECK(late.get<event::FeeDue>()->fee == Amount{100});
    CHECK(late.get<event::NodeScored>() == nullptr);
    CHECK(late.get<event::GroupEnded>()->end == ValidationEnd::creator_timed_out);
}

TEST_CASE("when the result does not come the fee goes back") {
    auto single = hidden(1, seldom);
    (void)single.accepted(7, at(2s));
    const auto missed = single.advance(at(602s));
    CHECK(missed.get<event::UploadMissed>()->refund == Amount{100});
    CHECK(missed.get<event::GroupEnded>()->end == ValidationEnd::upload_timed_out);
}

TEST_CASE("hidden tasks are judged together once the third is revealed") {
    auto group = hidden(1);
    CHECK(group.group() == std::nullopt);
    CHECK(group.accepted(7, at(4s)).error == E::task_sampled);
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    CHECK(group.group() == allot::GroupId{"group"});
    REQUIRE(group.added(hidden(2), opening(2), at(4s)).accepted());
    const auto verdict = group.added(hidden(3), opening(3), at(5s));
    CHECK(verdict.get<event::MemberPassed>()->task == TaskId{1});
    auto books = Books{};
    books.enter(verdict);
    books.enter(group.uploaded(1, at(6s)));
    CHECK(books.points == std::map<NodeId, std::uint32_t>{{1, 10}, {2, 5}, {3, 2}});
    CHECK(books.paid == 100);
}

TEST_CASE("a hidden member on a node or of an operator of the group is refused, and another may take its place") {
    auto group = hidden(1);
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    const auto twin = [](std::uint32_t node, std::uint32_t operator_id) {
        auto single = ValidationGroup::hidden(task(2), allot::CommitmentOf{}(opening(2), work), always).value();
        REQUIRE(single.started(2, {node, operator_id, "RTX 4090"}, at(1s)).accepted());
        REQUIRE(single.submitted(2, right, at(3s)).accepted());
        return single;
    };
    const auto before = group;
    CHECK(group.added(twin(1, 9), opening(2), at(4s)).error == E::node_shared);
    CHECK(group.added(twin(9, 1), opening(2), at(4s)).error == E::operator_shared);
    CHECK(group == before);
    REQUIRE(group.added(hidden(3), opening(3), at(4s)).accepted());
    CHECK(group.added(twin(3, 9), opening(2), at(4s)).error == E::node_shared);
    CHECK(group.added(hidden(4), opening(4), at(4s)).get<event::MemberPassed>() != nullptr);
}

TEST_CASE("a member that ends late does not lose the others to the creator's deadline") {
    auto group = hidden(1);
    REQUIRE(group.revealed(opening(1), 7, at(600s)).accepted());  // one second before the first would be paid unseen
    CHECK(group.next_deadline() == at(1'200s));
    auto second = hidden(2, always, {});
    (void)second.submitted(2, right, at(1'000s));
    REQUIRE(group.added(second, opening(2), at(1'100s)).accepted());
    auto third = hidden(3, always, {});
    (void)third.timed_out(3, at(1'600s));
    const auto verdict = group.added(third, opening(3), at(1'650s));
    CHECK(verdict.get<event::MemberPassed>()->task == TaskId{1});
    auto books = Books{};
    books.enter(verdict);
    CHECK(books.points == std::map<NodeId, std::uint32_t>{{1, 10}, {2, 5}, {3, 0}});

    auto left_alone = hidden(1);
    REQUIRE(left_alone.revealed(opening(1), 7, at(2s)).accepted());
    REQUIRE(left_alone.added(hidden(2), opening(2), at(3s)).accepted());
    const auto unseen = left_alone.advance(at(603s));
    CHECK(std::count_if(unseen.events.begin(), unseen.events.end(),
                        [](const auto& e) { return std::holds_alternative<event::FeeDue>(e); }) == 2);
}

TEST_CASE("what a stranger may get wrong is refused, and changes nothing but time") {
    const auto make = [](std::vector<ValidationTask> tasks, const ValidationParameters& parameters = {}) {
        return ValidationGroup::declared("group", tasks, parameters).error();
    };
    CHECK(make({task(1), task(2)}) == E::group_size_wrong);
    CHECK(make({task(1), task(2), task(3), task(4)}) == E::group_size_wrong);
    CHECK(make({task(1), task(2), {TaskId::null(), "creator", 100, work}}) == E::id_invalid);
    CHECK(ValidationGroup::declared(allot::GroupId::null(), std::vector{task(1), task(2), task(3)}, {}).error() ==
          E::id_invalid);
    CHECK(make({task(1), task(2), task(1)}) == E::member_duplicate);
    CHECK(make({task(1), task(2), {3, "another", 100, work}}) == E::owner_differs);
    CHECK(make({task(1), task(2), task(3, 101)}) == E::fee_differs);
    CHECK(make({task(1, allot::u128{1} << 96), task(2), task(3)}) == E::amount_overflow);
    CHECK(make({{1, "creator", 100}, task(2), task(3)}) == E::work_missing);
    CHECK(make({task(1), task(2), {3, "creator", 100, {8}}}) == E::work_differs);
    const auto three = std::vector{task(1), task(2), task(3)};
    CHECK(make(three, {.comparison = {.distance = 0}}) == E::parameter_invalid);  // D37
    CHECK(make(three, {.sampling = {1, 0}}) == E::parameter_invalid);
    CHECK(make(three, {.rank_points = {10, 5, 0}}) == E::parameter_invalid);
    CHECK(make(three, {.rank_points = {10, 2, 5}}) == E::parameter_invalid);
    CHECK(make(three, {.rank_points = {1, 2, 2}}) == E::parameter_invalid);
    CHECK(make(three, {.creator_window = 0s}) == E::parameter_invalid);
    CHECK(make(three, {.upload_window = std::chrono::hours{24 * 50}}) == E::parameter_invalid);
    CHECK(make(three, {.result_bytes_max = 0}) == E::parameter_invalid);

    auto group = running({.result_bytes_max = 3});
    (void)group.error_reported(3, at(10s));
    const auto before = group;
    const auto refused = [&](const ValidationEffects& effects, E error) {
        REQUIRE(effects.error == error);
        CHECK(effects.events.empty());
        CHECK(group == before);
    };
    refused(group.submitted(9, right, at(10s)), E::member_unknown);
    refused(group.submitted(1, {}, at(10s)), E::result_empty);
    refused(group.submitted(1, Bytes(4), at(10s)), E::result_too_long);
    refused(group.submitted(3, right, at(10s)), E::member_ended);
    refused(group.error_reported(3, at(10s)), E::member_ended);
    refused(group.timed_out(3, at(10s)), E::member_ended);
    refused(group.aborted(3, at(10s)), E::member_ended);
    refused(group.started(3, on(3), at(10s)), E::member_ended);
    refused(group.queued(3, at(10s)), E::member_ended);
    refused(group.queued(9, at(10s)), E::member_unknown);
    refused(group.started(1, {NodeId::null(), 1}, at(10s)), E::id_invalid);
    refused(group.started(1, {1, allot::OperatorId::null()}, at(10s)), E::id_invalid);
    refused(group.uploaded(1, at(10s)), E::upload_unasked);
    refused(group.accepted(7, at(10s)), E::not_hidden);
    refused(group.revealed(opening(1), 7, at(10s)), E::not_hidden);
    refused(group.added(hidden(4), opening(4), at(10s)), E::not_hidden);
    refused(group.advance(at(10s) - 1ms), E::time_went_back);
    refused(group.advance(allot::time_point_max + 1ms), E::time_too_late);
    CHECK(declared().submitted(1, right, at(0s)).error == E::member_not_running);
    CHECK(group.advance(allot::time_point_max).accepted());
}

TEST_CASE("what a creator may get wrong is refused, and changes nothing but time") {
    auto group = hidden(1);
    CHECK(group.added(hidden(2), opening(2), at(4s)).error == E::not_revealed);
    CHECK(group.revealed(opening(2), 7, at(4s)).error == E::opening_wrong);
    CHECK(group.revealed(opening(1, "another"), 7, at(4s)).error == E::opening_wrong);
    CHECK(hidden(1, always, {}).revealed(opening(1), 7, at(4s)).error == E::not_awaited);
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    const auto before = group;
    const auto refused = [&](const ValidationGroup& single, const Opening& open, E error,
                             allot::TimePoint now = at(4s)) {
        REQUIRE(group.added(single, open, now).error == error);
        CHECK(group == before);
    };
    CHECK(group.accepted(7, at(4s)).error == E::already_revealed);
    CHECK(group.revealed(opening(1), 7, at(4s)).error == E::already_revealed);
    refused(hidden(2), opening(3), E::opening_wrong);
    refused(hidden(2, always, right, "another"), opening(2, "another"), E::opening_wrong);
    refused(hidden(2, {.sampling = {1, 1}, .same_class = true}), opening(2), E::parameters_differ);
    refused(hidden(1), opening(1), E::member_duplicate);
    refused(group, opening(1), E::already_revealed);
    refused(declared(), opening(1), E::not_hidden);
    refused(hidden(2, always, {}), opening(2), E::not_awaited);
    refused(hidden(5), opening(5), E::time_went_back);  // the other has seen 5 s
    auto stranger =
        ValidationGroup::hidden({2, "another", 1, work}, allot::CommitmentOf{}(opening(2), work), always).value();
    REQUIRE(stranger.aborted(2, at(0s)).accepted());
    refused(stranger, opening(2), E::owner_differs);
    auto cheap = ValidationGroup::hidden(task(2, 99), allot::CommitmentOf{}(opening(2), work), always).value();
    REQUIRE(cheap.aborted(2, at(0s)).accepted());
    refused(cheap, opening(2), E::fee_differs);
    CHECK(group.added(stranger, opening(2), at(600s)).error == E::not_awaited);  // its time for a verdict has passed
    REQUIRE(group.added(hidden(2), opening(2), at(600s)).accepted());
    REQUIRE(group.added(hidden(3), opening(3), at(600s)).accepted());
    CHECK(group.added(hidden(4), opening(4), at(600s)).error == E::not_awaited);
    // An embedder's own commitment.
    const auto any = [](const Opening&, const auto& of) { return allot::CommitmentOf{}(opening(6), of); };
    CHECK(hidden(6).revealed(opening(9), 7, at(7s), any).accepted());
}

TEST_CASE("whatever happens, each fee leaves once, a group ends once, and a refusal changes nothing") {
    auto random = std::mt19937_64{allot_test::seed()};
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (auto round = 0; round < 3'000; ++round) {
        auto parameters = ValidationParameters{.sampling = {below(2), 1},
                                               .same_class = below(4) == 0,
                                               .referee_window = std::chrono::seconds{below(2) * 30}};
        auto books = Books{};
        auto singles = std::vector<ValidationGroup>{};
        const auto commits = below(2) == 0;
        if (commits) {
            for (std::uint8_t id = 1; id <= 4; ++id) {
                singles.push_back(
                    ValidationGroup::hidden(task(id), allot::CommitmentOf{}(opening(id), work), parameters).value());
            }
        } else {
            singles.push_back(declared(parameters));
        }
        auto taken = std::vector<bool>(singles.size());
        auto now = at(0s);
        for (auto step = 0; step < 60; ++step) {
            now += std::chrono::seconds{below(40)};
            const auto g = below(singles.size());
            if (taken[g]) { continue; }
            auto& group = singles[g];
            auto unchanged = group;
            const auto due = unchanged.advance(now);
            const auto id = commits ? g + 1 : 1 + below(4);
            const auto result = Bytes{static_cast<std::uint8_t>(below(2))};
            auto effects = ValidationEffects{};
            auto joined = std::optional<std::uint32_t>{};
            switch (below(10)) {
                case 0:
                case 1:
                    effects =
                        group.started(id, {1 + below(6), 1 + below(6), below(8) == 0 ? "A" : "B", now + 100s}, now);
                    break;
                case 2: effects = group.submitted(id, result, now); break;
                case 3:
                    effects = below(2) == 0 ? group.error_reported(id, now) : group.submitted(id, result, now);
                    break;
                case 4:
                    effects = below(4) != 0   ? group.advance(now)
                              : below(3) == 0 ? group.queued(id, now)
                              : below(2) == 0 ? group.timed_out(id, now)
                                              : group.aborted(id, now);
                    break;
                case 5: effects = group.uploaded(id, now); break;
                case 6: effects = group.accepted(below(2), now); break;
                case 7: effects = group.revealed(opening(static_cast<std::uint8_t>(id)), below(2), now); break;
                case 8: effects = group.recomputed(result, now); break;
                default:
                    joined = below(singles.size());
                    if (*joined == g || taken[*joined]) { continue; }
                    effects = group.added(singles[*joined], opening(static_cast<std::uint8_t>(*joined + 1)), now);
            }
            if (effects.accepted()) {
                if (joined) { taken[*joined] = true; }
            } else {
                REQUIRE(group == unchanged);
                REQUIRE(effects.events.size() == due.events.size());
                REQUIRE_FALSE(message(*effects.error).empty());
            }
            books.enter(effects);
            REQUIRE((!group.next_deadline() || *group.next_deadline() > now));
            REQUIRE((group.phase() != ValidationPhase::ended || !group.next_deadline()));
        }
        auto ended = std::size_t{0};
        for (std::size_t g = 0; g < singles.size(); ++g) {
            if (taken[g]) { continue; }
            for (std::uint32_t id = 1; id <= 4; ++id) { books.enter(singles[g].timed_out(id, now)); }
            while (const auto deadline = singles[g].next_deadline()) { books.enter(singles[g].advance(*deadline)); }
            REQUIRE(singles[g].phase() == ValidationPhase::ended);
            ++ended;
        }
        REQUIRE(books.ends.size() == ended);
        for (std::uint32_t id = 1; id <= (commits ? 4U : 3U); ++id) {
            REQUIRE(books.left[id] == std::vector<Amount>{100});
        }
    }
}

TEST_CASE("every reason has a sentence of its own") {
    auto sentences = std::vector<std::string_view>{};
    for (std::uint16_t number = 0; number < 100; ++number) {
        const auto text = message(static_cast<E>(number));
        if (text == "unknown error") { continue; }
        CHECK(std::find(sentences.begin(), sentences.end(), text) == sentences.end());
        sentences.push_back(text);
    }
    CHECK(sentences.size() == 30);
}

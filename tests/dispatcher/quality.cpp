#include <algorithm>
#include <cmath>
#include <type_traits>

#include <allot/qos/contract_qos.hpp>
#include <allot/qos/monthly_qos.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// What the network remembers of a node's service, and what follows from it (rules 19, 20; spec: golden numbers).

namespace {

using allot::OutcomeKind;

/// A node has weight for tasks whose fee is at most its stake.
struct ByFee {
    using role = allot::role::weight;
    static auto weight(const allot::Node& node, const allot::Task& task, const allot::Factors&) -> allot::Weight {
        return node.stake < task.fee ? allot::Weight::zero() : allot::Weight::from_ratio(1, 1);
    }
};

auto number(allot::Score score) -> double { return double(score.raw()) / double(allot::Score::one().raw()); }

template <class Dispatcher>
auto health(const Dispatcher& d, allot::NodeId id, TimePoint time) -> double {
    return number(d.qos().health(d.node(id)->qos, time));
}
template <class Dispatcher>
auto long_term(const Dispatcher& d, allot::NodeId id) -> double {
    return number(d.qos().long_term(d.node(id)->qos));
}

auto near(double value) { return Catch::Matchers::WithinAbs(value, 1e-7); }

/// A node that runs one task after another without ever answering, until the network is rid of it; how many it was
/// given. -1 when it is given none for eight days.
template <class Dispatcher>
auto tasks_of_vanished_node(Dispatcher& d, int tasks_max) -> int {
    auto time = d.now();
    for (auto n = 1; n <= tasks_max; ++n) {
        for (auto tries = 0; started(d.submit(plain_task(n), {time, allot::Entropy{n}})).empty(); ++tries) {
            if (tries == 96) { return -1; }
            ok(d.cancel(n, {time, std::nullopt}));
            ok(d.advance({time += 2h, std::nullopt}));  // its id is forgotten, an exclusion ends
        }
        time += 200s;
        const auto events = d.advance({time, std::nullopt});
        if (events.template get<event::TaskTimedOut>() == nullptr) { return -1; }
        if (events.template get<event::NodeKickedOut>() != nullptr) { return n; }
    }
    return tasks_max + 1;
}

}  // namespace

TEST_CASE("the long-term score is the mean of the last fifty verdicts, and a half before the first") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    CHECK(long_term(d, 1) == 0.5);
    const auto expected =
        std::vector<std::pair<std::uint32_t, double>>{{10, 1.0}, {5, 0.75}, {2, 17.0 / 30.0}, {0, 17.0 / 40.0}};
    for (const auto& [points, mean] : expected) {
        const auto events = d.score(1, points, at(0s));
        CHECK(events.get<event::NodeScored>()->outcome == allot::Outcome{OutcomeKind::scored, points});
        CHECK_THAT(long_term(d, 1), near(mean));
    }
    for (auto i = 0; i < 49; ++i) { ok(d.score(1, 10, at(0s))); }
    CHECK_THAT(long_term(d, 1), near(0.98));  // one zero is left
    ok(d.score(1, 10, at(0s)));
    CHECK(long_term(d, 1) == 1.0);
}

TEST_CASE("a node that gets weight for a task by a change of its stake or score pulls it, under any weight") {
    auto d = allot::Dispatcher{ByFee{}};
    ok(d.join(with(plain_node(1), [](auto& n) { n.stake = 10; }), at(0s)));
    ok(d.submit(with(plain_task(1), [](auto& t) { t.fee = 50; }), at(0s)));
    CHECK(d.task(1)->state == allot::TaskState::queued);
    CHECK(started(d.update({.id = 1, .stake = 100}, at(0s))) == std::vector<std::string>{"1"});
}

TEST_CASE("timeouts in a row leave 0.95, 0.285 and 0.0855 of health, and then exclude") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (const auto expected : {0.95, 0.285}) {
        CHECK(d.observe(1, OutcomeKind::timeout, at(0s)).get<event::NodeExcluded>() == nullptr);
        CHECK_THAT(health(d, 1, TimePoint{0s}), near(expected));
    }
    const auto events = d.observe(1, OutcomeKind::timeout, at(0s));
    CHECK_THAT(health(d, 1, TimePoint{0s}), near(0.0855));
    const auto* excluded = events.get<event::NodeExcluded>();
    REQUIRE(excluded != nullptr);
    // Back after 30 ln(0.9145 / 0.2) minutes.
    const auto minutes = 30.0 * std::log(0.9145 / 0.2);
    CHECK(std::abs(double(excluded->until.time_since_epoch().count()) - minutes * 60'000.0) < 2.0);
    CHECK(d.node(1)->node.excluded);
    CHECK(d.next_deadline() == excluded->until);
    CHECK(d.qos().health(d.node(1)->qos, excluded->until) >= d.qos().parameters().readmit_from);
    CHECK(d.qos().health(d.node(1)->qos, excluded->until - 1ms) < d.qos().parameters().readmit_from);

    CHECK(started(d.submit(plain_task(1), at(1s))).empty());
    CHECK(d.advance(dark(excluded->until.time_since_epoch() - 1ms)).get<event::NodeReadmitted>() == nullptr);
    CHECK(d.advance(dark(excluded->until.time_since_epoch())).get<event::NodeReadmitted>() != nullptr);
    CHECK_FALSE(d.node(1)->node.excluded);
}

TEST_CASE("health recovers as 1 - (1 - H) exp(-t / 30 min), and a success adds 0.15") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.observe(1, OutcomeKind::timeout, at(0s)));
    ok(d.observe(1, OutcomeKind::timeout, at(0s)));
    CHECK_THAT(health(d, 1, TimePoint{30min}), near(1.0 - 0.715 * std::exp(-1.0)));
    ok(d.observe(1, OutcomeKind::success, at(0s)));
    CHECK_THAT(health(d, 1, TimePoint{0s}), near(0.435));
    for (auto i = 0; i < 4; ++i) { ok(d.observe(1, OutcomeKind::success, at(0s))); }
    CHECK(health(d, 1, TimePoint{0s}) == 1.0);  // never above
}

TEST_CASE("only success, timeouts and wrong results touch the score of a node") {
    struct Case {
        OutcomeKind outcome;
        double health;
        double long_term;
    };
    const auto c = GENERATE(values<Case>({
        {OutcomeKind::success, 0.435, 1.0},
        {OutcomeKind::timeout, 0.0855, 0.5},
        {OutcomeKind::timeout_in_group, 0.0855, 1.0},
        {OutcomeKind::out_of_memory, 0.285, 1.0},
        {OutcomeKind::model_download, 0.285, 1.0},
        {OutcomeKind::execution_error, 0.285, 1.0},
        {OutcomeKind::incorrect_result, 0.285, 0.5},
        {OutcomeKind::declined, 0.285, 1.0},
        {OutcomeKind::cancelled, 0.285, 1.0},
    }));
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s)));
    ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s)));
    ok(d.score(1, 10, at(0s)));
    ok(d.observe(1, c.outcome, at(0s)));
    CAPTURE(int(c.outcome));
    CHECK_THAT(health(d, 1, TimePoint{0s}), near(c.health));
    CHECK_THAT(long_term(d, 1), near(c.long_term));
    CHECK_THAT(number(d.qos_score(*d.node(1))), near(c.health * c.long_term));
}

TEST_CASE("a lease that expires costs health, and a verdict of zero outside of validation groups") {
    const auto grouped = GENERATE(false, true);
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.score(1, 10, at(0s)));
    const auto group = grouped ? std::optional{allot::GroupId{1}} : std::nullopt;
    ok(d.submit(with(plain_task(1), [&](auto& t) { t.group = group; }), at(0s)));
    ok(d.advance(at(200s)));
    CHECK_THAT(health(d, 1, TimePoint{200s}), near(0.95));
    CHECK(long_term(d, 1) == (grouped ? 1.0 : 0.5));
}

TEST_CASE("a completed task raises health") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s)));
    ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s)));
    ok(d.complete(leased(d.submit(plain_task(1), at(0s))), at(0s)));
    CHECK_THAT(health(d, 1, TimePoint{0s}), near(0.435));
}

TEST_CASE("kick-out takes a full window with a mean below two, and returns the stake") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (auto i = 0; i < 10; ++i) { ok(d.score(1, 10, at(0s))); }
    for (auto i = 0; i < 40; ++i) {
        CHECK(d.score(1, 0, at(0s)).get<event::NodeKickedOut>() == nullptr);  // 49 verdicts, then exactly 2.0
    }
    const auto events = d.score(1, 1, at(0s));
    CHECK(events.get<event::NodeKickedOut>()->stake_returned == allot::Amount{400});
    CHECK(state_of(d, 1) == NodeState::left);
    CHECK(d.state().present() == 0);
}

TEST_CASE("a returning node is lifted to the floor of 0.3 and no further") {
    struct Case {
        std::uint32_t points;
        double after;
    };
    const auto c = GENERATE(values<Case>({{0, 0.3}, {2, 0.3}, {3, 0.3}, {4, 0.4}, {10, 1.0}}));
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.score(1, c.points, at(0s)));
    ok(d.leave(1, at(0s)));
    ok(d.join(plain_node(1), at(0s)));
    CHECK_THAT(long_term(d, 1), near(c.after));
    if (c.points < 3) {  // a full window at the floor, so that one good verdict moves it little
        ok(d.score(1, 10, at(0s)));
        CHECK_THAT(long_term(d, 1), near(0.314));
    }
}

TEST_CASE("a node without verdicts comes back as it was: a half, not the floor") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.leave(1, at(0s)));
    ok(d.join(plain_node(1), at(0s)));
    CHECK(long_term(d, 1) == 0.5);
}

TEST_CASE("a node that comes back after a kick-out may be kicked out again, after a bounded number of zeros") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (auto i = 0; i < 50; ++i) { ok(d.score(1, 0, at(0s))); }
    CHECK(state_of(d, 1) == NodeState::left);
    ok(d.join(plain_node(1), at(0s)));
    CHECK_FALSE(d.node(1)->node.kicked_out);
    CHECK_THAT(long_term(d, 1), near(0.3));
    auto zeros = 0;
    while (state_of(d, 1) != NodeState::left && zeros < 100) {
        ok(d.score(1, 0, at(0s)));
        ++zeros;
    }
    CHECK(zeros == 17);  // 150 - 3 * 17 < 100
}

TEST_CASE("leaving and joining again clears no exclusion and heals nothing") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.score(1, 10, at(0s)));
    for (auto i = 0; i < 3; ++i) { ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s))); }
    const auto back = *d.next_deadline();
    ok(d.leave(1, at(1min)));
    ok(d.join(plain_node(1), at(2min)));
    CHECK(d.node(1)->node.excluded);
    CHECK(d.next_deadline() == back);
    CHECK_THAT(health(d, 1, TimePoint{2min}), near(1.0 - 0.9145 * std::exp(-2.0 / 30.0)));
    CHECK(started(d.submit(plain_task(1), at(2min))).empty());
    CHECK(started(d.advance(at(back.time_since_epoch()))).size() == 1);
}

TEST_CASE("an exclusion that ended while the node was away does not come back with it") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (auto i = 0; i < 3; ++i) { ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s))); }
    ok(d.leave(1, at(0s)));
    ok(d.join(plain_node(1), at(1h)));
    CHECK_FALSE(d.node(1)->node.excluded);
    CHECK(started(d.submit(plain_task(1), at(1h))).size() == 1);
}

TEST_CASE("as an option, joining again clears health as the seeds do") {
    auto d = allot::Dispatcher{allot::RollingQos{{.rejoin_clears_health = true}}};
    join_plain(d, 1);
    for (auto i = 0; i < 3; ++i) { ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s))); }
    ok(d.leave(1, at(0s)));
    ok(d.join(plain_node(1), at(0s)));
    CHECK(health(d, 1, TimePoint{0s}) == 1.0);
    CHECK_FALSE(d.node(1)->node.excluded);
}

TEST_CASE("verdicts after departure count in the history of the node") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.leave(1, at(0s)));
    CHECK(d.score(1, 4, at(1s)).get<event::NodeScored>() != nullptr);
    for (auto i = 0; i < 3; ++i) {
        CHECK(d.observe(1, OutcomeKind::timeout_in_group, at(1s)).size() == 1);  // nobody there to be excluded
    }
    ok(d.join(plain_node(1), at(1s)));
    CHECK_THAT(long_term(d, 1), near(0.4));
    CHECK(d.node(1)->node.excluded);
}

TEST_CASE("timeouts that come while a node is excluded put its return off") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (auto i = 0; i < 3; ++i) { ok(d.observe(1, OutcomeKind::timeout_in_group, at(0s))); }
    const auto first = *d.next_deadline();
    CHECK(d.observe(1, OutcomeKind::timeout_in_group, at(1min)).get<event::NodeExcluded>() == nullptr);
    CHECK(*d.next_deadline() > first);
    ok(d.observe(1, OutcomeKind::success, at(2min)));
    ok(d.observe(1, OutcomeKind::success, at(2min)));
    CHECK(*d.next_deadline() < first);
}

// ---- what holds with any tracker
// ------------------------------------------------------------------------------------------

namespace {

using allot::ContractQos;
using allot::MonthlyQos;
using allot::RollingQos;

/// After how many tasks without an answer a node is kicked out.
template <class Tracker>
struct Patience;
template <>
struct Patience<RollingQos> {
    static constexpr auto with_new = 50;  // as many as the window has verdicts
    static constexpr auto with_good =
        41;  // fifty tens, each displaced by a zero: the mean falls below two with the 41st
};
template <>
struct Patience<MonthlyQos> {
    static constexpr auto with_new = 3;
    static constexpr auto with_good = 2;
};
template <>
struct Patience<ContractQos> {
    static constexpr auto with_new = 2;
    static constexpr auto with_good = 2;
};

/// Node 1 alone, which got so many verdicts, the best or the worst.
template <class Tracker>
auto judged(int verdicts, bool good) -> allot::Dispatcher<Tracker> {
    auto d = allot::Dispatcher<Tracker>{};
    join_plain(d, 1);
    for (auto i = 0; i < verdicts; ++i) { ok(d.score(1, good ? d.qos().points_max() : 0, at(0s))); }
    return d;
}

/// Gives a busy node zeros until it is to be kicked out.
template <class Dispatcher>
void condemn(Dispatcher& d) {
    for (auto i = 0; i < 50 && !d.node(1)->node.kicked_out; ++i) {
        REQUIRE(count<event::NodeKickedOut>(d.score(1, 0, at(0s))) == 0);
    }
    REQUIRE(d.node(1)->node.kicked_out);
    REQUIRE(state_of(d, 1) == NodeState::busy);
}

}  // namespace

TEMPLATE_TEST_CASE("a node that vanishes is kicked out after a bounded number of tasks", "", RollingQos, MonthlyQos,
                   ContractQos) {
    auto fresh = judged<TestType>(0, true);
    CHECK(tasks_of_vanished_node(fresh, 200) == Patience<TestType>::with_new);
    CHECK(state_of(fresh, 1) == NodeState::left);
    auto good = judged<TestType>(50, true);
    CHECK(tasks_of_vanished_node(good, 200) == Patience<TestType>::with_good);
    CHECK(state_of(good, 1) == NodeState::left);
}

TEMPLATE_TEST_CASE("a node whose first verdict is zero is given tasks, and so betters itself or is kicked out", "[A2]",
                   RollingQos, MonthlyQos, ContractQos) {
    auto d = judged<TestType>(1, false);
    const auto worst = d.qos_score(*d.node(1));
    auto vanished = d;
    const auto tasks = tasks_of_vanished_node(vanished, 200);
    CHECK(tasks >= 1);
    CHECK(tasks < Patience<TestType>::with_new);
    CHECK(state_of(vanished, 1) == NodeState::left);

    ok(d.complete(leased(d.submit(plain_task(1), at(0s))), at(1s)));
    ok(d.score(1, d.qos().points_max(), at(2s)));
    CHECK(d.qos_score(*d.node(1)) > worst);
}

TEMPLATE_TEST_CASE("a busy node is kicked out when its lease ends, and what it did is paid", "", RollingQos, MonthlyQos,
                   ContractQos) {
    auto d = judged<TestType>(0, true);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    condemn(d);
    const auto events = d.complete(lease, at(1s));
    REQUIRE(count<event::NodeKickedOut>(events) == 1);
    CHECK(events.template get<event::TaskDone>()->paid == allot::Amount{100});
    CHECK(events.template get<event::NodeKickedOut>()->stake_returned == allot::Amount{400});
    CHECK(state_of(d, 1) == NodeState::left);
}

TEMPLATE_TEST_CASE("a kick-out that was decided while a node is busy is final, whatever is said and done afterwards",
                   "[A1]", RollingQos, MonthlyQos, ContractQos) {
    const auto ending = GENERATE(0, 1, 2, 3, 4);
    auto d = judged<TestType>(0, true);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    condemn(d);
    for (auto i = 0; i < 50; ++i) { ok(d.score(1, d.qos().points_max(), at(0s))); }
    ok(d.observe(1, OutcomeKind::success, at(0s)));
    ok(d.pause(1, at(0s)));
    ok(d.resume(1, at(0s)));
    ok(d.update({.id = 1, .stake = 900}, at(0s)));
    CHECK(d.node(1)->node.kicked_out);
    auto events = Events{};
    switch (ending) {
        case 0: events = d.complete(lease, at(1s)); break;
        case 1: events = d.fail(lease, allot::FailCause::execution_error, at(1s)); break;
        case 2: events = d.decline(lease, at(1s)); break;
        case 3: events = d.cancel(1, at(1s)); break;
        default: events = d.advance(at(200s)); break;
    }
    CAPTURE(ending);
    CHECK(count<event::NodeKickedOut>(events) == 1);
    CHECK(state_of(d, 1) == NodeState::left);
    ok(d.join(plain_node(1), at(200s)));  // the sentence was served
    CHECK_FALSE(d.node(1)->node.kicked_out);
}

TEMPLATE_TEST_CASE("declining a task neither harms a node nor does it any good", "[A9]", RollingQos, MonthlyQos,
                   ContractQos) {
    for (const auto good : {false, true}) {
        auto d = judged<TestType>(1, good);
        const auto before = d.node(1)->qos;
        for (auto task = 1; task <= 30; ++task) {
            ok(d.decline(leased(d.submit(plain_task(task), at(0s))), at(0s)));
            ok(d.cancel(task, at(0s)));
        }
        CHECK(d.node(1)->qos == before);
        CHECK(state_of(d, 1) == NodeState::available);
    }
}

TEMPLATE_TEST_CASE("a node comes back as it was, or lifted to the floor of a returning node", "", RollingQos,
                   MonthlyQos, ContractQos) {
    const auto floor = std::is_same_v<TestType, RollingQos> ? allot::Score::from_ratio(3, 10) : allot::Score::zero();
    const auto verdicts = GENERATE(0, 1, 50);
    const auto good = GENERATE(false, true);
    auto d = judged<TestType>(verdicts, good);
    const auto before = d.qos_score(*d.node(1));
    if (state_of(d, 1) != NodeState::left) {  // else it was kicked out
        ok(d.leave(1, at(0s)));
    }
    ok(d.join(plain_node(1), at(0s)));
    CAPTURE(verdicts, good);
    CHECK(d.qos_score(*d.node(1)) == (verdicts > 0 ? std::max(before, floor) : before));
}

TEMPLATE_TEST_CASE("verdicts that would kick out a node that is gone leave no mark on its return but its score", "",
                   RollingQos, MonthlyQos, ContractQos) {
    auto d = judged<TestType>(1, true);
    const auto before = d.qos_score(*d.node(1));
    ok(d.leave(1, at(0s)));
    for (auto i = 0; i < 50; ++i) { CHECK(count<event::NodeKickedOut>(d.score(1, 0, at(0s))) == 0); }
    ok(d.join(plain_node(1), at(0s)));
    CHECK_FALSE(d.node(1)->node.kicked_out);
    CHECK(state_of(d, 1) == NodeState::available);
    CHECK(d.qos_score(*d.node(1)) < before);
}

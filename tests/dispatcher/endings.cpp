// How a task ended is remembered until it is forgotten, by whoever ended it.
#include <optional>
#include <utility>
#include <vector>

#include <allot/dispatcher/look.hpp>
#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"

namespace endings_test {

using namespace support;
using allot::EndCause;
using allot::Ending;
using allot::FailCause;
using allot::TaskEnd;

/// The same answer from the dispatcher, from the view a front sends, and from both after a snapshot.
template <class Dispatcher>
auto told(const Dispatcher& d, allot::TaskId id) -> std::optional<TaskEnd> {
    const auto end = d.ended(id);
    auto loaded = allot::load_snapshot(allot::snapshot(d, 0), Dispatcher{});
    REQUIRE(loaded);
    CHECK(loaded->dispatcher == d);
    CHECK(loaded->dispatcher.ended(id) == end);
    for (const auto* each : {&d, &std::as_const(loaded->dispatcher)}) {
        const auto view = allot::find_task(*each, id);
        CHECK(view.has_value() == end.has_value());
        if (view) {
            CHECK(view->state == allot::TaskState::ended);
            CHECK(view->end == end);
        }
    }
    return end;
}

TEST_CASE("an ended task tells how it ended and who did it, before and after a snapshot", "[N1]") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node("a"), at(0s)));
    SECTION("done") {
        ok(d.complete(leased(d.submit(plain_task(7), at(0s))), at(1s)));
        CHECK(told(d, 7) == TaskEnd{Ending::done, EndCause::none, allot::NodeId{"a"}});
    }
    SECTION("failed, for each cause") {
        constexpr auto causes = allot::enumerators<FailCause>();
        for (auto i = 0U; i < causes.size(); ++i) {
            ok(d.fail(leased(d.submit(plain_task(i), at(0s))), causes[i], at(0s)));
            const auto end = told(d, i);
            REQUIRE(end);
            CHECK(allot::enumerator_name(end->cause) == allot::enumerator_name(causes[i]));
            CHECK((end->ending == Ending::failed && end->node == allot::NodeId{"a"}));
        }
    }
    SECTION("cancelled, while it ran and while it waited") {
        ok(d.submit(plain_task(7), at(0s)));
        ok(d.submit(plain_task(8), at(0s)));
        ok(d.cancel(8, at(1s)));
        ok(d.cancel(7, at(1s)));
        CHECK(told(d, 7) == TaskEnd{Ending::cancelled, EndCause::none, {}});
        CHECK(told(d, 8) == TaskEnd{Ending::cancelled, EndCause::none, {}});
    }
    SECTION("timed out on its node and in the queue") {
        ok(d.submit(plain_task(7), at(0s)));
        ok(d.submit(plain_task(8), at(0s)));
        ok(d.pause("a", at(1s)));
        auto now = Duration{1s};
        while (d.next_deadline() && (d.task(7) != nullptr || d.task(8) != nullptr)) {
            now = d.next_deadline()->time_since_epoch();
            ok(d.advance(at(now)));
        }
        if (const auto late = told(d, 7)) {
            CHECK(*late == TaskEnd{Ending::timed_out, EndCause::lease_deadline, allot::NodeId{"a"}});
        }
        if (const auto waited = told(d, 8)) {
            CHECK(*waited == TaskEnd{Ending::timed_out, EndCause::queue_deadline, {}});
        }
        CHECK((d.ended(7) || d.ended(8)));
    }
    SECTION("failed by a node that was slashed") {
        ok(d.submit(plain_task(7), at(0s)));
        ok(d.slash("a", at(1s)));
        CHECK(told(d, 7) == TaskEnd{Ending::failed, EndCause::incorrect_result, allot::NodeId{"a"}});
    }
    CHECK_FALSE(told(d, 99));
}

TEST_CASE("a task evicted from a full queue says so", "[N1]") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.tasks_per_node = 1, .capacity_min = 2}}};
    for (auto t = 1U; t <= 3; ++t) { ok(d.submit(paying(t, 100 * t), at(0s))); }
    CHECK(d.ended(1) == TaskEnd{Ending::evicted, EndCause::queue_full, {}});
    CHECK(refusal(d.cancel(1, at(1s))) == Error::task_ended);
    CHECK(refusal(d.submit(plain_task(1), at(1s))) == Error::task_duplicate);
}

TEST_CASE("who did a task is known after the node was forgotten, and not longer than the task", "[N1]") {
    auto d = allot::Dispatcher{allot::Rules{{.forget_tasks_after = 1h, .forget_nodes_after = 1min}}};
    ok(d.join(plain_node("a"), at(0s)));
    ok(d.complete(leased(d.submit(plain_task(7), at(0s))), at(0s)));
    ok(d.leave("a", at(1s)));
    ok(d.advance(at(2min)));
    CHECK(d.node("a") == nullptr);
    REQUIRE(d.ended(7));
    CHECK(d.ended(7)->node == allot::NodeId{"a"});
    CHECK(d.state().node_names().size() == 1);
    ok(d.advance(at(1h)));
    CHECK_FALSE(d.ended(7));
    CHECK(d.state().node_names().empty());
    CHECK_FALSE(d.next_deadline());
    ok(d.submit(plain_task(7), at(1h)));
}

TEST_CASE("nothing is remembered of ended tasks where the rules say so") {
    auto d = allot::Dispatcher{allot::Rules{{.forget_tasks_after = Duration{0}}}};
    ok(d.join(plain_node("a"), at(0s)));
    const auto grouped = with(plain_task(7), [](auto& t) { t.group = allot::GroupId{1}; });
    ok(d.complete(leased(d.submit(grouped, at(0s))), at(0s)));
    CHECK_FALSE(d.ended(7));
    CHECK(d.state().ended_tasks().size() == 0);
    CHECK(d.state().groups().size() == 0);
    CHECK_FALSE(d.next_deadline());
}

TEST_CASE("a group remembers who had its tasks until the last of them is forgotten") {
    auto d = allot::Dispatcher{allot::Rules{{.forget_tasks_after = 1h, .group_members_max = 3}}};
    const auto member = [](unsigned id) { return with(plain_task(id), [](auto& t) { t.group = allot::GroupId{1}; }); };
    ok(d.join(plain_node("a"), at(0s)));
    ok(d.complete(leased(d.submit(member(1), at(0s))), at(0s)));
    CHECK(started(d.submit(member(2), at(30min))).empty());  // the one node has had a task of the group
    ok(d.cancel(2, at(40min)));
    ok(d.advance(at(61min)));  // the first is forgotten, the group is not
    CHECK_FALSE(d.ended(1));
    CHECK(started(d.submit(member(3), at(61min))).empty());
    CHECK(refusal(d.submit(member(4), at(61min))) == Error::group_full);  // three were submitted to it
    ok(d.cancel(3, at(62min)));
    ok(d.advance(at(123min)));
    CHECK(d.state().groups().size() == 0);
    ok(d.complete(leased(d.submit(member(1), at(124min))), at(124min)));
}

TEST_CASE("ended tasks count for tasks_max, and a session takes an ending back") {
    auto d = allot::Dispatcher{allot::Rules{{.tasks_max = 2}}};
    ok(d.join(plain_node("a"), at(0s)));
    ok(d.complete(leased(d.submit(plain_task(1), at(0s))), at(0s)));
    const auto lease = leased(d.submit(plain_task(2), at(0s)));
    CHECK(refusal(d.submit(plain_task(3), at(0s))) == Error::too_many_tasks);
    const auto before = d;
    {
        auto session = d.session();
        ok(d.complete(lease, at(1s)));
        CHECK(d.ended(2));
        session.rollback();
    }
    CHECK(d == before);
    CHECK(d.digest() == before.digest());
    CHECK_FALSE(d.ended(2));
    ok(d.complete(lease, at(1s)));
    CHECK(d.ended(2));
}

}  // namespace endings_test

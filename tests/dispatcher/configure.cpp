#include <string>
#include <utility>
#include <vector>

#include <allot/explain/task.hpp>
#include <allot/qos/resting.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// Parameters change at a place in the log; other policies take the records over.

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a configuration takes effect from its command on and carries the rules version") {
    auto d = allot::Dispatcher<>{};
    CHECK(d.state().counters().rules_version == allot::rules_version_newest);
    const auto events = d.configure(allot::ValueQueueParameters{.tasks_per_node = 0, .capacity_min = 7}, 5, at(0s));
    CHECK(events.get<event::Configured>()->rules_version == 5);
    CHECK(d.state().counters().rules_version == 5);
    CHECK(d.queue_capacity() == 7);
    CHECK(d.queue().parameters().capacity_min == 7);
}

TEST_CASE("each policy hears its own parameters and no other's") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    ok(d.configure(allot::FixedTermsParameters{.estimates = 3}, 1, at(0s)));
    CHECK(leased(d.submit(plain_task(1), at(0s))).deadline == TimePoint{300s});
    ok(d.configure(allot::RollingQosParameters{.score_new = allot::Score::from_ratio(1, 4)}, 1, at(0s)));
    CHECK(d.qos_score(*d.node(1)) == allot::Score::from_ratio(1, 4));
    ok(d.configure(allot::RulesParameters{.forget_tasks_after = 1s}, 1, at(0s)));
    ok(d.cancel(1, at(0s)));
    CHECK(d.next_deadline() == TimePoint{1s});
    CHECK(d.queue().parameters() == allot::ValueQueueParameters{});
    ok(d.configure(allot::ThresholdPlacementParameters{.holders_min = 1, .holders_target = 1}, 1, at(2s)));
    ok(d.join(plain_node(2), at(2s)));
    ok(d.join(plain_node(3), at(2s)));
    CHECK(count<event::ModelWanted>(d.submit(with(plain_task(2), [](auto& t) { t.models = {"m"}; }), at(2s))) == 2);
}

TEST_CASE("a queue made smaller sheds its surplus, a few tasks a command") {
    auto d = allot::Dispatcher<>{};
    for (auto id = 1; id <= 20; ++id) { ok(d.submit(paying(id, id), dark(0s))); }
    const auto events = d.configure(allot::ValueQueueParameters{.capacity_min = 2}, 2, dark(0s));
    CHECK(evicted(events).size() == 16);
    CHECK(evicted(events).front() == "1");
    CHECK(evicted(d.advance(dark(0s))) == Names{"17", "18"});
}

TEST_CASE("narrowing and boosts change draws at once") {
    using allot::Narrowing;
    auto d = allot::Dispatcher{allot::Rules{{.narrowing = Narrowing::gate}}};
    ok(d.join(with(plain_node("holder"), [](auto& n) { n.models = {"a"}; }), at(0s)));
    ok(d.submit(with(plain_task(1), [](auto& t) { t.models = {"a", "b"}; }), at(0s)));
    CHECK(started(d.match(at(0s))).empty());
    ok(d.configure(allot::RulesParameters{.narrowing = Narrowing::any}, 2, at(0s)));
    CHECK(started(d.match(at(0s))) == Names{"1"});
}

TEST_CASE("new boosts leave every draw as a dispatcher would make it that had them from the start") {
    using Dispatcher = allot::Dispatcher<allot::Rules>;
    const auto parameters =
        allot::RulesParameters{.narrowing = allot::Narrowing::all, .boost_on_disk = 40, .boost_in_use = 9};
    auto late = Dispatcher{};
    auto early = Dispatcher{allot::Rules{parameters}};
    for (auto* d : {&late, &early}) {
        for (auto id = 1; id <= 8; ++id) {
            ok(d->join(with(plain_node(id),
                            [&](auto& n) {
                                n.stake = std::uint64_t{1} << id;
                                n.models = id % 3 == 0 ? Names{"a", "b"} : id % 3 == 1 ? Names{"a"} : Names{};
                            }),
                       at(0s)));
        }
        ok(d->submit(plain_task("first"), at(0s)));  // the first draw settles what bounds are relative to
        ok(d->cancel("first", at(0s)));
    }
    ok(late.configure(parameters, 1, at(0s)));
    for (auto id = 1; id <= 300; ++id) {
        const auto task = with(plain_task(id), [&](auto& t) {
            t.models = id % 2 == 0 ? Names{"a", "b"} : Names{"a", "c"};
        });
        auto x = late.session();
        auto y = early.session();
        REQUIRE(where(late.submit(task, at(0s, id))) == where(early.submit(task, at(0s, id))));
    }
}

TEST_CASE("a bad configuration is refused and changes nothing") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto before = d;
    CHECK(refusal(d.configure(allot::RollingQosParameters{.window = 0}, 9, at(0s))) == Error::parameter_invalid);
    CHECK(refusal(d.configure(allot::RulesParameters{.boost_unit = 0}, 9, at(0s))) == Error::parameter_invalid);
    CHECK(d == before);
    CHECK(d.state().counters().rules_version == allot::rules_version_newest);
}

TEST_CASE("a rollback restores parameters and all that follows from them") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    const auto before = d;
    auto session = d.session();
    ok(d.configure(allot::RulesParameters{.narrowing = allot::Narrowing::gate, .boost_on_disk = 100}, 2, at(0s)));
    ok(d.configure(allot::ValueQueueParameters{.capacity_min = 1}, 3, at(0s)));
    ok(d.configure(allot::ValueQueueParameters{.capacity_min = 2}, 4, at(0s)));
    ok(d.configure(allot::RollingQosParameters{.window = 1}, 5, at(0s)));
    session.rollback();
    CHECK(d == before);
    CHECK(d.queue().parameters() == allot::ValueQueueParameters{});
    CHECK(d.rules().parameters() == allot::RulesParameters{});
    CHECK(d.qos().parameters() == allot::RollingQosParameters{});
    CHECK(d.state().counters().rules_version == allot::rules_version_newest);
    auto again = before;
    for (auto id = 1; id <= 3; ++id) {
        CHECK(where(d.submit(plain_task(id), at(0s))) == where(again.submit(plain_task(id), at(0s))));
    }
}

TEST_CASE("a smaller window forgets the oldest verdicts with the next one") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    for (const auto points : {0U, 0U, 10U, 10U}) { ok(d.score(1, points, at(0s))); }
    ok(d.configure(allot::RollingQosParameters{.window = 2, .kick_out_below = {}}, 2, at(0s)));
    ok(d.score(1, 5, at(0s)));
    CHECK(d.qos_score(*d.node(1)) == allot::Score::from_ratio(15, 20));
}

namespace configure_test {

/// Refuses a platform by an option; its bits must follow when that changes.
class Fussy {
public:
    using role = allot::role::eligibility;
    struct Parameters {
        bool darwin = false;
        friend auto operator==(const Parameters&, const Parameters&) -> bool = default;
    };
    auto fits(const allot::NodeClass& node_class, const allot::Requirement& requirement) const -> allot::Reason {
        return node_class.platform == "Darwin" && !parameters_.darwin
                   ? allot::Reason::first_of_embedder
                   : allot::HardwareFit{}.fits(node_class, requirement);
    }
    auto admits(const allot::Node& node, const allot::Task& task, const allot::Situation& situation) const
        -> allot::Reason {
        return allot::HardwareFit{}.admits(node, task, situation);
    }
    auto parameters() const -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) { parameters_ = parameters; }

private:
    Parameters parameters_{};
};

}  // namespace configure_test

using namespace configure_test;

TEST_CASE("who fits whom is asked anew when eligibility is configured, and again when that is taken back") {
    auto d = allot::Dispatcher{Fussy{}};
    ok(d.join(with(plain_node("mac"), [](auto& n) { n.platform = "Darwin"; }), at(0s)));
    ok(d.submit(plain_task(1), at(0s)));
    CHECK(started(d.match(at(0s))).empty());
    auto session = d.session();
    ok(d.configure(Fussy::Parameters{.darwin = true}, 2, at(0s)));
    CHECK(started(d.match(at(0s))) == Names{"1"});
    session.rollback();
    CHECK(started(d.match(at(0s))).empty());
}

TEST_CASE("a policy made of policies is configured by its parts, and compared by them") {
    using Both = allot::AllOf<allot::HardwareFit, allot::AllOf<allot::Probation, allot::NameWhitelist>>;
    auto d = allot::Dispatcher{Both{}, allot::RollingQos{{.proven_from = 1}}};
    join_plain(d, 1);
    ok(d.submit(paying(1, 51), dark(0s)));
    const auto before = d;
    auto session = d.session();
    ok(d.configure(allot::ProbationParameters{.fee_max = 50}, 2, dark(0s)));
    CHECK(started(d.match(at(0s))).empty());
    CHECK_FALSE(d == before);
    auto counters_aside = before;
    ok(counters_aside.configure(allot::ProbationParameters{}, 2, dark(0s)));
    CHECK_FALSE(d == counters_aside);
    session.rollback();
    CHECK(d == before);
    ok(d.configure(allot::NameWhitelistParameters{{{"H100", 80_GiB, "", {}}}}, 2, dark(0s)));
    CHECK(started(d.match(at(0s))).empty());
    CHECK(allot::explain(d, allot::TaskId{1}).value().count(allot::Reason::name_policy) == 1);
    ok(d.configure(allot::NameWhitelistParameters{}, 3, dark(0s)));
    CHECK(started(d.match(at(0s))) == Names{"1"});
    CHECK(refusal(d.configure(allot::ProbationParameters{.fee_max = allot::u128{1} << 96}, 4, dark(0s))) ==
          Error::parameter_invalid);
}

TEST_CASE("another dispatcher takes the records over, and goes on as if it had been there from the start") {
    using Old = allot::Dispatcher<>;
    using New = allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;
    for (auto round = 0; round < 10; ++round) {
        auto chaos = support::Chaos<Old>{seed() + static_cast<std::uint64_t>(round)};
        auto old = Old{};
        auto other = New{};
        for (auto i = 0; i < 200; ++i) {
            const auto command = chaos.command(old);
            const auto moment = chaos.moment(old);
            (void)old.apply(command, moment);
            (void)other.apply(command, moment);
        }
        const auto reference = old;
        auto moved = New{std::move(old), allot::LinearPool{}, allot::LinearQueue{}};
        CHECK(moved == other);
        CHECK(moved.digest() == reference.digest());
        auto back = Old{std::move(moved)};
        CHECK(back == reference);
        for (auto i = 0; i < 100; ++i) {
            const auto command = chaos.command(back);
            const auto moment = chaos.moment(back);
            const auto x = back.apply(command, moment);
            const auto y = other.apply(command, moment);
            REQUIRE(started(x) == started(y));
            REQUIRE(where(x) == where(y));
            REQUIRE(x.size() == y.size());
        }
    }
}

TEST_CASE("leases go on under other policies, and a smaller queue sheds what does not fit") {
    auto old = allot::Dispatcher<>{};
    join_plain(old, 1);
    ok(old.score(1, 10, at(0s)));
    const auto lease = leased(old.submit(plain_task("running"), at(0s)));
    for (auto id = 1; id <= 4; ++id) { ok(old.submit(paying(id, id), at(0s))); }
    using New = allot::Dispatcher<allot::ValueQueue, allot::FixedTerms>;
    auto d = New{std::move(old), allot::ValueQueue{{.capacity_min = 2}}, allot::FixedTerms{{.estimates = 9}}};
    CHECK(d.queued() == 4);
    CHECK(evicted(d.advance(dark(1s))) == Names{"1", "2"});
    const auto events = d.complete(lease, at(2s));
    CHECK(events.get<event::TaskDone>() != nullptr);
    CHECK(started(events) == Names{"4"});
    CHECK(leased(events).deadline == TimePoint{902s});
}

TEST_CASE("a tracker that takes nodes over learns their cards, so that another card proves nothing") {
    auto old = allot::Dispatcher<>{};
    join_plain(old, 2);
    ok(old.leave(2, at(0s)));
    using Tracker = allot::Resting<allot::RollingQos>;
    auto d = allot::Dispatcher<Tracker>{std::move(old), Tracker{allot::RollingQos{{.proven_from = 1}}}};
    ok(d.score(1, 10, at(0s)));
    CHECK(d.qos().proven(d.node(1)->qos));
    ok(d.update({.id = 1, .gpu = "another card"}, at(0s)));
    CHECK_FALSE(d.qos().proven(d.node(1)->qos));
}

namespace configure_test {

/// A tracker that remembers something else.
struct Counting {
    using role = allot::role::qos;
    struct node_data {
        int outcomes = 0;
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };
    void joined(node_data& data, TimePoint) const { data = {}; }
    auto record(node_data& data, allot::Outcome, TimePoint) const -> allot::Standing {
        ++data.outcomes;
        return allot::Standing::good;
    }
    auto score(const node_data&, TimePoint) const -> allot::Score { return allot::Score::one(); }
    auto score_max(const node_data&) const -> allot::Score { return allot::Score::one(); }
    auto back_at(const node_data&) const -> std::optional<TimePoint> { return std::nullopt; }
    auto points_max() const -> std::uint32_t { return 100; }
};

}  // namespace configure_test

TEST_CASE("a tracker that remembers other data starts every node as new, exclusions included") {
    auto old = allot::Dispatcher<>{};
    join_plain(old, 2);
    for (auto i = 0; i < 3; ++i) { ok(old.observe(1, allot::OutcomeKind::timeout_in_group, at(0s))); }
    ok(old.leave(2, at(0s)));
    using New = allot::Dispatcher<Counting>;
    auto d = New{std::move(old), Counting{}};
    CHECK_FALSE(d.node(1)->node.excluded);
    CHECK(d.next_deadline() == TimePoint{std::chrono::hours{720}});  // node 2 is forgotten as before
    CHECK(where(d.submit(plain_task(1), at(1s))) == "1");
    CHECK(d.score(1, 100, at(1s)).accepted());
    CHECK(d.node(1)->qos.outcomes == 1);
}

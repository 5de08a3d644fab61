#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

using namespace support;

// Sessions stay or are taken back as a whole; copies share nothing; equal states act alike.

namespace {

/// Whether two dispatchers of equal state also act alike: pool and queue are no part of equality, but must follow from
/// it.
void check_alike(allot::Dispatcher<> a, allot::Dispatcher<> b, std::uint64_t seed, int commands) {
    REQUIRE(a == b);
    REQUIRE(a.digest() == b.digest());
    auto chaos = Chaos<allot::Dispatcher<>>{seed, true};
    for (auto i = 0; i < commands; ++i) {
        const auto moment = chaos.moment(a);
        const auto command = chaos.command(a);
        const auto x = a.apply(command, moment);
        const auto y = b.apply(command, moment);
        CAPTURE(i, command.index());
        REQUIRE(x.size() == y.size());
        REQUIRE(started(x) == started(y));
        REQUIRE(where(x) == where(y));
        REQUIRE(evicted(x) == evicted(y));
        REQUIRE(refusal(x) == refusal(y));
        REQUIRE(a.next_deadline() == b.next_deadline());
    }
    REQUIRE(a == b);
    REQUIRE(a.digest() == b.digest());
}

auto grown(Chaos<allot::Dispatcher<>>& chaos, int commands) -> allot::Dispatcher<> {
    auto d = allot::Dispatcher<>{};
    for (auto i = 0; i < commands; ++i) { (void)d.apply(chaos.command(d), chaos.moment(d)); }
    return d;
}

}  // namespace

TEST_CASE("a session rolled back leaves a dispatcher that is equal and acts alike") {
    auto chaos = Chaos<allot::Dispatcher<>>{seed(), true};
    for (auto round = 0; round < 60; ++round) {
        auto d = grown(chaos, 40);
        const auto before = d;
        {
            auto session = d.session();
            for (auto i = 0; i < 40; ++i) {
                auto command = chaos.command(d);
                if (chaos.below(20) == 0) {
                    auto rules = d.rules().parameters();
                    rules.narrowing = static_cast<allot::Narrowing>(chaos.below(3));
                    rules.boost_on_disk = static_cast<std::uint32_t>(chaos.below(30));
                    command = command::Configure<allot::Dispatcher<>::Configuration>{rules, 7};
                }
                (void)d.apply(command, chaos.moment(d));
            }
            session.rollback();
        }
        CAPTURE(round);
        check_alike(d, before, static_cast<std::uint64_t>(round), 60);
    }
}

TEST_CASE("a committed session is what the commands alone would have been") {
    auto chaos = Chaos<allot::Dispatcher<>>{seed() + 1, true};
    auto plain = grown(chaos, 30);
    auto d = plain;
    auto session = d.session();
    for (auto i = 0; i < 40; ++i) {
        const auto command = chaos.command(plain);
        const auto moment = chaos.moment(plain);
        (void)plain.apply(command, moment);
        (void)d.apply(command, moment);
    }
    session.commit();
    check_alike(d, plain, 1, 60);
}

TEST_CASE("a session that merely ends is rolled back, and one moved on lives on") {
    auto d = allot::Dispatcher<>{};
    const auto before = d;
    {
        const auto session = d.session();
        join_plain(d, 2);
    }
    CHECK(d == before);
    {
        auto first = d.session();
        join_plain(d, 2);
        auto second = std::move(first);
        second.commit();
    }
    CHECK(d.state().present() == 2);
}

TEST_CASE("where memory runs out on the way back the program ends, however the way back was begun", "[E3]") {
    using Session = decltype(std::declval<allot::Dispatcher<>&>().session());
    CHECK(noexcept(std::declval<Session&>().rollback()));
    CHECK(std::is_nothrow_destructible_v<Session>);
}

TEST_CASE("sessions nest: the inner one may go while the outer stays, and the outer takes all back") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    const auto before = d;
    auto outer = d.session();
    ok(d.submit(plain_task("outer"), at(1s)));
    const auto between = d;
    SECTION("inner rolled back, outer committed") {
        auto inner = d.session();
        ok(d.submit(plain_task("inner"), at(2s)));
        inner.rollback();
        CHECK(d == between);
        outer.commit();
        CHECK(d == between);
        CHECK(d.submit(plain_task("later"), at(3s)).accepted());
    }
    SECTION("inner committed, outer rolled back") {
        auto inner = d.session();
        ok(d.submit(plain_task("inner"), at(2s)));
        inner.commit();
        CHECK(d.task("inner") != nullptr);
        outer.rollback();
        check_alike(d, before, 3, 40);
    }
    SECTION("two inner ones in a row") {
        for (auto i = 0; i < 2; ++i) {
            auto inner = d.session();
            ok(d.advance(at(500s)));
            inner.rollback();
            CHECK(d == between);
        }
        outer.rollback();
        CHECK(d == before);
    }
}

TEST_CASE("time goes back with a session, too") {
    auto d = allot::Dispatcher<>{};
    ok(d.advance(at(10s)));
    auto session = d.session();
    ok(d.advance(at(100s)));
    session.rollback();
    CHECK(d.now() == TimePoint{10s});
    CHECK(d.advance(at(11s)).accepted());
}

TEST_CASE("what was forgotten and reused comes back under its old place") {
    auto d = allot::Dispatcher{allot::Rules{{.forget_tasks_after = 1s, .forget_nodes_after = 1s}}};
    for (auto id = 1; id <= 6; ++id) {
        const auto number = std::to_string(id);
        ok(d.join(with(plain_node(id),
                       [&](auto& n) {
                           n.gpu = "card " + number;
                           n.models = {"m" + number};
                       }),
                  at(0s)));
        ok(d.submit(with(plain_task(id),
                         [&](auto& t) {
                             t.gpus = {{"card " + number, 24_GiB}};
                             t.models = {"x" + number};
                         }),
                    dark(0s)));
    }
    const auto before = d;
    auto session = d.session();
    for (auto id = 1; id <= 6; ++id) {
        ok(d.cancel(id, at(0s)));
        ok(d.leave(id, at(0s)));
    }
    ok(d.advance(at(10s)));
    CHECK(d.state().nodes().size() == 0);
    CHECK(d.state().fits().classes().size() == 0);
    CHECK(d.state().models().names().size() == 0);
    for (auto id = 11; id <= 13; ++id) {
        ok(d.join(with(plain_node(id),
                       [&](auto& n) {
                           n.gpu = "other " + std::to_string(id);
                           n.models = {"y"};
                       }),
                  at(10s)));
        ok(d.submit(plain_task(id), at(10s)));
    }
    session.rollback();
    CHECK(d == before);
    auto again = before;
    const auto x = d.match(at(0s));
    const auto y = again.match(at(0s));
    CHECK(started(x) == started(y));
    CHECK(started(x).size() == 6);
    CHECK(d == again);
}

TEST_CASE("a policy's exception inside a session takes back its command only") {
    struct Once {
        using role = allot::role::valuation;
        auto value(const allot::Task& task, const allot::Requirement& requirement) const -> allot::Value {
            if (task.id == allot::TaskId{"bad"}) { throw std::runtime_error{"bad"}; }
            return allot::FeePerSecond{}.value(task, requirement);
        }
    };
    auto d = allot::Dispatcher{Once{}};
    join_plain(d, 2);
    auto session = d.session();
    ok(d.submit(plain_task("good"), at(0s)));
    const auto before = d;
    CHECK_THROWS(d.submit(plain_task("bad"), at(1s)));
    CHECK(d == before);
    session.commit();
    CHECK(d.task("good") != nullptr);
}

TEST_CASE("copies share nothing") {
    auto chaos = Chaos<allot::Dispatcher<>>{seed() + 2, true};
    const auto original = grown(chaos, 60);
    auto copy = original;
    auto reference = original;
    for (auto i = 0; i < 60; ++i) { (void)copy.apply(chaos.command(copy), chaos.moment(copy)); }
    check_alike(original, reference, 4, 60);
    copy = original;  // by assignment, too
    check_alike(copy, original, 5, 60);
}

TEST_CASE("a copy made within a session has none of its own") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 1);
    auto session = d.session();
    ok(d.submit(plain_task(1), at(0s)));
    auto copy = d;
    CHECK(copy.state().savepoint() == 0);  // no notes, which no session of the copy would ask for
    ok(copy.submit(plain_task(2), at(0s)));
    session.rollback();
    CHECK(copy.task(1) != nullptr);
    CHECK(copy.task(2) != nullptr);
    CHECK(d.task(1) == nullptr);
}

TEST_CASE("equal states have equal digests, and what differs shows") {
    const auto made = [](auto change) {
        auto d = allot::Dispatcher<>{};
        join_plain(d, 3);
        ok(d.submit(plain_task(1), at(0s)));
        ok(d.submit(with(plain_task(2), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
        change(d);
        return d;
    };
    const auto base = made([](auto&) {});
    CHECK(base == made([](auto&) {}));
    CHECK(base.digest() == made([](auto&) {}).digest());
    const auto differs = [&](const char* what, const allot::Dispatcher<>& other) {
        CAPTURE(what);
        CHECK_FALSE(base == other);
        CHECK(base.digest() != other.digest());
    };
    differs("time", made([](auto& d) { ok(d.advance(at(1ms))); }));
    differs("stake", made([](auto& d) { ok(d.update({.id = 1, .stake = 401}, at(0s))); }));
    differs("labels", made([](auto& d) { ok(d.update({.id = 1, .labels = std::vector<std::string>{"x"}}, at(0s))); }));
    differs("models", made([](auto& d) { ok(d.report_model(1, command::Report::add, {"m"}, at(0s))); }));
    differs("service", made([](auto& d) { ok(d.score(1, 5, at(0s))); }));
    differs("a task", made([](auto& d) { ok(d.cancel(2, at(0s))); }));
    differs("rules version", made([](auto& d) { ok(d.configure(d.rules().parameters(), 9, at(0s))); }));
    const auto other_rules = made([](auto& d) { ok(d.configure(allot::RulesParameters{.due_max = 9}, 1, at(0s))); });
    CHECK_FALSE(base == other_rules);  // though no record differs
}

TEST_CASE("the key of the id hashes shows in no decision and no digest") {
    auto a = allot::Dispatcher<allot::IdKey>{};
    auto b = allot::Dispatcher{allot::IdKey{1, 2}};
    auto chaos = Chaos<decltype(a)>{seed(), true};
    for (auto i = 0; i < 500; ++i) {
        const auto command = chaos.command(a);
        const auto moment = chaos.moment(a);
        const auto x = a.apply(command, moment);
        const auto y = b.apply(command, moment);
        REQUIRE(where(x) == where(y));
        REQUIRE(x.size() == y.size());
    }
    CHECK(a == b);
    CHECK(a.digest() == b.digest());
}

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <allot/preset/hardened.hpp>
#include <allot/terms/by_evidence.hpp>
#include <allot/terms/draw_delay.hpp>
#include <allot/terms/priced.hpp>

/// The default model with rounds.
struct InRounds : allot::Delayed<> {
    InRounds() : allot::Delayed<>{allot::FixedTerms{}, allot::DrawDelay{{.round_period = std::chrono::seconds{1}}}} {}
};

#define ALLOT_MODEL InRounds
#include "conformance/terms.ipp"
#include "support/network.hpp"

// In rounds, `match` alone draws, and a task only with entropy that came after its submission.

namespace draw_delay_test {
namespace {

using namespace support;
using allot::Delayed;
using allot::DrawDelay;
using allot::DrawDelayParameters;
using allot::Entropy;
using allot::FixedTerms;

constexpr auto longest = Duration{std::int64_t{1} << 40};
/// Rounds of 3 seconds: round 1 at 10 s, round 2 at 13 s.
constexpr auto rounds = DrawDelayParameters{.round_first_at = TimePoint{10s}, .round_period = 3s};

/// A moment with entropy of a round.
auto in(std::uint64_t round, Duration time, Entropy entropy = 2026) -> Moment {
    return {TimePoint{time}, entropy, round};
}

auto published(const DrawDelayParameters& parameters, const Moment& moment) -> std::optional<TimePoint> {
    return DrawDelay{parameters}.published_at(moment);
}

/// A network that draws in rounds, with so many plain nodes.
auto network(int nodes, const DrawDelayParameters& parameters = rounds) {
    auto d = allot::Dispatcher{
        Delayed{FixedTerms{{.after_failure = allot::Next::retry_elsewhere, .attempts_max = 3}}, DrawDelay{parameters}}};
    join_plain(d, nodes);
    return d;
}

}  // namespace

TEST_CASE("a round counts from its time on, until the next one is published") {
    CHECK(published(rounds, in(1, 10s)) == TimePoint{10s});
    CHECK(published(rounds, in(1, 12'999ms)) == TimePoint{10s});
    CHECK(!published(rounds, in(1, 13s)));  // not the newest any more
    CHECK(published(rounds, in(2, 13s)) == TimePoint{13s});
    CHECK(!published(rounds, in(2, 12'999ms)));
    CHECK(!published(rounds, in(1, 9'999ms)));
    CHECK(!published(rounds, in(0, 99s)));
    CHECK(!published(rounds, at(99s)));  // names no round
    CHECK(!published(rounds, in(~std::uint64_t{0}, 99s)));
    const auto fast = DrawDelayParameters{.round_period = 1ms};
    const auto last = static_cast<std::uint64_t>(allot::time_point_max.time_since_epoch().count());
    CHECK(published(fast, in(last + 1, Duration{std::int64_t{1} << 48})) == allot::time_point_max);
    CHECK(!published(fast, in(last + 2, Duration{std::int64_t{1} << 48})));
    // Without a schedule it is as old as its moment.
    CHECK(published({.draw_delay = 1ms}, at(99s)) == TimePoint{99s});
    CHECK(published({}, in(7, 99s)) == TimePoint{99s});
}

TEST_CASE("rounds without sense are not valid") {
    CHECK(DrawDelayParameters{}.valid());
    CHECK(DrawDelayParameters{.round_first_at = allot::time_point_max, .round_period = longest, .draw_delay = longest}
              .valid());
    CHECK_FALSE(DrawDelayParameters{.round_first_at = TimePoint{-1ms}}.valid());
    CHECK_FALSE(DrawDelayParameters{.round_first_at = allot::time_point_max + 1ms}.valid());
    CHECK_FALSE(DrawDelayParameters{.round_period = -1ms}.valid());
    CHECK_FALSE(DrawDelayParameters{.round_period = longest + 1ms}.valid());
    CHECK_FALSE(DrawDelayParameters{.draw_delay = -1ms}.valid());
    CHECK_FALSE(DrawDelayParameters{.draw_delay = longest + 1ms}.valid());
    CHECK_THROWS_AS(DrawDelay{{.draw_delay = -1ms}}, std::invalid_argument);
    auto delay = DrawDelay{};
    CHECK_THROWS_AS(delay.configure({.round_period = -1ms}), std::invalid_argument);
    CHECK_FALSE(delay.is_on());
    delay.configure({.draw_delay = 1ms});
    CHECK(delay.is_on());
    CHECK(DrawDelay{rounds}.is_on());
}

TEST_CASE("a delay goes back from the publication of the round") {
    auto later = rounds;
    later.draw_delay = 2s;
    const auto terms = Delayed{FixedTerms{}, DrawDelay{later}};
    CHECK(terms.drawn_until(in(4, 20s)) == TimePoint{17s});
    CHECK(!terms.drawn_until(in(5, 20s)));
    CHECK(!terms.drawn_until(in(3, 20s)));
    CHECK(Delayed{FixedTerms{}, DrawDelay{rounds}}.drawn_until(in(4, 20s)) == TimePoint{19s - 1ms});
    const auto long_ago = Delayed{FixedTerms{}, DrawDelay{{.draw_delay = longest}}};
    CHECK(long_ago.drawn_until(at(1s)) == TimePoint{1s - longest});  // draws nothing, and overflows nothing
}

TEST_CASE("the terms inside keep their word") {
    using Inside = allot::Priced<allot::ByEvidence<FixedTerms>>;
    static_assert(allot::has_fee_min<Delayed<Inside>> && allot::has_forfeit<Delayed<Inside>>);
    static_assert(allot::has_evidence<Delayed<Inside>> && allot::has_rounds<Delayed<Inside>>);
    static_assert(allot::has_blames<Delayed<FixedTerms>> == allot::has_blames<FixedTerms>);
    static_assert(!allot::has_fee_min<Delayed<FixedTerms>> && !allot::has_rounds<Inside>);
    const auto inside = Inside{{}, allot::Price{{.fee_per_second_min = 5}}};
    const auto outside = Delayed{inside};
    auto task = allot::Task{};
    task.fee = 100;
    task.duration_estimate = 5min;
    const auto node = allot::Node{};
    CHECK(outside.length(node, task) == inside.length(node, task));
    CHECK(outside.length_max(node, task) == inside.length_max(node, task));
    CHECK(outside.patience(task) == inside.patience(task));
    CHECK(outside.after(task, allot::OutcomeKind::timeout) == inside.after(task, allot::OutcomeKind::timeout));
    CHECK(outside.waits_for_evidence(allot::OutcomeKind::timeout) ==
          inside.waits_for_evidence(allot::OutcomeKind::timeout));
    CHECK(outside.fee_min(1min) == allot::Amount{300});
    CHECK(outside.forfeit(task, allot::Ending::cancelled, Duration{0}, {}) == allot::Amount{5});
    CHECK(Delayed{FixedTerms{}}.blames(task, allot::OutcomeKind::timeout) ==
          FixedTerms{}.blames(task, allot::OutcomeKind::timeout));
}

TEST_CASE("in rounds a task waits for entropy that comes after it, whatever entropy its commands bring") {
    auto d = network(3);
    CHECK(count<event::TaskStarted>(d.submit(plain_task(1), in(1, 12s))) == 0);
    CHECK(refusal(d.match(dark(12s))) == Error::entropy_missing);
    for (const auto& moment : {at(12s), in(0, 12s), in(2, 12s), in(~std::uint64_t{0}, 12s)}) {
        const auto before = d;
        CHECK(refusal(d.match(moment)) == Error::round_unpublished);
        CHECK(d == before);
    }
    CHECK(d.match(in(1, 12s)).get<event::Matched>()->started == 0);   // known when the task came
    CHECK(refusal(d.match(in(1, 15s))) == Error::round_unpublished);  // late, and known all the same
    CHECK(started(d.match(in(2, 15s))) == std::vector<std::string>{"1"});
}

TEST_CASE("in rounds a task of the millisecond in which the round is published waits for the next one") {
    auto d = network(3);
    ok(d.submit(plain_task(1), in(2, 13s)));
    CHECK(d.match(in(2, 13s)).get<event::Matched>()->started == 0);
    CHECK(d.match(in(2, 15s)).get<event::Matched>()->started == 0);
    CHECK(d.match(in(3, 16s)).get<event::Matched>()->started == 1);
}

TEST_CASE("in rounds a party that may match late has one draw for each round, and no choice among them") {
    auto d = network(8);
    ok(d.submit(plain_task(1), in(1, 12s)));
    auto accepted = 0;
    for (auto round = std::uint64_t{0}; round < 100; ++round) {
        auto twin = d;
        accepted += twin.match(in(round, 100s, Entropy{round})).accepted() ? 1 : 0;
    }
    CHECK(accepted == 1);
}

TEST_CASE("in rounds a node that becomes free pulls nothing: the task of its owner would have no draw") {
    auto d = network(2);
    ok(d.submit(plain_task(1), in(1, 12s)));
    const auto first = leased(d.match(in(2, 13s)));
    ok(d.submit(plain_task(2), in(2, 14s)));
    CHECK(count<event::TaskStarted>(d.complete(first, in(2, 14s))) == 0);
    CHECK(count<event::TaskStarted>(d.pause(plain_node(1).id, in(2, 14s))) == 0);
    CHECK(count<event::TaskStarted>(d.resume(plain_node(1).id, in(2, 14s))) == 0);
    auto places = std::set<std::string>{};
    for (auto entropy = 1; entropy <= 64; ++entropy) {
        auto twin = d;
        places.insert(where(twin.match(in(3, 16s, entropy))));
    }
    CHECK(places == std::set<std::string>{"1", "2"});
}

TEST_CASE("in rounds a task that starts over waits for a round") {
    auto d = network(3);
    ok(d.submit(plain_task(1), in(1, 12s)));
    const auto lease = leased(d.match(in(2, 13s)));
    auto declined = d;
    ok(declined.decline(lease, in(2, 14s)));
    CHECK(declined.match(in(2, 14s)).get<event::Matched>()->started == 0);  // known when the task started over
    ok(declined.postpone(10min, dark(620s)));  // an outage: the wait seems to have begun later
    CHECK(declined.match(in(204, 620s)).get<event::Matched>()->started == 1);
    const auto failed = d.fail(lease, allot::FailCause::execution_error, in(2, 14s));
    CHECK(count<event::TaskRetried>(failed) == 1);
    CHECK(count<event::TaskStarted>(failed) == 0);
    const auto again = leased(d.match(in(3, 16s)));
    CHECK(again.node != lease.node);
    CHECK(count<event::TaskStarted>(d.decline(again, in(3, 17s))) == 0);
    CHECK(count<event::TaskStarted>(d.match(in(4, 19s))) == 1);
}

TEST_CASE("in rounds each member of a group is drawn by a later round than the one before it") {
    auto d = network(5);
    for (auto id = 1; id <= 3; ++id) {
        ok(d.submit(with(plain_task(id), [](auto& t) { t.group = allot::GroupId{7}; }), in(1, 12s)));
    }
    ok(d.submit(plain_task(4), in(1, 12s)));  // of no group, so it need not wait for them
    CHECK(started(d.match(in(2, 13s))) == std::vector<std::string>{"1", "4"});
    CHECK(started(d.match(in(2, 15s))).empty());  // the round is known since the first member started
    auto delayed = d;
    CHECK(started(d.match(in(3, 16s))) == std::vector<std::string>{"2"});
    CHECK(started(d.match(in(4, 19s))) == std::vector<std::string>{"3"});
    // A node that declines is no member, so it keeps none waiting.
    ok(delayed.decline(*delayed.lease(1), in(2, 15s)));
    CHECK(started(delayed.match(in(3, 16s))) == std::vector<std::string>{"1"});
}

TEST_CASE("in rounds members of a group are drawn one by one also where a match goes on elsewhere") {
    auto d = allot::Dispatcher{allot::ValueQueue{{.capacity_min = 5'000}}, Delayed{FixedTerms{}, DrawDelay{rounds}}};
    join_plain(d, 5);
    for (auto id = 1; id <= 3; ++id) {
        ok(d.submit(with(paying(id, 1), [](auto& t) { t.group = allot::GroupId{7}; }), in(1, 12s)));
    }
    for (auto id = 4; id < 1'104; ++id) {
        ok(d.submit(paying(id, 1'000), in(2, 14s)));
    }  // more than a match passes over
    CHECK(started(d.match(in(2, 15s))) == std::vector<std::string>{"1"});
}

TEST_CASE("in rounds a gang in a group keeps its other members waiting as long as one of its nodes runs") {
    auto d = network(6);
    const auto grouped = [](auto& t) { t.group = allot::GroupId{7}; };
    ok(d.submit(with(plain_task(1), [&](auto& t) { grouped(t), t.gang_size = 3; }), in(1, 12s)));
    ok(d.submit(with(plain_task(2), grouped), in(1, 12s)));
    CHECK(started(d.match(in(2, 13s))) == std::vector<std::string>{"1", "1", "1"});
    ok(d.fail(*d.lease(1, 2), allot::FailCause::execution_error, in(2, 14s)));  // the member that started last
    CHECK(started(d.match(in(2, 15s))).empty());
    CHECK(started(d.match(in(3, 16s))) == std::vector<std::string>{"2"});
}

TEST_CASE("in rounds a pinned task starts at once: nothing is drawn") {
    auto d = network(1);
    auto task = with(plain_task(1), [](auto& t) {
        t.node = plain_node(1).id;
        t.owner.reset();
    });
    CHECK(where(d.submit(task, dark(1s))) == "1");
}

TEST_CASE("tasks that are too new keep no older one from its start, however many they are") {
    for (const auto flood : {10, 1'500}) {
        auto d =
            allot::Dispatcher{allot::ValueQueue{{.capacity_min = 5'000}}, Delayed{FixedTerms{}, DrawDelay{rounds}}};
        join_plain(d, 1);
        for (auto id = 8'950; id < 9'000; ++id) { ok(d.submit(paying(id, 1), in(1, 12s))); }
        ok(d.submit(paying(9'001, 900), in(1, 12s)));  // the best of those that are old enough
        ok(d.submit(paying(1, 1), in(1, 12s)));
        for (auto id = 2; id < 2 + flood; ++id) { ok(d.submit(paying(id, 1'000), in(2, 14s))); }
        auto late = d;
        CHECK(started(late.match(in(2, 15s))) == std::vector<std::string>{"9001"});
        CHECK(late.view().queue.size() == static_cast<std::size_t>(flood) + 51);
        CHECK(started(d.match(in(3, 16s))) == std::vector<std::string>{"2"});  // the best, once they are old enough
        CHECK(is_queued(d, 1));
    }
}

TEST_CASE("without a schedule entropy is as old as its moment: a block draws the tasks of earlier blocks") {
    auto d = network(3, {.draw_delay = 1ms});
    ok(d.submit(plain_task(1), at(5s)));
    CHECK(d.match(at(5s)).get<event::Matched>()->started == 0);
    CHECK(d.match(at(5'001ms)).get<event::Matched>()->started == 1);
}

TEST_CASE("an owner that tries ids gets its own node where the entropy is known, and its share in rounds") {
    constexpr auto nodes = 8;
    constexpr auto ids = 64;
    constexpr auto turns = 400;
    const auto own = plain_node(1).id.text();
    auto wins = [&](auto d, bool in_rounds) {
        join_plain(d, nodes);
        auto won = 0;
        for (auto turn = std::uint64_t{1}; turn <= turns; ++turn) {
            const auto now = 10s + turn * 3s;
            const auto known = in(turn + 1, now, Entropy{turn * 7'919});
            auto chosen = ids * turn;  // the id that would be drawn for the own node with the entropy that is known
            for (auto id = ids * turn; id < ids * turn + ids; ++id) {
                auto twin = d;
                auto foreseen = twin.submit(plain_task(id), known);
                if (in_rounds) { foreseen = twin.match(in(turn + 1, now + 1s, Entropy{turn * 7'919})); }
                if (where(foreseen) == own) {
                    chosen = id;
                    break;
                }
            }
            auto events = d.submit(plain_task(chosen), known);
            if (count<event::TaskStarted>(events) == 0) { events = d.match(in(turn + 2, now + 3s, Entropy{turn})); }
            won += where(events) == own ? 1 : 0;
            ok(d.complete(leased(events), dark(now + 3s)));
        }
        return won;
    };
    CHECK(wins(allot::Dispatcher{}, false) == turns);
    const auto won = wins(allot::Dispatcher{Delayed{FixedTerms{}, DrawDelay{rounds}}}, true);
    CHECK(won > 0);
    CHECK(won < turns / nodes + 30);  // four standard deviations above its share
}

}  // namespace draw_delay_test

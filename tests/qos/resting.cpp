#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/qos/resting.hpp>
#include <allot/weight/linear_weight.hpp>

#define ALLOT_MODEL allot::Resting<>
#include "conformance/qos.ipp"
#include "support/chaos.hpp"

// A node that chooses among its tasks rests, so that a choice does not pay.

namespace resting_test {
namespace {

using namespace support;
using allot::OutcomeKind;
using allot::Rest;
using allot::Resting;
using allot::RollingQos;
using allot::TimePoint;

/// A dispatcher of the default policies, but with rests: a minute after a decline of a task of a minute, half a minute
/// after a return.
auto network() {
    auto d = allot::Dispatcher{Resting{RollingQos{}, Rest{{.after_return = 30s}}}};
    join_plain(d, 1);
    return d;
}
auto minute(allot::TaskId id) -> TaskSpec {
    return with(plain_task(id), [](auto& t) { t.duration_estimate = 1min; });
}

}  // namespace

TEST_CASE("a rest is part of the declined lease, or a fixed time after a return") {
    const auto rest = Rest{};
    CHECK(rest.length(2min) == 1min);
    CHECK(rest.length(std::nullopt) == 1min);
    CHECK(Rest{{.after_decline = {3, 2}}}.length(2min) == 3min);
    CHECK(Rest{{.after_decline = 0, .after_return = 0s}}.length(2min) == 0s);
    CHECK(Rest{{.after_decline = {1'000, 1}}}.length(Duration{std::int64_t{1} << 62}).count() > 0);
    CHECK_FALSE(allot::RestParameters{.after_decline = {1, 0}}.valid());
    CHECK_FALSE(allot::RestParameters{.after_decline = {1'001, 1}}.valid());
    CHECK_FALSE(allot::RestParameters{.after_decline = {1, 1'001}}.valid());
    CHECK_FALSE(allot::RestParameters{.after_return = -1ms}.valid());
    CHECK_FALSE(allot::RestParameters{.after_return = Duration{(std::int64_t{1} << 40) + 1}}.valid());
}

TEST_CASE("a rest raises no score, ends no exclusion, and none ends it early") {
    const auto qos = Resting<>{};
    auto data = Resting<>::node_data{};
    qos.joined(data, TimePoint{});
    const auto before = qos.score(data, TimePoint{1h});
    CHECK(qos.rest(data, 2min, TimePoint{1h}));
    CHECK(qos.back_at(data) == TimePoint{1h + 1min});
    CHECK(qos.score(data, TimePoint{1h}) == before);
    CHECK(qos.rest(data, 1min, TimePoint{1h}));  // the longer one goes on
    CHECK(qos.back_at(data) == TimePoint{1h + 1min});
    qos.joined(data, TimePoint{1h + 1s});
    CHECK(qos.back_at(data) == TimePoint{1h + 1min});

    // Two timeouts exclude it for longer than it rests; a poor health that excludes nobody makes no rest longer.
    (void)qos.record(data, {OutcomeKind::timeout}, TimePoint{1h});
    (void)qos.record(data, {OutcomeKind::timeout}, TimePoint{1h});
    CHECK(qos.back_at(data) == TimePoint{1h + 1min});
    CHECK(qos.record(data, {OutcomeKind::timeout}, TimePoint{1h}) == allot::Standing::excluded);
    const auto excluded_until = qos.back_at(data);
    REQUIRE(excluded_until);
    CHECK(*excluded_until == qos.service().back_at(data.service));
    CHECK(*excluded_until > TimePoint{1h + 10min});
    CHECK(qos.rest(data, std::nullopt, TimePoint{1h}));
    CHECK(qos.back_at(data) == excluded_until);
    CHECK(qos.rest(data, std::nullopt, *excluded_until));  // the exclusion is over, this is a rest
    CHECK(qos.back_at(data) == *excluded_until + 1min);
    CHECK_FALSE(Resting{RollingQos{}, Rest{{.after_return = 0s}}}.rest(data, std::nullopt, *excluded_until + 1min));
}

TEST_CASE("a node that declines is no candidate for as long as the task would have taken") {
    auto d = network();
    const auto events = d.decline(leased(d.submit(minute(1), at(0s))), at(10s));
    const auto* rests = events.get<event::NodeExcluded>();
    REQUIRE(rests != nullptr);
    CHECK(rests->until == TimePoint{70s});
    ok(d.submit(minute(2), at(11s)));

    // Neither a return nor another verdict shortens it.
    auto away = d;
    ok(away.leave(1, at(20s)));
    CHECK(started(away.join(plain_node(1), at(21s))).empty());
    ok(away.observe(1, OutcomeKind::success, at(22s)));
    CHECK(started(away.advance(at(70s - 1ms))).empty());
    CHECK(away.advance(at(70s)).get<event::NodeReadmitted>() != nullptr);

    CHECK(started(d.advance(at(70s - 1ms))).empty());
    const auto back = d.advance(at(70s));
    CHECK(back.get<event::NodeReadmitted>() != nullptr);
    CHECK(started(back) == std::vector<std::string>{"2"});
}

TEST_CASE("a declared millisecond makes no rest short") {
    auto d = network();
    const auto task = with(plain_task(1), [](auto& t) { t.duration_estimate = 1ms; });
    const auto events = d.decline(leased(d.submit(task, at(0s))), at(0s));
    CHECK(events.get<event::NodeExcluded>()->until == TimePoint{30s});  // half of the shortest lease
}

TEST_CASE("whatever brings a node back to the candidates is a rest") {
    const auto waits = [](auto& d, const auto& comes_back) {
        ok(d.pause(1, dark(0s)));
        ok(d.submit(minute("dear"), dark(1s)));
        return comes_back(d);
    };
    auto d = network();
    CHECK(started(waits(d, [](auto& n) { return n.resume(1, at(2s)); })).empty());
    CHECK(started(d.advance(at(32s - 1ms))).empty());
    CHECK(started(d.advance(at(32s))) == std::vector<std::string>{"dear"});

    auto again = network();
    ok(again.leave(1, dark(0s)));
    ok(again.submit(minute("dear"), dark(0s)));
    CHECK(started(again.join(plain_node(1), at(1s))).empty());
    CHECK(started(again.advance(at(31s))) == std::vector<std::string>{"dear"});

    auto shrunk = network();  // it says that it is too small, until a dear task waits
    ok(shrunk.update({.id = 1, .vram = allot::Gibibytes{1}}, dark(0s)));
    ok(shrunk.submit(minute("dear"), dark(40s)));
    CHECK(started(shrunk.update({.id = 1, .vram = allot::Gibibytes{24}}, at(41s))).empty());
    CHECK(started(shrunk.advance(at(71s))) == std::vector<std::string>{"dear"});

    auto poor = network();
    ok(poor.update({.id = 1, .stake = 0}, dark(0s)));
    ok(poor.submit(minute("dear"), dark(40s)));
    CHECK(started(poor.update({.id = 1, .stake = 100}, at(41s))).empty());
    CHECK(started(poor.advance(at(71s))) == std::vector<std::string>{"dear"});

    auto worked = network();  // it says what the dear task asks for while it works
    const auto cheap = leased(worked.submit(minute("cheap"), at(0s)));
    ok(worked.submit(with(minute("dear"), [](auto& t) { t.vram_min = 48_GiB; }), dark(0s)));
    ok(worked.update({.id = 1, .vram = 48_GiB}, at(1s)));
    CHECK(started(worked.complete(cheap, at(2s))).empty());
    CHECK(started(worked.advance(at(31s))) == std::vector<std::string>{"dear"});

    // A wish that is taken back while the node works is no return, and a new node has nothing to rest from.
    auto busy = network();
    const auto lease = leased(busy.submit(minute(1), at(0s)));
    ok(busy.pause(1, at(0s)));
    ok(busy.resume(1, at(0s)));
    ok(busy.submit(minute(2), at(0s)));
    CHECK(started(busy.complete(lease, at(1s))) == std::vector<std::string>{"2"});
    CHECK(started(d.join(plain_node(7), at(33s))).empty());
    ok(d.submit(minute(3), at(33s)));
    CHECK(d.task(3)->state == allot::TaskState::running);
}

TEST_CASE("a tracker without rests lets a node choose") {
    auto d = allot::Dispatcher{RollingQos{}};
    join_plain(d, 1);
    CHECK(d.decline(leased(d.submit(minute(1), at(0s))), at(0s)).get<event::NodeExcluded>() == nullptr);
    ok(d.submit(minute(2), at(0s)));
    CHECK(d.task(2)->state == allot::TaskState::running);
}

TEST_CASE("data that no rest can have written are refused") {
    auto data = Resting<>::node_data{};
    CHECK(data.valid());
    data.rests_until = TimePoint{-1ms};
    CHECK_FALSE(data.valid());
    data.rests_until = allot::time_point_max + 1ms;
    CHECK_FALSE(data.valid());
    data.rests_until = allot::time_point_max;
    CHECK(data.valid());
    data.counts_at = TimePoint{-1ms};
    CHECK_FALSE(data.valid());
    data.counts_at = allot::time_point_max;
    CHECK(data.valid());
    data.part = allot::Score::zero();
    CHECK_FALSE(data.valid());
    data.part = allot::Score::one();
    data.service.next = 50;
    CHECK_FALSE(data.valid());
}

TEST_CASE("stake that is added counts after an hour, and stake that is taken away counts no more at once") {
    const auto tracker = Resting<>{};
    auto data = Resting<>::node_data{};
    tracker.joined(data, TimePoint{});
    const auto full = tracker.score(data, TimePoint{}).raw();
    const auto score = [&](Duration time) { return tracker.score(data, TimePoint{time}).raw(); };
    tracker.restaked(data, 100, 200, TimePoint{});
    CHECK(score(0s) == full / 2);
    CHECK(score(1h - 1ms) == full / 2);
    CHECK(score(1h) == full);

    // Moved away and back, it counts even less, and for an hour from then on.
    tracker.restaked(data, 200, 100, TimePoint{10min});
    CHECK(score(10min) == full / 2);
    tracker.restaked(data, 100, 400, TimePoint{20min});
    CHECK(score(20min) == full / 8);
    CHECK(score(80min - 1ms) == full / 8);
    CHECK(score(80min) == full);

    // In small steps it is the same, but for the roundings.
    auto stake = std::uint64_t{1'000};
    for (; stake < 2'000; stake += 100) { tracker.restaked(data, stake, stake + 100, TimePoint{2h}); }
    CHECK(score(2h) <= full / 2);
    CHECK(score(2h) >= full / 2 - 20);

    // A node without stake before keeps a score, and the largest stakes fit.
    tracker.restaked(data, 0, allot::u128{1} << 95, TimePoint{3h});
    CHECK(score(3h) == 1);
    tracker.restaked(data, allot::u128{1} << 94, allot::u128{1} << 95, TimePoint{4h});
    CHECK(score(4h) == full / 2);
    tracker.restaked(data, 1, 2, allot::time_point_max - 1ms);
    CHECK(data.valid());
    CHECK_FALSE(allot::RestParameters{.after_raise = -1ms}.valid());
    CHECK_FALSE(allot::RestParameters{.after_raise = Duration{(std::int64_t{1} << 40) + 1}}.valid());

    CHECK_FALSE(allot::RestParameters{.unbond_after = 1h - 1ms}.valid());  // a stake could move between nodes that left
    CHECK_FALSE(allot::RestParameters{.score_cap = allot::Score::zero()}.valid());

    auto at_once = Resting<>::node_data{};
    Resting{RollingQos{}, Rest{{.after_raise = 0s}}}.restaked(at_once, 1, 2, TimePoint{});
    CHECK(at_once == Resting<>::node_data{});
}

TEST_CASE("a stake that moves to the node that is free next weighs nothing there, also by leaving and coming back") {
    const auto weight = [](const auto& d, const char* node) {
        const auto drawn = allot::probabilities(d, plain_task("question")).value();
        const auto found = std::find_if(drawn.nodes.begin(), drawn.nodes.end(),
                                        [&](const allot::Share& one) { return one.node == allot::NodeId{node}; });
        return found == drawn.nodes.end() ? allot::u128{0} : found->weight;
    };
    const auto staked = [](const char* id, std::uint64_t stake) {
        return with(plain_node(allot::NodeId{id}), [&](auto& n) { n.stake = stake; });
    };
    auto d =
        allot::Dispatcher{Resting{RollingQos{}, Rest{{.after_return = 0s}}}, allot::LinearWeight{{.stake_cap = 1'000}}};
    ok(d.join(staked("a", 800), at(0s)));
    ok(d.join(staked("b", 8), at(0s)));
    const auto of_b = weight(d, "b");
    ok(d.update({.id = "a", .stake = 8}, at(0s)));
    ok(d.update({.id = "b", .stake = 800}, at(0s)));
    CHECK(weight(d, "b") <= of_b);
    CHECK(weight(d, "b") > of_b / 2U);
    CHECK(weight(d, "a") == of_b);
    ok(d.advance(at(1h)));
    CHECK(weight(d, "b") > of_b * allot::u128{50});

    ok(d.leave("a", at(1h)));
    ok(d.join(staked("a", 800), at(1h)));
    CHECK(weight(d, "a") <= of_b);
    ok(d.leave("a", at(1h)));
    ok(d.join(staked("a", 800), at(1h)));  // the same stake once more ends nothing
    CHECK(weight(d, "a") <= of_b);
    ok(d.advance(at(2h)));
    CHECK(weight(d, "a") == weight(d, "b"));
}

TEST_CASE("a snapshot keeps rests, and every changed bit of one is refused") {
    auto d = network();
    ok(d.decline(leased(d.submit(minute(1), at(0s))), at(10s)));
    const auto bytes = allot::snapshot(d, 1);
    const auto read = [](const auto& from) {
        return allot::load_snapshot(from, allot::Dispatcher{Resting{RollingQos{}, Rest{{.after_return = 30s}}}});
    };
    const auto loaded = read(bytes);
    REQUIRE(loaded);
    CHECK(loaded->dispatcher == d);
    CHECK(loaded->dispatcher.qos().back_at(loaded->dispatcher.node(1)->qos) == TimePoint{70s});
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto changed = bytes;
        changed[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
        REQUIRE_FALSE(read(changed));
    }
    CHECK_FALSE(allot::load_snapshot(bytes, allot::Dispatcher{Resting{}}));  // other parameters
}

TEST_CASE("a node with another card is on probation again, also if it left in between") {
    const auto tracker = Resting{RollingQos{{.proven_from = 3}}};
    auto node_class = allot::NodeClass{"RTX 4090", 24_GiB, "Linux", {}};
    for (const auto leaves : {false, true}) {
        auto data = Resting<RollingQos>::node_data{};
        tracker.joined(data, TimePoint{});
        tracker.runs_as(data, node_class);
        const auto proves = [&] {
            for (auto i = 0; i < 3; ++i) {
                (void)tracker.record(data, {allot::OutcomeKind::scored, tracker.points_max()}, TimePoint{1s});
            }
            return tracker.proven(data);
        };
        const auto change = [&](const allot::NodeClass& is) {
            if (leaves) { tracker.joined(data, TimePoint{1h}); }
            tracker.runs_as(data, is);
        };
        CHECK(proves());
        change(node_class);
        CHECK(tracker.proven(data));
        auto other_software = node_class;
        other_software.platform = "Windows";
        other_software.software = {9, 9, 9};
        change(other_software);
        CHECK(tracker.proven(data));
        auto larger = node_class;
        larger.vram = 48_GiB;
        change(larger);
        CHECK_FALSE(tracker.proven(data));
        CHECK(proves());
        auto other = larger;
        other.gpu = "H100";
        change(other);
        CHECK_FALSE(tracker.proven(data));
    }
    // Without probation the data stay what they are.
    const auto plain = Resting{RollingQos{}};
    auto data = Resting<RollingQos>::node_data{};
    plain.runs_as(data, node_class);
    (void)plain.record(data, {allot::OutcomeKind::scored, plain.points_max()}, TimePoint{1s});
    const auto before = data.service;
    node_class.gpu = "H100";
    plain.runs_as(data, node_class);
    CHECK(data.service == before);
    CHECK(plain.proven(data));
}

TEST_CASE("a dispatcher tells the card at each join and update: no node proves a cheap card and runs as a dear one") {
    auto d = allot::Dispatcher{Resting{RollingQos{{.proven_from = 2}}, Rest{{.after_return = 0s}}}};
    ok(d.join(plain_node(1), at(0s)));
    const auto is_proven = [&] { return d.qos().proven(d.node(1)->qos); };
    const auto prove = [&] {
        ok(d.score(1, d.qos().points_max(), at(0s)));
        ok(d.score(1, d.qos().points_max(), at(0s)));
    };
    prove();
    CHECK(is_proven());
    ok(d.update({.id = 1, .software = allot::SoftwareVersion{2, 0, 0}}, at(0s)));
    CHECK(is_proven());
    ok(d.update({.id = 1, .vram = 80_GiB}, at(0s)));
    CHECK_FALSE(is_proven());
    prove();
    CHECK(is_proven());
    ok(d.leave(1, at(0s)));
    ok(d.join(with(plain_node(1), [](auto& n) { n.vram = 80_GiB; }), at(1s)));
    CHECK(is_proven());
    ok(d.leave(1, at(1s)));
    ok(d.join(with(plain_node(1), [](auto& n) { n.gpu = "H100"; }), at(2s)));
    CHECK_FALSE(is_proven());
}

}  // namespace resting_test

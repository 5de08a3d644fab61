#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include <allot/journal/encode.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/preset/hardened.hpp>
#include <allot/qos/resting.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// Stake that was taken away can be forfeited for a while, and what is returned, forfeited and unbonding is what was
// staked.

namespace unbonding_test {
namespace {

using namespace support;
using allot::Amount;
using allot::Rest;
using allot::Resting;
using allot::RollingQos;

/// A network whose stake unbonds in an hour. It forgets nodes that left at once.
auto network(Duration unbond_after = 1h) {
    return allot::Dispatcher{allot::Rules{{.forget_nodes_after = 0s}},
                             Resting{RollingQos{}, Rest{{.after_raise = 0s, .unbond_after = unbond_after}}}};
}

auto staked(allot::NodeId id, Amount stake) -> NodeSpec {
    return with(plain_node(id), [&](auto& n) { n.stake = stake; });
}

/// The stake that is returned at once by these events.
auto returned(const Events& events) -> Amount {
    auto sum = allot::u128{0};
    events.each([&](const event::NodeLeft& e) { sum += e.stake_returned.units; },
                [&](const event::NodeKickedOut& e) { sum += e.stake_returned.units; },
                [&](const event::NodeDisplaced& e) { sum += e.stake_returned.units; });
    return sum;
}
auto unbonding(const Events& events) -> Amount {
    const auto* began = events.get<event::UnbondingBegan>();
    return began == nullptr ? Amount{} : began->stake_unbonding;
}
auto forfeited(const Events& events) -> std::optional<Amount> {
    const auto* slashed = events.get<event::NodeSlashed>();
    return slashed == nullptr ? std::nullopt : std::optional{slashed->stake_forfeited};
}

}  // namespace

TEST_CASE("a node that leaves after a wrong result loses its stake all the same, until that is returned") {
    for (const auto& [slashed_at, lost] : {std::pair{at(59min), true}, std::pair{at(1h), false}}) {
        auto d = network();
        ok(d.join(staked(1, 400), at(0s)));
        const auto left = d.leave(1, at(0s));
        CHECK(returned(left) == Amount{0});
        REQUIRE(left.get<event::UnbondingBegan>() != nullptr);
        CHECK(unbonding(left) == Amount{400});
        CHECK(left.get<event::UnbondingBegan>()->until == TimePoint{1h});
        const auto events = d.slash(1, slashed_at);
        CHECK(forfeited(events) == (lost ? std::optional{Amount{400}} : std::nullopt));
        if (!lost) { CHECK(refusal(events) == Error::node_unknown); }
        CHECK(refusal(d.slash(1, slashed_at)) == Error::node_unknown);  // once
    }
}

TEST_CASE("without a time, stake is returned at once and no event is added") {
    auto d = network(0s);
    ok(d.join(staked(1, 400), at(0s)));
    ok(d.update({.id = 1, .stake = 100}, at(0s)));
    const auto left = d.leave(1, at(0s));
    CHECK(returned(left) == Amount{100});
    CHECK(unbonding(left) == Amount{0});
    CHECK(refusal(d.slash(1, at(0s))) == Error::node_unknown);
}

TEST_CASE("stake that is taken away by an update unbonds, and further stake begins the time anew for all of it") {
    auto d = network();
    ok(d.join(staked(1, 400), at(0s)));
    CHECK(unbonding(d.update({.id = 1, .stake = 500}, at(0s))) == Amount{0});
    CHECK(unbonding(d.update({.id = 1, .stake = 300}, at(0s))) == Amount{200});
    const auto more = d.update({.id = 1, .stake = 250}, at(30min));
    CHECK(unbonding(more) == Amount{50});
    CHECK(more.get<event::UnbondingBegan>()->until == TimePoint{90min});
    auto twin = d;
    CHECK(forfeited(twin.slash(1, at(1h))) == Amount{500});  // 250 that it has, and 250 that it took away
    CHECK(unbonding(d.leave(1, at(2h))) == Amount{250});     // the others were returned before
}

TEST_CASE("a node that comes back does so with other stake, and loses both") {
    auto d = network();
    ok(d.join(staked(1, 400), at(0s)));
    ok(d.leave(1, at(0s)));
    ok(d.join(staked(1, 30), at(10min)));
    CHECK(forfeited(d.slash(1, at(59min))) == Amount{430});
}

TEST_CASE("no stake begins to unbond where there is none") {
    auto d = network();
    ok(d.join(staked(1, 0), at(0s)));
    const auto left = d.leave(1, at(0s));
    CHECK(count<event::NodeLeft>(left) == 1);
    CHECK(count<event::UnbondingBegan>(left) == 0);
    CHECK(refusal(d.slash(1, at(0s))) == Error::node_unknown);
}

TEST_CASE("a busy node unbonds when it leaves, and its stake weighs nothing from then on") {
    auto d = network();
    ok(d.join(staked(1, 400), at(0s)));
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(unbonding(d.leave(1, at(1s))) == Amount{0});
    CHECK(unbonding(d.complete(lease, at(2s))) == Amount{400});
    CHECK(d.state().stake_root_max().is_zero());
    CHECK(count<event::TaskStarted>(d.submit(plain_task(2), at(3s))) == 0);
}

TEST_CASE("a record that unbonds is kept in a snapshot, and one of too much or of no time is refused") {
    auto d = network();
    ok(d.join(staked(1, 400), at(0s)));
    ok(d.leave(1, at(0s)));
    const auto bytes = allot::snapshot(d, 0);
    auto loaded = allot::load_snapshot(bytes, network());
    REQUIRE(loaded);
    CHECK(forfeited(loaded->dispatcher.slash(1, at(1min))) == Amount{400});
    using Data = Resting<RollingQos>::node_data;
    auto data = Data{};
    CHECK(data.valid());
    data.unbonding = {Amount{(allot::u128{1} << 96) - allot::u128{1}}, allot::time_point_max};
    CHECK(data.valid());
    data.unbonding.stake = allot::u128{1} << 96;
    CHECK_FALSE(data.valid());
    data.unbonding = {1, TimePoint{-1ms}};
    CHECK_FALSE(data.valid());
}

TEST_CASE("in a full table no record makes way before its stake is returned, unless the other has more") {
    for (const auto stake : {399, 401}) {
        auto d = allot::Dispatcher{allot::Rules{{.nodes_max = 2}},
                                   Resting{RollingQos{}, Rest{{.after_return = 0s, .unbond_after = 1h}}}};
        ok(d.join(staked(1, 400), at(0s)));
        ok(d.join(staked(2, 1'000), at(0s)));
        auto present = d;
        ok(present.update({.id = 1, .stake = 100}, at(1s)));  // 100 that it has, and 300 that unbond
        ok(d.update({.id = 1, .stake = 0}, at(1s)));
        ok(d.leave(1, at(1s)));
        for (auto* network : {&d, &present}) {
            auto later = *network;
            const auto events = network->join(staked(3, static_cast<std::uint64_t>(stake)), at(2s));
            CHECK(refusal(events) == (stake > 400 ? std::nullopt : std::optional{Error::too_many_nodes}));
            CHECK(network->slash(1, at(3s)).accepted() == (stake <= 400));
            if (network == &d) { CHECK(later.join(staked(3, 1), at(2h)).accepted()); }
        }
    }
    // One that keeps much stake does not hide another that keeps none.
    auto d = allot::Dispatcher{allot::Rules{{.nodes_max = 2}}, Resting{RollingQos{}, Rest{{.unbond_after = 1h}}}};
    ok(d.join(staked(1, 900), at(0s)));
    ok(d.join(staked(2, 50), at(0s)));
    ok(d.update({.id = 1, .stake = 0}, at(1s)));
    ok(d.leave(1, at(1s)));
    CHECK(d.join(staked(3, 60), at(2s)).accepted());
    CHECK(d.node(2) == nullptr);
    CHECK(forfeited(d.slash(1, at(3s))) == Amount{900});
}

TEST_CASE("stake that unbonds is never returned earlier by what comes after") {
    auto d = network(24h);
    ok(d.join(staked(1, 400), at(0s)));
    ok(d.update({.id = 1, .stake = 1}, at(0s)));
    ok(d.configure(allot::RestParameters{.after_raise = 0s, .unbond_after = 1min}, 2, at(1s)));
    CHECK(d.update({.id = 1, .stake = 0}, at(2s)).get<event::UnbondingBegan>()->until == TimePoint{24h});
    CHECK(forfeited(d.slash(1, at(23h))) == Amount{400});
}

TEST_CASE("stake that goes round and round never exceeds what an amount may be") {
    const auto tracker = Resting{RollingQos{}};
    auto data = Resting<RollingQos>::node_data{};
    const auto most = Amount{(allot::u128{1} << 96) - allot::u128{1}};
    CHECK(tracker.unbond(data, most, TimePoint{0s}));
    CHECK(tracker.unbond(data, most, TimePoint{1s}));
    CHECK(tracker.unbonding(data).stake == most);
    CHECK(tracker.unbond(data, 1, allot::time_point_max));
    CHECK(tracker.unbonding(data) == allot::Unbonding{1, allot::time_point_max});
}

TEST_CASE("liars that raise, lower, leave, come back and are slashed lose or get back what they staked") {
    auto random = allot::Random{seed(), allot::Purpose::job, {}};
    auto d =
        allot::Dispatcher{allot::Rules{{.forget_nodes_after = 1min, .nodes_max = 6}},
                          Resting{RollingQos{}, Rest{{.after_return = 0s, .after_raise = 0s, .unbond_after = 1min}}}};
    struct Account {
        Amount staked{};     // by the embedder's own book
        Amount unbonding{};  // taken away and not returned yet, all of it at the time of the last event
        TimePoint until{};
    };
    auto book = std::map<allot::NodeId, Account>{};
    auto time = Duration{0};
    auto in = allot::u128{0};   // staked by all
    auto out = allot::u128{0};  // returned, and forfeited
    auto slashes = 0;
    auto late = 0;
    auto whole = 0;
    const auto pay_out = [&] {
        for (auto& [id, account] : book) {
            if (account.until <= TimePoint{time}) { out += std::exchange(account.unbonding, {}).units; }
        }
    };
    for (auto i = 0; i < 20'000; ++i) {
        time += Duration{static_cast<std::int64_t>(random.below(8'000))};
        pay_out();
        const auto id = allot::NodeId{random.below(9) + 1};
        const auto stake = Amount{random.below(1'000)};
        const auto was_present = d.node(id) != nullptr && d.node(id)->node.present();
        auto events = Events{};
        switch (random.below(6)) {
            case 0:
            case 1: {
                events = d.join(staked(id, stake), at(time));
                if (events.accepted()) {
                    book[id].staked = stake;
                    in += stake.units;
                }
                break;
            }
            case 2: {
                events = d.update({.id = id, .stake = stake}, at(time));
                if (events.accepted()) {
                    const auto before = std::exchange(book[id].staked, stake);
                    if (stake > before) {
                        in += stake.units - before.units;
                    } else {
                        CHECK(count<event::UnbondingBegan>(events) == (stake < before ? 1U : 0U));
                    }
                }
                break;
            }
            case 3: events = d.leave(id, at(time)); break;
            case 4: {
                events = d.slash(id, at(time));
                if (events.accepted()) {
                    ++slashes;
                    late += was_present ? 0 : 1;
                    auto& account = book[id];
                    const auto all = (was_present ? account.staked.units : allot::u128{0}) + account.unbonding.units;
                    // The record of a node that left may have made way, so that older stake is not known any more.
                    const auto lost = forfeited(events)->units;
                    CHECK(lost <= all);
                    whole += lost == all ? 1 : 0;
                    out += lost;
                    account.unbonding = all - lost;
                    account.staked = {};
                }
                break;
            }
            default: events = d.advance(at(time)); break;
        }
        for (const auto& event : events) {
            const auto gone = [&](const allot::NodeId& node, Amount back) {
                auto& account = book[node];
                CHECK(back == Amount{0});
                if (account.staked > Amount{0} && &event + 1 != &*events.end()) {
                    CHECK(std::holds_alternative<event::UnbondingBegan>(*(&event + 1)));
                }
                account.staked = {};
            };
            if (const auto* left = std::get_if<event::NodeLeft>(&event)) { gone(left->node, left->stake_returned); }
            if (const auto* pushed = std::get_if<event::NodeDisplaced>(&event)) {
                gone(pushed->node, pushed->stake_returned);
            }
            if (const auto* began = std::get_if<event::UnbondingBegan>(&event)) {
                book[began->node].unbonding.units += began->stake_unbonding.units;
                book[began->node].until = began->until;
            }
        }
        auto held = allot::u128{0};
        for (const auto& [node, account] : book) { held += account.staked.units + account.unbonding.units; }
        REQUIRE(in == out + held);
    }
    CHECK(slashes > 100);
    CHECK(late > 10);
    CHECK(whole > slashes * 9 / 10);
}

}  // namespace unbonding_test

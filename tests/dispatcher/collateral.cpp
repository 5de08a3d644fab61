#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/core/sentence.hpp>
#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/collateral.hpp>
#include <allot/explain/task.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/preset/hardened.hpp>
#include <allot/qos/resting.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// A node takes a task only if its stake covers the fee, in draws, pulls and explanations alike; and that stake can be
// forfeited for a while after it was taken away.

namespace collateral_test {
namespace {

using namespace support;
using allot::AllOf;
using allot::Amount;
using allot::Collateral;
using allot::HardwareFit;
using allot::Resting;
using Tracker = Resting<allot::RollingQos>;
using Secured = allot::Dispatcher<AllOf<HardwareFit, Collateral>, Tracker>;

/// A dispatcher whose nodes need ten times the fee, and whose stake unbonds in a day.
auto tenfold(Amount stake_max = 1'000'000) -> Secured {
    return Secured{AllOf{HardwareFit{}, Collateral{{.stake_per_fee = 10, .stake_max = stake_max}}},
                   Tracker{allot::RollingQos{}, allot::Rest{{.after_decline = 0, .after_return = 0s}}}};
}
auto staked(allot::NodeId id, Amount stake) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) { n.stake = stake; });
}

/// `Collateral` without its `stake_min`. It counts how often it is asked.
class Silent {
public:
    using role = allot::role::eligibility;
    static constexpr bool admits_by_stake = true;
    static inline std::uint64_t asked = 0;

    auto fits(const allot::NodeClass& node_class, const allot::Requirement& requirement) const -> allot::Reason {
        return collateral_.fits(node_class, requirement);
    }
    auto admits(const allot::Node& node, const allot::Task& task, const allot::Situation& s) const -> allot::Reason {
        ++asked;
        return collateral_.admits(node, task, s);
    }

private:
    Collateral collateral_{{.stake_per_fee = 10, .stake_max = 1'000'000}};
};
/// The same with `stake_min`.
class Telling : public Silent {
public:
    static constexpr auto stake_min(Amount fee) -> Amount { return fee.units * allot::u128{10U}; }
};

/// The number of running tasks whose fee cannot be forfeited tenfold, and of all that run for a fee.
auto uncovered(const Secured& d) -> std::pair<int, int> {
    auto count = std::pair{0, 0};
    d.state().leases().for_each([&](allot::LeaseHandle, const allot::LeaseRecord& lease) {
        const auto& task = d.state().tasks()[lease.task];
        const auto& record = d.state().nodes()[lease.node];
        const auto at_stake = record.node.stake.units + d.view().unbonding(record).units;
        if (task.pinned() || task.fee == Amount{0}) { return; }
        count.first += at_stake < task.fee.units * allot::u128{10U} ? 1 : 0;
        ++count.second;
    });
    return count;
}

}  // namespace

TEST_CASE("a draw falls on nodes alone whose stake covers the fee") {
    auto d = tenfold();
    for (auto i = 1; i <= 20; ++i) { ok(d.join(staked(i, 99), at(0s))); }
    ok(d.join(staked(21, 100), at(0s)));
    CHECK(where(d.submit(paying(1, 10), at(0s))) == "21");
    CHECK(where(d.submit(paying(2, 10), at(0s))).empty());  // twenty nodes are free
    CHECK_FALSE(where(d.submit(paying(3, 9), at(0s))).empty());
}

TEST_CASE("a free node passes over dearer tasks that its stake does not cover") {
    auto d = tenfold();
    ok(d.submit(paying(1, 1'000), at(0s)));
    ok(d.submit(paying(2, 100), at(0s)));
    ok(d.submit(paying(3, 3), at(0s)));
    CHECK(started(d.join(staked(1, 30), at(0s))) == std::vector<std::string>{"3"});
    CHECK(started(d.join(staked(2, 1'000), at(0s))) == std::vector<std::string>{"2"});
}

TEST_CASE("a node that adds stake takes a task that waits for it") {
    auto d = tenfold();
    ok(d.join(staked(1, 99), at(0s)));
    ok(d.submit(paying(1, 10), at(0s)));
    CHECK(started(d.update({.id = 1, .stake = 98}, at(0s))).empty());
    CHECK(started(d.update({.id = 1, .stake = 100}, at(0s))) == std::vector<std::string>{"1"});
}

TEST_CASE("a fee that the stakes of most nodes do not cover is refused, but for a pinned task") {
    auto d = tenfold(1'000);
    ok(d.join(staked(1, 400), at(0s)));
    const auto before = d;
    CHECK(refusal(d.submit(paying(1, 101), at(0s))) == Error::fee_too_high);
    CHECK(d == before);
    ok(d.submit(paying(2, 100), at(0s)));
    CHECK(is_queued(d, 2));  // no node has 1,000 yet
    const auto pinned = with(paying(3, 101), [](TaskSpec& task) {
        task.node = allot::NodeId{1};
        task.owner.reset();
    });
    CHECK(where(d.submit(pinned, at(0s))) == "1");
}

TEST_CASE("each node of a gang needs stake for the whole fee, because one that completes alone earns it") {
    auto d = tenfold();
    ok(d.join(staked(1, 100), at(0s)));
    ok(d.join(staked(2, 99), at(0s)));
    const auto gang = [](int id) { return with(paying(id, 10), [](TaskSpec& task) { task.gang_size = 2; }); };
    CHECK(started(d.submit(gang(1), at(0s))).empty());
    CHECK(started(d.join(staked(3, 100), at(0s))).size() == 2);
}

TEST_CASE("stake that is taken away under a lease, or after it, is still lost for a wrong result") {
    auto d = tenfold();
    ok(d.join(staked(1, 100), at(0s)));
    const auto lease = leased(d.submit(paying(1, 10), at(0s)));
    ok(d.update({.id = 1, .stake = 0}, at(1s)));
    CHECK(uncovered(d) == std::pair{0, 1});
    ok(d.complete(lease, at(2s)));
    ok(d.leave(1, at(3s)));
    CHECK(d.slash(1, at(23h)).get<event::NodeSlashed>()->stake_forfeited == Amount{100});
    // The stake that unbonds covers no further task.
    ok(d.join(staked(2, 100), at(23h)));
    ok(d.update({.id = 2, .stake = 0}, at(23h)));
    CHECK(where(d.submit(paying(2, 1), at(23h))).empty());
}

TEST_CASE("an explanation says that the stake is too small") {
    auto d = tenfold();
    ok(d.join(staked(1, 100), dark(0s)));
    ok(d.submit(paying(1, 11), dark(0s)));
    CHECK(allot::why_not(d, allot::question(d, allot::TaskId{1}).value(), allot::NodeId{1}).value() ==
          allot::Reason::stake_too_small);
    const auto why = allot::explain(d, allot::TaskId{1}).value();
    CHECK(why.count(allot::Reason::stake_too_small) == 1);
    CHECK(why.candidates == 0);
    CHECK(std::string{message(allot::Reason::stake_too_small)} == "too little stake for the fee");
}

TEST_CASE("new parameters hold at once") {
    auto d = tenfold();
    ok(d.join(staked(1, 20), dark(0s)));
    ok(d.submit(paying(1, 100), dark(0s)));
    CHECK(started(d.match(at(0s))).empty());
    ok(d.configure(allot::CollateralParameters{.stake_per_fee = {1, 5}}, 2, dark(0s)));
    CHECK(started(d.match(at(0s))) == std::vector<std::string>{"1"});
}

TEST_CASE("whatever happens, the fee of each running task can be forfeited tenfold") {
    auto d = tenfold();
    auto chaos = Chaos<Secured>{seed(), true};
    auto covered = 0;
    for (auto i = 0; i < 6'000; ++i) {
        const auto moment = chaos.moment(d);
        (void)d.apply(chaos.command(d), moment);
        const auto [faults, running] = uncovered(d);
        REQUIRE(faults == 0);
        covered += running;
        if (i % 500 == 0) {
            const auto bytes = allot::snapshot(d, 0);
            const auto loaded = allot::load_snapshot(bytes, tenfold());
            REQUIRE(loaded);
            REQUIRE(loaded->dispatcher == d);
            REQUIRE(allot::snapshot(loaded->dispatcher, 0) == bytes);
        }
    }
    CHECK(covered > 100);
}

TEST_CASE("records move to a dispatcher with collateral and back") {
    auto plain = allot::Dispatcher<>{};
    for (auto i = 1; i <= 4; ++i) { ok(plain.join(staked(i, static_cast<std::uint64_t>(10 * i)), dark(0s))); }
    ok(plain.submit(paying(1, 4), dark(0s)));
    ok(plain.submit(paying(2, 3), dark(0s)));
    ok(plain.submit(paying(3, 5), dark(0s)));
    auto secured = Secured{std::move(plain), AllOf{HardwareFit{}, Collateral{{.stake_per_fee = 10}}}, Tracker{}};
    ok(secured.match(at(0s)));
    CHECK(secured.lease(1)->node == allot::NodeId{4});
    CHECK(secured.lease(2)->node == allot::NodeId{3});
    CHECK(is_queued(secured, 3));
    auto back = allot::Dispatcher<>{std::move(secured)};
    CHECK_FALSE(where(back.match(at(1s))).empty());
    CHECK(back.digest() != 0);
}

TEST_CASE("a flood of fees that no node covers fills the queue, unless fees end where most stakes do") {
    for (const auto typical : {Amount{1'000'000}, Amount{900'000}}) {
        auto d = allot::Dispatcher{
            allot::preset::Hardened{1'000'000, allot::ProbationParameters{}.fee_max, {}, 10, typical}};
        for (auto id = 1; id <= 10; ++id) { ok(d.join(staked(id, 900'000), at(0s))); }
        auto waiting = 0;
        for (auto id = 1; id <= 30; ++id) {
            waiting += refusal(d.submit(paying(id, 100'000), at(1s))) == Error::fee_too_high ? 0 : 1;
        }
        const auto honest =
            d.submit(with(paying(99, 1'000), [](auto& t) { t.owner = allot::OwnerId{"honest"}; }), at(2s));
        CHECK(waiting == (typical > Amount{900'000} ? 30 : 0));
        CHECK(where(honest).empty() == (typical > Amount{900'000}));
    }
}

TEST_CASE("a match asks once about tasks that no free node has the stake for") {
    const auto asked_by = [](auto policy) {
        auto d = allot::Dispatcher<AllOf<HardwareFit, decltype(policy)>>{AllOf{HardwareFit{}, policy}};
        for (std::uint64_t id = 1; id <= 50; ++id) { (void)d.join(staked(id, 90), dark(0s)); }
        for (std::uint64_t id = 1; id <= 50; ++id) {
            auto task = plain_task(id);
            task.fee = 10 + id;
            (void)d.submit(task, dark(0s));
        }
        Silent::asked = 0;
        CHECK(d.match(at(1s)).size() == 1);
        REQUIRE(d.queued() == 50);
        return Silent::asked;
    };
    CHECK(asked_by(Silent{}) >= 50 * 50);
    CHECK(asked_by(Telling{}) < 2 * 160);
}

TEST_CASE("with and without a least stake every match decides the same") {
    auto starts = 0;
    for (std::uint64_t round = 0; round < 40; ++round) {
        const auto play = [&](auto policy) {
            auto random = std::mt19937_64{seed() + round};
            auto d = allot::Dispatcher<AllOf<HardwareFit, decltype(policy)>>{AllOf{HardwareFit{}, policy}};
            const auto any = [&](std::uint64_t count) { return random() % count; };
            auto told = std::vector<std::string>{};
            auto leases = std::vector<allot::Lease>{};
            const auto hear = [&](const allot::Events& events) {
                for (const auto& event : events) {
                    told.push_back(sentence(event));
                    if (const auto* start = std::get_if<event::TaskStarted>(&event)) {
                        leases.push_back(start->lease);
                        ++starts;
                    }
                }
            };
            for (std::uint64_t id = 1; id <= 300; ++id) {
                const auto now = 100ms * static_cast<std::int64_t>(id);
                if (id % 4 == 0) {
                    hear(d.join(staked(id, any(2'000)), dark(now)));
                    continue;
                }
                auto task = plain_task(id);
                task.fee = any(200);
                task.vram_min = any(2) == 0 ? allot::Gibibytes{8} : allot::Gibibytes{0};
                hear(d.submit(task, dark(now)));
                if (any(8) == 0) { hear(d.match(at(now, static_cast<std::uint64_t>(any(1'000))))); }
                if (!leases.empty() && any(3) == 0) {
                    std::swap(leases[any(leases.size())], leases.back());
                    hear(d.complete(leases.back(), dark(now)));
                    leases.pop_back();
                }
            }
            return told;
        };
        CAPTURE(seed(), round);
        REQUIRE(play(Silent{}) == play(Telling{}));
    }
    CHECK(starts > 1'000);
}

}  // namespace collateral_test

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"

using namespace support;

// Networks in which nobody has any stake yet (docs/rules.md, "From no weight to some"; rule 17).

namespace {

/// A weight without bounds that is zero for all as long as nobody has any stake.
struct OnlyWithStake {
    using role = allot::role::weight;
    [[nodiscard]] auto weight(const allot::Node&, const allot::Task&, allot::Factors factors) const -> allot::Weight {
        return factors.stake_root_max.is_zero() ? allot::Weight::zero() : allot::Weight::from_raw(allot::u128{1} << 90);
    }
};

auto without_stake(allot::NodeId id) -> NodeSpec {
    return with(plain_node(id), [](NodeSpec& node) { node.stake = 0; });
}

/// Tasks that wait when three nodes without stake are there, and then when one with stake has joined.
template <class D>
auto waiting(D d) -> std::vector<std::uint32_t> {
    for (auto i = 1; i <= 3; ++i) {
        ok(d.join(without_stake(i), at(0s)));
        ok(d.submit(plain_task(i), at(0s)));
    }
    auto left = std::vector{d.queued()};
    ok(d.submit(plain_task(4), at(0s)));
    ok(d.join(plain_node(4), at(0s)));
    left.push_back(d.queued());
    return left;
}

using Waiting = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a weight that does not look at stakes draws nodes of a network without any", "[A8]") {
    CHECK(waiting(allot::Dispatcher{allot::preset::CrynuxTrio{}}) == Waiting{0, 0});
    CHECK(waiting(allot::Dispatcher{allot::preset::CrynuxContracts1{}}) == Waiting{0, 0});
    CHECK(waiting(allot::Dispatcher{allot::preset::CrynuxContracts2{}}) == Waiting{0, 0});
}

TEST_CASE("a weight of stakes draws none of them, before and after", "[A8]") {
    CHECK(waiting(allot::Dispatcher{allot::preset::CrynuxSingle{}}) == Waiting{3, 3});
}

TEST_CASE("whoever the first stake in a network gives weight pulls", "[A8]") {
    CHECK(waiting(allot::Dispatcher{OnlyWithStake{}}) == Waiting{3, 0});
}

TEST_CASE("in a network without stake scores decide as they do in one with stake", "[A8]") {
    // Of two nodes one scores twice as much, whatever stake was there and went.
    for (const auto whale : {false, true}) {
        auto d = allot::Dispatcher{allot::preset::CrynuxTrio{}};
        ok(d.join(without_stake("good"), dark(0s)));
        ok(d.join(without_stake("bad"), dark(0s)));
        for (auto i = 0; i < 4; ++i) {
            ok(d.score("good", 20, dark(0s)));
            ok(d.score("bad", 10, dark(0s)));
        }
        if (whale) {
            ok(d.join(with(plain_node("whale"), [](NodeSpec& node) { node.stake = std::uint64_t{1} << 60U; }),
                      dark(0s)));
            ok(d.leave("whale", dark(0s)));
        }
        const auto weight = [&](allot::NodeId id) {
            const auto n = *d.state().nodes().find(id);
            return d.view()
                .weight_at_score(n, allot::Task{}, allot::Requirement{}, d.qos_score(d.state().nodes()[n]))
                .raw();
        };
        CHECK(weight("bad") > allot::u128{0});
        CHECK(weight("good") == weight("bad") + weight("bad"));
        auto good = 0;
        for (auto i = 1; i <= 3'000; ++i) {
            const auto lease = leased(d.submit(plain_task(i), at(0s, static_cast<std::uint64_t>(i))));
            good += lease.node == allot::NodeId{"good"} ? 1 : 0;
            ok(d.cancel(i, dark(0s)));
        }
        CHECK(std::abs(good - 2'000) < 130);  // five standard deviations
    }
}

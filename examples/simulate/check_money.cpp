// Checks the ledger of money and the statistics of measures; ends with 1 and a line for each fault.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "expect.hpp"
#include "measures.hpp"
#include "money.hpp"

namespace {

using simulate::expect;

auto refused(const std::function<void()>& act) -> bool {
    try {
        act();
    } catch (const simulate::MoneyError&) { return true; }
    return false;
}

/// Two owners and three nodes; the last of each belongs to the attacker.
auto parties() -> simulate::Money {
    auto money = simulate::Money{};
    money.add_owner(false);
    money.add_owner(true);
    money.add_node(0, false);
    money.add_node(0, false);
    money.add_node(1, true);
    return money;
}

void check_money() {
    constexpr auto both = std::array<std::uint32_t, 2>{0, 1};
    constexpr auto own = std::array<std::uint32_t, 1>{2};
    auto money = parties();
    money.charge(0, 0, 101);
    money.charge(1, 1, 50);
    money.charge(2, 1, 70);
    money.settle(0, both, 91, 7, 3);
    money.settle(1, own, 50, 0, 0);
    expect(money.node(0).earned == 46 && money.node(1).earned == 45, "a fee is divided, the remainder to the first");
    expect(money.operator_of(0).earned == 91, "an operator has what its nodes have");
    expect(money.owner(0).spent == 91 && money.owner(0).forfeited == 3, "a refund is not spent");
    expect(money.side(true).profit() == 0, "money between own accounts is nothing");
    expect(money.owner(1).to_others == 0 && money.owner(1).held == 70, "an open task's fee is held");
    money.settle(2, both, 70, 0, 0);
    expect(money.owner(1).to_others == 70, "fees to the other side are told");
    money.slash(2, 9);
    expect(money.side(true).profit() == -79 && money.lost() == 12, "a slashed stake is lost");
    money.audit();
    expect(refused([] {
               auto one = parties();
               one.charge(0, 0, 10);
               one.settle(0, {}, 0, 9, 0);
           }),
           "a fee that is not fully divided is refused");
    expect(refused([] {
               auto one = parties();
               one.charge(0, 0, 10);
               one.settle(0, {}, 0, 10, 1);
           }),
           "more than the fee is refused");
    expect(refused([&] { money.settle(1, own, 50, 0, 0); }), "a task that ends twice is refused");
    expect(refused([] {
               auto one = parties();
               one.charge(0, 0, 10);
               one.charge(0, 0, 10);
           }),
           "a task that is charged twice is refused");
    expect(refused([] {
               auto one = parties();
               one.charge(0, 0, 10);
               one.settle(0, {}, 10, 0, 0);
           }),
           "a payment to no node is refused");
}

void check_statistics() {
    const auto same = simulate::ratio({{2, 1}, {4, 2}, {6, 3}});
    expect(same.value == 2 && same.error < 1e-12, "equal ratios have no error");
    // By hand: 6 / 4; without each: 5 / 3, 4 / 3, 3 / 2 -> mean 1.5, squares 1/36 + 1/36, times 2 / 3.
    const auto other = simulate::ratio({{1, 1}, {2, 1}, {3, 2}});
    expect(std::abs(other.value - 1.5) < 1e-12, "a ratio is one of sums");
    expect(std::abs(other.error - std::sqrt(2.0 / 36 * 2 / 3)) < 1e-12, "the error is the jackknife's");
    expect(std::isinf(simulate::ratio({{1, 2}}).error), "one seed has no error to tell");
    using simulate::Verdict;
    expect(simulate::verdict({1.0, 0.02}, 1.05, 2) == Verdict::passed, "two errors within the bound pass");
    expect(simulate::verdict({1.0, 0.03}, 1.05, 2) == Verdict::undecided, "one that reaches over is undecided");
    expect(simulate::verdict({1.2, 0.03}, 1.05, 2) == Verdict::failed, "two errors beyond fail");
}

/// Two honest tasks of a fee of 100 and a run of a second each; -1: not done.
auto pair_of(std::vector<std::int64_t> attacked, std::vector<std::int64_t> honest) -> simulate::Pair {
    auto pair = simulate::Pair{};
    pair.fees = {100, 100};
    pair.run_ms = {1'000, 1'000};
    const auto earned = [](const auto& sojourn_ms) {
        return 100 * (2 - std::count(sojourn_ms.begin(), sojourn_ms.end(), -1));
    };
    pair.attack.honest.earned = earned(attacked);
    pair.honest.honest.earned = earned(honest);
    pair.attack.sojourn_ms = std::move(attacked);
    pair.honest.sojourn_ms = std::move(honest);
    return pair;
}

void check_harm() {
    const auto harm = [](const std::vector<simulate::Pair>& pairs) { return simulate::measure(pairs).at("harm"); };
    const auto value = [&](const std::vector<simulate::Pair>& pairs) { return harm(pairs).value; };
    expect(value({pair_of({-1, 2'000}, {1'000, 2'000})}) == 0.5, "a task that is not done is lost, once");
    expect(value({pair_of({2'000, 2'000}, {1'000, 2'000})}) == 0.5, "a second more of a task of a second is its fee");
    // What one seed loses by chance the other wins.
    const auto chance = harm({pair_of({-1, 2'000}, {1'000, 2'000}), pair_of({1'000, 2'000}, {-1, 2'000})});
    expect(chance.value == 0 && chance.error > 0, "chance alone is no harm");
    auto left = pair_of({1'000, 1'000}, {1'000, 1'000});
    left.attack.state_bytes = 30;
    left.honest.state_bytes = 20;
    expect(simulate::measure({left}).at("state_bytes").value == 1.5, "bytes that an attack leaves are over the twin's");
}

}  // namespace

auto main() -> int {
    check_money();
    check_statistics();
    check_harm();
    return simulate::faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

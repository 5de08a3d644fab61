// A stake of many caps: on one node, on the nodes of one declared operator, or of operators in name only.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// With one name, all of the stake is on one card. With more, each card has an operator of its own.
class ManyCaps : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        const auto& means = hand.means();
        if (knobs().is("one_node")) {
            hand.note("all on one node");
            hand.join(spec_of(means.cards[0], "own", "own", means.stake_milli), 0, means.verdicts);
            return;
        }
        for (std::uint32_t i = 0; i < means.cards.size(); ++i) {
            const auto id = fmt::format("own-{}", i);
            auto spec = honest_spec(hand, i, id);
            spec.operator_id = allot::OperatorId{id};
            hand.note("operator in name only");
            hand.join(std::move(spec), i, means.verdicts);
        }
    }
};

auto stake(const Scene& scene, const Knobs& knobs) -> std::int64_t {
    return static_cast<std::int64_t>(knobs["cards"] * knobs["stake_each"] * static_cast<double>(scene.stake_milli));
}

const auto registered = Registration{make_recipe<ManyCaps>({
    .name = "many_caps",
    .attack = "16 cards with the stake of a large node each declare 16 operators, or stay idle but for one",
    .twin = "the same cards and stake declare one operator",
    .profits = "its operator gains, for each false operator has a cap of its own",
    .answer = "`Hardened`: it has no cap by operator, so that a false one gains nothing",
    .cost = "none: it is a rule less",
    .knobs = {{"cards", 16, 1, 200, "cards of the attacker", true},
              {"stake_each", 4, 0.001, 1'000, "stake of a card, in medians of the network; one node in ten has 4",
               true},
              {"one_node", 0, 0, 1, "all of the stake is on one card, and the others stay idle"}},
    .cases = {{"1i", "an operator for each card", {}}, {"1i1", "all of the stake on one card", {{"one_node", 1}}}},
    .means = [](const Scene& scene,
                const Knobs& knobs) { return equal_cards(scene, knobs.whole("cards"), stake(scene, knobs)); },
    .reference = [](const Scene& scene, const Knobs& knobs) { return equal_cards(scene, 1, stake(scene, knobs)); },
})};

}}  // namespace simulate

// A paused node of a stake beyond all others, in favour of nodes that stall.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Nodes that stall now and then.
class Stalling : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        const auto& cards = hand.means().cards;
        for (std::uint32_t i = 0; i < cards.size(); ++i) {
            hand.join(spec_of(cards[i], fmt::format("own-{}", i), "own", hand.scene().stake_milli), i,
                      hand.means().verdicts);
        }
    }
    auto lease(Hand& hand, const Work& work) -> Deed override {
        const auto stalls = static_cast<double>(hand.random(work.lease.token) % 1'000) < knobs()["stalls"] * 1'000;
        return stalls ? Deed::stall() : Adversary::lease(hand, work);
    }
};

class PausedWhale : public Stalling {
public:
    using Stalling::Stalling;

    void join(Hand& hand) override {
        const auto& means = hand.means();
        const auto others = static_cast<std::int64_t>(means.cards.size()) * hand.scene().stake_milli;
        hand.join(spec_of(means.cards[0], "whale", "whale", means.stake_milli - others), 0, 0);
        hand.pause("whale");
        hand.note("whale");
        Stalling::join(hand);
    }
};

const auto registered = Registration{make_recipe<PausedWhale, Stalling>({
    .name = "paused_whale",
    .attack = "a paused node of a huge stake, so that the stakes of all others hardly count, for nodes that stall",
    .twin = "the same nodes stall as often, and the huge stake stays at home",
    .profits = "nodes of little stake and bad results gain if a score relative to the largest stake no longer tells "
               "nodes apart",
    .answer = "`Hardened`: a stake counts up to a cap, and changes no other node's weight",
    .cost = "not measured: no parameter turns it off",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"whale", 135'000, 1, 1e6, "stake of the paused node, in medians of the network", true},
              {"stalls", 0.25, 0, 1, "part of its tasks on which a node stalls"}},
    .cases = {{"4", "a thousand times the largest stake", {}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = median_cards(scene, knobs.whole("cards"));
            means.stake_milli += knobs.whole("whale") * scene.stake_milli;
            return means;
        },
    .aim = "harm",
})};

}}  // namespace simulate

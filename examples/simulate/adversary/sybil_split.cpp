// One stake under many names, on cards that are really there.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Each card has a name, an operator and a part of the stake of its own.
class SybilSplit : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        const auto& means = hand.means();
        const auto part = means.stake_milli / static_cast<std::int64_t>(means.cards.size());
        for (std::uint32_t i = 0; i < means.cards.size(); ++i) {
            const auto id = fmt::format("sybil-{}", i);
            hand.note("operator in name only");
            hand.join(spec_of(means.cards[i], id, id, part), i, means.verdicts);
        }
    }
};

auto stake(const Scene& scene, const Knobs& knobs) -> std::int64_t {
    return knobs["stake_each"] > 0 ? knobs.whole("stake_each") * knobs.whole("cards")
                                   : scene.stake_milli * knobs.whole("stakes");
}

const auto registered = Registration{make_recipe<SybilSplit>({
    .name = "sybil_split",
    .attack = "one stake is split over k names on k cards; each name claims to be its own operator",
    .twin = "the same k cards and the same stake under one declared operator",
    .profits = "its operator gains wherever two names get more than one name of the same stake",
    .answer = "`Hardened`: the draw weighs stake in proportion; none yet when nodes are busy, for a free card takes "
              "what waits without regard to stake",
    .cost = "not measured: no parameter turns it off",
    .knobs = {{"cards", 16, 1, 200, "cards, and names", true},
              {"stakes", 1, 1, 1'000, "the whole stake, in medians of a node's stake", true},
              {"stake_each", 0, 0, 1e12, "thousandths of a token for each card, in place of a part of the whole; 0: no",
               true}},
    .cases = {{"1d", "16 cards share one stake, at a load of 30 %", {}, 30},
              {"1d4", "4 cards, at 30 %", {{"cards", 4}}, 30},
              {"1d100", "100 cards, at 30 %", {{"cards", 100}}, 30},
              {"1e", "16 cards, at 80 %", {}, 80},
              {"1e4", "4 cards, at 80 %", {{"cards", 4}}, 80},
              {"1e100", "100 cards, at 80 %", {{"cards", 100}}, 80},
              {"1f", "16 cards, at 120 %", {}, 120},
              {"1f4", "4 cards, at 120 %", {{"cards", 4}}, 120},
              {"1f100", "100 cards, at 120 %", {{"cards", 100}}, 120},
              {"1g", "16 cards of a stake of 1 each", {{"stake_each", 1'000}}}},
    .means = [](const Scene& scene,
                const Knobs& knobs) { return equal_cards(scene, knobs.whole("cards"), stake(scene, knobs)); },
    .reference = [](const Scene& scene, const Knobs& knobs) { return equal_cards(scene, 1, stake(scene, knobs)); },
})};

}}  // namespace simulate

// Nodes that run dear tasks only.

#include <algorithm>

#include "adversary.hpp"

namespace simulate { namespace {

class CherryPick : public Adversary {
public:
    using Adversary::Adversary;

    auto lease(Hand& hand, const Work& work) -> Deed override {
        const auto price =
            static_cast<double>(work.fee) * 1'000 / static_cast<double>(std::max(work.declared_ms, std::int64_t{1}));
        const auto least = knobs()["least"] * static_cast<double>(hand.scene().fee_per_second);
        if (price >= least) { return Adversary::lease(hand, work); }
        hand.note("declined");
        return Deed::decline();
    }
};

const auto registered = Registration{make_recipe<CherryPick>({
    .name = "cherry_pick",
    .attack = "nodes decline every task below a price",
    .twin = "the same cards take what they get",
    .profits = "its operator gets the dear tasks and leaves the cheap ones to all others",
    .answer = "`Hardened`: a node that declines rests for half of the lease that it declined",
    .cost = "`qos.after_decline`",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"least", 1.5, 0, 100, "lowest price that is taken, in medians of the network's tasks"}},
    .cases = {{"17", "all below 1.5 times the median price", {}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            return equal_cards(scene, knobs.whole("cards"), knobs.whole("cards") * scene.stake_milli);
        },
})};

}}  // namespace simulate

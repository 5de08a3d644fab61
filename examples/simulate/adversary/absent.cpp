// Cards that are switched off: the harm that no rule can prevent.

#include "adversary.hpp"

namespace simulate { namespace {

/// Its nodes never join. Whoever takes cards from the network in another way should be compared with this.
class Absent : public Silent {
public:
    using Silent::Silent;

    void join(Hand& hand) override { hand.note("stayed away"); }
};

const auto registered = Registration{make_recipe<Absent, Adversary>({
    .name = "absent",
    .attack = "5 % of the cards stay away",
    .twin = "the same cards do the work",
    .profits = "no party gains; it is the measure of all attacks that take cards away",
    .answer = "none can be: no rule makes a card work",
    .knobs = {{"cards", 20, 1, 200, "cards that stay away", true}},
    .cases = {{"0", "20 cards", {}}, {"0a", "10 cards", {{"cards", 10}}}},
    .means = [](const Scene& scene, const Knobs& knobs) { return median_cards(scene, knobs.whole("cards")); },
    .aim = "harm_share",
})};

}}  // namespace simulate

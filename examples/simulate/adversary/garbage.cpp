// Nodes that return garbage at once, and come back when a check has cost them their stake.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// The network checks a part of all results; a wrong one costs the stake of its node.
class Garbage : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        for (std::uint32_t card = 0; card < hand.means().cards.size(); ++card) { join(hand, card); }
    }

    auto lease(Hand& hand, const Work&) -> Deed override {
        hand.note("garbage");
        return Deed::garbage(knobs().whole("after_ms"));
    }

    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd how) override {
        if (how != allot::event::LeaseEnd::done) { return; }
        const auto number = static_cast<double>(hand.random(work.lease.token) % 1'000'000) / 1'000'000;
        if (number >= knobs()["checked"]) { return; }
        hand.note("slashed");
        hand.convict(work.lease.node);
    }
    void gone(Hand& hand, std::uint32_t node) override { join(hand, cards_[node]); }

private:
    void join(Hand& hand, std::uint32_t card) {
        const auto verdicts =
            cards_.size() < hand.means().cards.size() ? hand.means().verdicts : 0;  // a new id has none
        hand.join(honest_spec(hand, card, fmt::format("own-{}", cards_.size())), card, verdicts);
        cards_.push_back(card);
    }

    std::vector<std::uint32_t> cards_{};  ///< By node, in order of their first join.
};

const auto registered = Registration{make_recipe<Garbage>({
    .name = "garbage",
    .attack = "nodes return garbage after a second, and join again under a new id when they were slashed",
    .twin = "the same cards and stake do the work",
    .profits = "its operator is paid at once for results that took no work",
    .answer =
        "`Hardened`: a node takes a task only if its stake is a multiple of the fee, and can lose that stake for a day "
        "after it took it away; here the multiple is far below the number of results for each that is checked",
    .cost = "`eligibility.stake_per_fee`",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"checked", 0.01, 0, 1, "part of all results that is checked", true},
              {"after_ms", 1'000, 0, 600'000, "time until it returns a result"},
              {"stake_each", 0, 0, 1e12, "thousandths of a token for each card; 0: the median", true}},
    .cases = {{"8", "1 % of the results are checked", {}},
              {"8b", "10 %", {{"checked", 0.1}}},
              {"8c", "1 %, and a stake of 1", {{"stake_each", 1'000}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            const auto each = knobs["stake_each"] > 0 ? knobs.whole("stake_each") : scene.stake_milli;
            return equal_cards(scene, knobs.whole("cards"), knobs.whole("cards") * each);
        },
})};

}}  // namespace simulate

// Nodes that never answer.
//
// Who leaves takes its stake along, or has it back after a day where stake unbonds: a new name then needs another part
// of the stake. So the attacker divides it among the names that it will need.

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// A node that is excluded may leave, and join again under its id or another. One that was removed joins again, too.
class Staller : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        for (std::uint32_t card = 0; card < hand.means().cards.size(); ++card) { join(hand, card); }
    }

    auto lease(Hand& hand, const Work&) -> Deed override {
        hand.note("stalled");
        return Deed::stall();
    }

    /// An exclusion that outlasts the absence is told again at the next join; then the node waits.
    void excluded(Hand& hand, std::uint32_t node, std::int64_t until_ms) override {
        if (!knobs().is("leaves") || until_[node] == until_ms) { return; }
        until_[node] = until_ms;
        hand.leave(nodes_[node].id);
    }
    void event(Hand& hand, const allot::Event& event) override {
        const auto gone = knobs().is("leaves") ? gone_of(event) : std::nullopt;
        const auto node = gone ? hand.own(gone->node) : std::nullopt;
        if (!node) { return; }
        hand.note("came back");
        const auto [card, id] = nodes_[*node];
        purses_[card] += gone->stake_milli;
        if (knobs().is("new_names")) {
            join(hand, card);
        } else {
            hand.join(spec_of(hand.means().cards[card], id, "own", taken(hand, card)), card, 0);
        }
    }

private:
    struct Own {
        std::uint32_t card = 0;
        std::string id{};
    };

    void join(Hand& hand, std::uint32_t card) {
        const auto verdicts =
            nodes_.size() < hand.means().cards.size() ? hand.means().verdicts : 0;  // a new id has none
        nodes_.push_back({card, fmt::format("own-{}", nodes_.size())});
        hand.join(spec_of(hand.means().cards[card], nodes_.back().id, "own", taken(hand, card)), card, verdicts);
    }

    /// Takes the stake for one name from those of the card.
    auto taken(const Hand& hand, std::uint32_t card) -> std::int64_t {
        const auto whole = hand.means().stake_milli / static_cast<std::int64_t>(hand.means().cards.size());
        auto& purse = purses_.try_emplace(card, whole).first->second;
        const auto part = std::min(purse, whole / knobs().whole("names"));
        purse -= part;
        return part;
    }

    std::vector<Own> nodes_{};                        ///< In order of their first join.
    std::map<std::uint32_t, std::int64_t> purses_{};  ///< Stake that is left for each card, in thousandths of a token.
    std::map<std::uint32_t, std::int64_t> until_{};
};

const auto registered = Registration{make_recipe<Staller>({
    .name = "staller",
    .attack = "20 nodes stall on every task",
    .twin = "the same cards do the work",
    .profits = "no fee is paid to it, so only a competitor of the network gains; every task that it holds waits for "
               "the end of its lease",
    .answer =
        "all presets exclude a node after timeouts; `Hardened`: stake that leaves unbonds for a day, so each new id "
        "needs another part of it",
    .cost = "none for the exclusion, which is a rule of the seed; `qos.unbond_after`",
    .knobs = {{"cards", 20, 1, 200, "cards of the attacker", true},
              {"leaves", 0, 0, 1, "an excluded node leaves and joins again"},
              {"new_names", 0, 0, 1, "under a new id"},
              {"names", 1, 1, 1'000, "names for each card, among which its stake is divided"}},
    .cases = {{"7", "they stay when they are excluded", {}},
              {"7b", "they leave, and join again under the same id", {{"leaves", 1}}},
              {"7c",
               "they leave, and join again under a new id, of four for each card",
               {{"leaves", 1}, {"new_names", 1}, {"names", 4}}}},
    .means = [](const Scene& scene, const Knobs& knobs) { return median_cards(scene, knobs.whole("cards")); },
    .aim = "harm_share",
})};

}}  // namespace simulate

// Members of validation groups who return the same garbage.

#include <array>
#include <map>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Three nodes do a task of a group, and the majority is right. A colluder that is alone in its group loses its stake,
/// and comes back under a new id; an honest member that is alone would lose its stake, and is only counted.
class Colluders : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        for (std::uint32_t card = 0; card < hand.means().cards.size(); ++card) { join(hand, card); }
    }

    auto lease(Hand& hand, const Work& work) -> Deed override {
        return hand.facts(work.lease.task).group == 0 ? Adversary::lease(hand, work)
                                                      : Deed::garbage(knobs().whole("after_ms"));
    }

    void event(Hand& hand, const allot::Event& event) override {
        const auto* done = std::get_if<allot::event::TaskDone>(&event);
        if (done == nullptr) { return; }
        const auto number = hand.facts(done->task).group;
        if (number == 0) { return; }
        auto& group = groups_[number];
        group.nodes[group.answers++] = done->node;
        group.own += hand.own(done->node) ? 1U : 0U;
        if (group.answers == group.nodes.size()) { judge(hand, group); }
    }

    void gone(Hand& hand, std::uint32_t node) override { join(hand, cards_[node]); }

private:
    struct Group {
        std::array<allot::NodeId, 3> nodes{allot::NodeId::null(), allot::NodeId::null(), allot::NodeId::null()};
        std::size_t answers = 0;
        std::uint32_t own = 0;
    };

    /// Each colluder says that it has an operator of its own, for members of a group never share one.
    void join(Hand& hand, std::uint32_t card) {
        const auto id = fmt::format("own-{}", cards_.size());
        const auto verdicts =
            cards_.size() < hand.means().cards.size() ? hand.means().verdicts : 0;  // a new id has none
        auto spec = honest_spec(hand, card, id);
        spec.operator_id = allot::OperatorId{id};
        hand.join(std::move(spec), card, verdicts);
        cards_.push_back(card);
    }

    void judge(Hand& hand, const Group& group) {
        hand.note("group judged");
        if (group.own == 0) { return; }
        hand.note("group with a colluder");
        if (group.own >= 2) { hand.note("garbage accepted"); }
        if (group.own == 2) { hand.note("honest member outvoted"); }
        if (group.own != 1) { return; }
        hand.note("colluder outvoted");
        for (const auto& node : group.nodes) {
            if (hand.own(node)) { hand.convict(node); }
        }
    }

    std::vector<std::uint32_t> cards_{};  ///< By node, in order of their first join.
    std::map<std::uint32_t, Group> groups_{};
};

const auto registered = Registration{make_recipe<Colluders>({
    .name = "colluders",
    .attack = "a part of the nodes returns the same garbage to every validation group after a second",
    .twin = "the same cards do the work",
    .profits = "its operators are paid for work that they did not do",
    .answer = "none yet: a group of three accepts what two colluders say",
    .knobs = {{"share", 0.1, 0.001, 0.9, "cards of the attacker, in parts of all cards", true},
              {"after_ms", 1'000, 0, 600'000, "time until it returns garbage"}},
    .cases = {{"9", "10 % of the cards", {}},
              {"9a", "5 %", {{"share", 0.05}}},
              {"9b", "20 %", {{"share", 0.2}}},
              {"9c", "30 %", {{"share", 0.3}}},
              {"9d", "40 %", {{"share", 0.4}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            const auto cards = knobs["share"] / (1 - knobs["share"]) * scene.honest_nodes;
            return median_cards(scene, static_cast<std::int64_t>(cards) + 1);
        },
})};

}}  // namespace simulate

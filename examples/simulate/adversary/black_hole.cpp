// Nodes that are always free, because they fail all that they get.
//
// A fresh node under `hardened` gets five tasks, and then none for 43 minutes, however long a task is. So its share of
// all starts grows with the run time. Row 5a: 7 % here, where a task takes twenty minutes and the attacker has one node
// in thirty; 1.3 % if exclusions last twenty times as long, too (`qos.recovery_tau=36000000`). In a network of tasks of
// one minute, with one node in a hundred, 0.3 % were measured. Known nodes (5c) got 36 % of all starts under `hardened`
// while a failure that a node called one of its task had no verdict; now another node's success is evidence against it.

#include <set>

#include "adversary.hpp"

namespace simulate { namespace {

class BlackHole : public Adversary {
public:
    using Adversary::Adversary;

    auto lease(Hand& hand, const Work& work) -> Deed override {
        if (knobs().is("rejoins") && !stalled_.contains(work.node)) { return Deed::stall(); }
        hand.note("failed at once");
        return Deed::fail(knobs().whole("fails_after_ms"));
    }

    /// A node that has stalled once leaves, and comes back under its name.
    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd how) override {
        if (!knobs().is("rejoins") || how != allot::event::LeaseEnd::timed_out) { return; }
        if (stalled_.insert(work.node).second) { hand.leave(work.lease.node); }
    }
    void event(Hand& hand, const allot::Event& event) override {
        const auto gone = knobs().is("rejoins") ? gone_of(event) : std::nullopt;
        const auto node = gone ? hand.own(gone->node) : std::nullopt;
        if (!node) { return; }
        hand.note("came back");
        hand.join(spec_of(hand.means().cards[*node], gone->node.text(), "own", gone->stake_milli), *node, 0);
    }

private:
    std::set<std::uint32_t> stalled_{};
};

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    const auto cards = knobs.whole("cards");
    const auto each = knobs["stake_each"] > 0 ? knobs.whole("stake_each") : scene.stake_milli;
    auto means = equal_cards(scene, cards, cards * each);
    means.verdicts = static_cast<std::uint32_t>(knobs.whole("verdicts"));
    return means;
}

const auto registered = Registration{make_recipe<BlackHole>({
    .name = "black_hole",
    .attack = "ten nodes fail every task at once, so that they are free for the next one",
    .twin = "the same ten cards, stake and history do the work",
    .profits =
        "no fee is paid to it, so only a competitor of the network gains; honest owners wait for a second attempt",
    .answer =
        "`Hardened`: new and returning nodes are on probation, and a failed task starts elsewhere; once another node "
        "has finished it, the first one is blamed",
    .cost = "`qos.proven_from`, `qos.penalty_failure`",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"verdicts", 0, 0, 50, "good verdicts that its nodes bring along", true},
              {"stake_each", 0, 0, 1e12, "thousandths of a token for each card; 0: the median", true},
              {"rejoins", 0, 0, 1, "each stalls once, leaves, and joins again under its name"},
              {"fails_after_ms", 0, 0, 600'000, "time until it fails a task"}},
    .cases = {{"5a", "fresh nodes", {}},
              {"5b", "fresh nodes that stall once, leave and join again", {{"rejoins", 1}}},
              {"5c", "nodes with 12 good verdicts", {{"verdicts", 12}}},
              {"5d", "nodes with 12 good verdicts and a stake of 1", {{"verdicts", 12}, {"stake_each", 1'000}}}},
    .means = &means,
    .aim = "harm_share",
})};

}}  // namespace simulate

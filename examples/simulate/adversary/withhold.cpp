// Nodes that commit to a result before they have one.

#include <map>

#include "adversary.hpp"

namespace simulate { namespace {

/// A commitment carries no hash here, so nothing binds it to a result. A node that withholds never completes. A node
/// that copies completes when another member of its validation group has, and does the work itself if none has.
class Withhold : public Adversary {
public:
    using Adversary::Adversary;

    auto lease(Hand& hand, const Work& work) -> Deed override {
        const auto group = hand.facts(work.lease.task).group;
        if (group == 0 && knobs().is("groups_only")) { return Adversary::lease(hand, work); }
        if (knobs().is("copies")) {
            waiting_.emplace(group, work.lease);
            hand.act(work.lease, Adversary::lease(hand, work));
        }
        return Deed::commit(static_cast<std::int64_t>(static_cast<double>(work.run_ms) * knobs()["commits_at"]));
    }

    void event(Hand& hand, const allot::Event& event) override {
        if (const auto* committed = std::get_if<allot::event::TaskCommitted>(&event)) {
            hand.note(hand.own(committed->lease.node) ? "committed" : "honest node committed");
        }
        const auto* done = std::get_if<allot::event::TaskDone>(&event);
        if (done == nullptr || hand.own(done->node)) { return; }
        const auto [first, last] = waiting_.equal_range(hand.facts(done->task).group);
        for (auto at = first; at != last; ++at) {
            hand.note("result copied");
            hand.act(at->second, Deed::complete(0));
        }
        waiting_.erase(first, last);
    }

    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd how) override {
        if (how == allot::event::LeaseEnd::timed_out) { hand.note("withheld"); }
        std::erase_if(waiting_, [&](const auto& one) { return one.second.token == work.lease.token; });
    }

private:
    std::multimap<std::uint32_t, allot::Lease> waiting_{};  ///< By group: own leases whose result may be copied.
};

const auto registered = Registration{make_recipe<Withhold>({
    .name = "withhold",
    .attack = "20 nodes commit to results and keep them, or copy them from other members of the group",
    .twin = "the same cards do the work",
    .profits = "no fee is paid to who withholds, so only a competitor of the network gains; who copies saves the work",
    .answer = "a group ends without the member that does not disclose, and hashes tell the node, so a copy is refused",
    .cost = "none: it is a rule of the seed",
    .knobs = {{"cards", 20, 1, 200, "cards of the attacker", true},
              {"commits_at", 1, 0, 2, "time of the commitment, in run times of the task"},
              {"groups_only", 0, 0, 1, "for tasks of validation groups alone"},
              {"copies", 0, 0, 1, "it copies the result of another member"}},
    .cases = {{"20", "it never discloses", {}},
              {"20b", "the same for tasks of validation groups alone", {{"groups_only", 1}}},
              {"20c",
               "it commits at once, and copies in validation groups",
               {{"groups_only", 1}, {"copies", 1}, {"commits_at", 0}}}},
    .means = [](const Scene& scene, const Knobs& knobs) { return median_cards(scene, knobs.whole("cards")); },
    .aim = "harm_share",
})};

}}  // namespace simulate

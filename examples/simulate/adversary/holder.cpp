// Nodes that hold tasks by renewals, and decline them at last.

#include <map>

#include "adversary.hpp"

namespace simulate { namespace {

class Holder : public Adversary {
public:
    using Adversary::Adversary;

    auto lease(Hand& hand, const Work& work) -> Deed override {
        held_.emplace(work.lease.token, Held{work.lease, hand.now_ms()});
        hand.wake(renew_every_ms, work.lease.token);
        return Deed::stall();
    }

    void woken(Hand& hand, std::uint64_t token) override {
        const auto found = held_.find(token);
        if (found == held_.end()) { return; }
        if (hand.now_ms() - found->second.since_ms >= knobs().whole("hold_ms")) {
            hand.note("declined at last");
            hand.act(found->second.lease, Deed::decline());
            return;
        }
        hand.renew(found->second.lease);
        hand.wake(renew_every_ms, token);
    }

    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd how) override {
        held_.erase(work.lease.token);
        if (how == allot::event::LeaseEnd::timed_out) { hand.note("renewed no more"); }
    }

private:
    static constexpr auto renew_every_ms = std::int64_t{20'000};  // well within the shortest lease, of a minute

    struct Held {
        allot::Lease lease;
        std::int64_t since_ms = 0;
    };
    std::map<std::uint64_t, Held> held_{};  ///< By token.
};

const auto registered = Registration{make_recipe<Holder>({
    .name = "holder",
    .attack = "5 % of the nodes renew their leases for half an hour, and then decline",
    .twin = "the same cards do the work",
    .profits = "no fee is paid to it, so only a competitor of the network gains; every task that it holds is late",
    .answer = "`Hardened`: a lease with all its renewals lasts at most twice as long as at its start",
    .cost = "`terms.lengths`",
    .knobs = {{"share", 0.05, 0.001, 0.5, "cards of the attacker, in parts of the honest nodes", true},
              {"hold_ms", 1'800'000, 0, 28'800'000, "time for which it holds a task"}},
    .cases = {{"6", "half an hour", {}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            return median_cards(scene, static_cast<std::int64_t>(knobs["share"] * scene.honest_nodes) + 1);
        },
    .aim = "harm_share",
})};

}}  // namespace simulate

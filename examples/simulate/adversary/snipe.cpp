// Nodes that are paused, and resume for a dear task only.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

class Snipe : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        Adversary::join(hand);
        for (std::uint32_t i = 0; i < hand.means().cards.size(); ++i) {
            hand.pause(id(i));
            paused_.insert(i);
        }
    }

    /// A resumed node takes the best waiting task at once, or in the next round; without one it pauses again.
    void event(Hand& hand, const allot::Event& event) override {
        const auto* queued = std::get_if<allot::event::TaskQueued>(&event);
        if (queued == nullptr || paused_.empty()) { return; }
        const auto facts = hand.facts(queued->task);
        const auto price =
            static_cast<double>(facts.fee) * 1'000 / static_cast<double>(std::max(facts.declared_ms, std::int64_t{1}));
        if (price < knobs()["least"] * static_cast<double>(hand.scene().fee_per_second)) { return; }
        const auto next = paused_.upper_bound(last_);  // in turn, for they have different cards and models
        last_ = next == paused_.end() ? *paused_.begin() : *next;
        paused_.erase(last_);
        hand.resume(id(last_));
        hand.note("resumed for a task");
        hand.wake(knobs().whole("waits_ms"), last_);
    }

    void woken(Hand& hand, std::uint64_t card) override {
        const auto node = static_cast<std::uint32_t>(card);
        if (!busy_.contains(node) && paused_.insert(node).second) { hand.pause(id(node)); }
    }

    /// A pause of a busy node begins when its lease has ended.
    auto lease(Hand& hand, const Work& work) -> Deed override {
        hand.note("got a task");
        busy_.insert(work.node);
        hand.pause(work.lease.node);
        return Adversary::lease(hand, work);
    }
    void ended(Hand&, const Work& work, allot::event::LeaseEnd) override {
        busy_.erase(work.node);
        paused_.insert(work.node);
    }

private:
    static auto id(std::uint32_t card) -> std::string { return fmt::format("own-{}", card); }

    std::set<std::uint32_t> paused_{};
    std::set<std::uint32_t> busy_{};
    std::uint32_t last_ = 0;
};

const auto registered = Registration{make_recipe<Snipe>({
    .name = "snipe",
    .attack = "nodes stay paused, and resume when a dear task waits",
    .twin = "the same cards take what they get",
    .profits = "its operator gets dear tasks from the queue and idles between them",
    .answer = "`Hardened`: a node that comes back rests for a minute, and one that declines for half of the lease",
    .cost = "`qos.after_return`, `qos.after_decline`",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"least", 1.5, 0, 100, "lowest price for which one resumes, in medians of the network's tasks"},
              {"waits_ms", 2'500, 0, 600'000, "time for which a resumed node waits for a task"}},
    .cases = {{"18", "for tasks from 1.5 times the median price", {}},
              {"18b", "and waits ten minutes for one", {{"waits_ms", 600'000}}}},
    .means = [](const Scene& scene, const Knobs& knobs) { return median_cards(scene, knobs.whole("cards")); },
})};

}}  // namespace simulate

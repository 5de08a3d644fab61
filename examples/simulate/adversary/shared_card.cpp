// One fast card under several names.

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Each card has several nodes, which share its stake. The card does their tasks one after another, so that it is never
/// idle while one of them has a task, and no two of its names are quick at once.
class SharedCard : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        const auto names = knobs().whole("names");
        lines_.resize(hand.means().cards.size());
        for (std::uint32_t card = 0; card < lines_.size(); ++card) {
            for (std::int64_t i = 0; i < names; ++i) {
                auto spec = honest_spec(hand, card, fmt::format("own-{}-{}", card, i));
                spec.stake.units = spec.stake.units / static_cast<std::uint64_t>(names);
                hand.join(std::move(spec), card, hand.means().verdicts);
            }
        }
    }

    auto lease(Hand& hand, const Work& work) -> Deed override {
        auto& line = lines_[work.card];
        line.push_back(work);
        if (line.size() == 1) { return Deed::complete(work.run_ms); }
        hand.note("lease on a busy card");
        return Deed::stall();
    }

    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd) override {
        auto& line = lines_[work.card];
        const auto same = [&](const Work& other) { return other.lease.token == work.lease.token; };
        const auto found = std::find_if(line.begin(), line.end(), same);
        const auto was_running = found == line.begin();
        line.erase(found);
        if (was_running && !line.empty()) { hand.act(line.front().lease, Deed::complete(line.front().run_ms)); }
    }

private:
    std::vector<std::deque<Work>> lines_{};  ///< By card: the first is at work.
};

const auto registered = Registration{make_recipe<SharedCard>({
    .name = "shared_card",
    .attack = "each card has several nodes, which share its stake and its time",
    .twin = "each card has one node with all of its stake",
    .profits = "its operator gains if one fast card gets the draws of several nodes",
    .answer = "none yet: several nodes on one card cannot be told from several cards",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"names", 2, 1, 64, "nodes of each card"},
              {"speed", 4, 0.1, 100, "speed of its cards, in ordinary ones", true}},
    .cases = {{"1h", "2 names on a card that is four times as fast", {}},
              {"1h4", "4 names", {{"names", 4}}},
              {"1h8", "8 names", {{"names", 8}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = median_cards(scene, knobs.whole("cards"));
            for (auto& card : means.cards) { card.speed_milli = static_cast<std::uint32_t>(knobs["speed"] * 1'000); }
            return means;
        },
})};

}}  // namespace simulate

// One stake, moved to those nodes that are free.

#include <algorithm>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

class MovingStake : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        Adversary::join(hand);
        busy_.assign(hand.means().cards.size(), false);
        had_.assign(busy_.size(), 0);
    }

    /// Busy nodes give first, so that there is never more stake than it has.
    void tick(Hand& hand) override {
        const auto free = std::count(busy_.begin(), busy_.end(), false);
        if (free == 0) { return; }
        const auto left = hand.means().stake_milli - static_cast<std::int64_t>(busy_.size());  // 1 stays with each
        for (const auto gives : {true, false}) {
            for (std::uint32_t i = 0; i < busy_.size(); ++i) {
                const auto stake = busy_[i] ? 1 : 1 + left / free;
                if (stake == had_[i] || gives != (stake < had_[i])) { continue; }
                had_[i] = stake;
                auto change = allot::NodeUpdate{.id = fmt::format("own-{}", i)};
                change.stake = allot::Amount{static_cast<std::uint64_t>(stake)};
                hand.note("stake moved");
                hand.update(std::move(change));
            }
        }
    }

    auto lease(Hand& hand, const Work& work) -> Deed override {
        busy_[work.node] = true;
        return Adversary::lease(hand, work);
    }
    void ended(Hand&, const Work& work, allot::event::LeaseEnd) override { busy_[work.node] = false; }

private:
    std::vector<bool> busy_{};
    std::vector<std::int64_t> had_{};  ///< Thousandths of a token that the network was told last; 0: nothing.
};

const auto registered = Registration{make_recipe<MovingStake>({
    .name = "moving_stake",
    .attack = "each two seconds all stake is moved to those own nodes that are free",
    .twin = "the same stake stays in equal parts on the same cards",
    .profits = "its operator gains if the same stake counts for each node that is free just then",
    .answer = "`Hardened`: stake that is added to a node counts after an hour",
    .cost = "`qos.after_raise`",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"every_ms", 2'000, 100, 3'600'000, "time between two moves"}},
    .cases = {{"19", "every 2 seconds", {}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = median_cards(scene, knobs.whole("cards"));
            means.tick_ms = knobs.whole("every_ms");
            return means;
        },
})};

}}  // namespace simulate

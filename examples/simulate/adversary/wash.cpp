// Verdicts from own tasks on own nodes.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

constexpr auto invented = "card of the attacker";

/// Its nodes say that they have a card that nobody else has. Own tasks name it, so that they land on own nodes, and
/// their owner gives full points. A node that has enough of them tells its true card.
class Wash : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        const auto& cards = hand.means().cards;
        points_.resize(cards.size());
        washing_ = cards.size();
        for (std::uint32_t i = 0; i < cards.size(); ++i) {
            auto spec = honest_spec(hand, i, id(i));
            spec.gpu = invented;
            hand.join(std::move(spec), i, 0);
        }
    }

    void tick(Hand& hand) override {
        for (std::size_t i = 0; i < washing_; ++i) {
            auto order = Order{};
            order.arrival_ms = hand.now_ms();
            order.run_ms = 1'000;
            order.declared_ms = order.run_ms;
            order.fee = 1;
            order.vram_min = 1;
            order.gpus = {invented};
            order.owner = "own";
            hand.submit(std::move(order));
        }
    }

    void ended(Hand& hand, const Work& work, allot::event::LeaseEnd how) override {
        if (!work.own_task || how != allot::event::LeaseEnd::done) { return; }
        hand.note("washed verdict");
        hand.rate(work.lease.node, 10);
        if (++points_[work.node] != knobs().whole("verdicts")) { return; }
        --washing_;
        auto change = allot::NodeUpdate{.id = work.lease.node};
        change.gpu = hand.means().cards[work.card].gpu;
        hand.note("card told");
        hand.update(std::move(change));
    }

private:
    static auto id(std::uint32_t card) -> std::string { return fmt::format("own-{}", card); }

    std::vector<std::int64_t> points_{};  ///< Verdicts by node.
    std::size_t washing_ = 0;             ///< Nodes that have too few.
};

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = median_cards(scene, knobs.whole("cards"));
    means.tick_ms = 2'000;
    return means;
}

const auto registered = Registration{make_recipe<Wash>({
    .name = "wash",
    .attack = "fresh nodes on an invented card get full points for own tasks, and then tell their true card",
    .twin = "the same cards work from the start, with an ordinary history",
    .profits = "its operator gains, for its nodes start with a perfect score",
    .answer = "`Hardened`: praise counts up to a cap, the score of an ordinary node",
    .cost = "`weight.score_cap`",
    .knobs = {{"cards", 30, 1, 200, "cards of the attacker", true},
              {"verdicts", 50, 1, 1'000, "verdicts that a node gives itself"}},
    .cases = {{"11", "50 verdicts for each node", {}}},
    .means = &means,
    .reference =
        [](const Scene& scene, const Knobs& knobs) {
            auto fresh = means(scene, knobs);
            fresh.verdicts = 0;
            return fresh;
        },
})};

}}  // namespace simulate

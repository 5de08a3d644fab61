// An orderer of commands who also has nodes: it sees the submissions, and chooses their order.

#include <set>

#include "../hash.hpp"
#include "adversary.hpp"

namespace simulate { namespace {

/// It tries orders of a block, and takes the one that brings its own nodes the most fees. The honest twin orders by
/// arrival. A task that it holds back comes with the next block, for a task that never comes would be missed.
class Orderer : public Adversary {
public:
    using Adversary::Adversary;

    auto order(Hand& hand, std::vector<std::uint32_t> block) -> std::vector<std::uint32_t> override {
        auto best = block;
        auto best_fees = fees_of(hand, block);
        for (std::int64_t tried = 1; tried < knobs().whole("orders"); ++tried) {
            auto other = shuffled(hand, block);
            const auto fees = fees_of(hand, other);
            if (fees <= best_fees) { continue; }
            best_fees = fees;
            best = std::move(other);
        }
        if (best != block) { hand.note("another order"); }
        const auto chosen = std::set<std::uint32_t>{best.begin(), best.end()};
        for (const auto task : block) {
            if (chosen.contains(task)) { continue; }
            hand.note("task held back");
            held_back_.insert(task);
        }
        return best;
    }

private:
    static auto fees_of(const Hand& hand, const std::vector<std::uint32_t>& tasks) -> std::int64_t {
        auto fees = std::int64_t{0};
        for (const auto& lease : hand.foresee(tasks)) { fees += hand.own(lease.node) ? hand.facts(lease.task).fee : 0; }
        return fees;
    }

    /// Another order, without some of the tasks that were not held back before.
    auto shuffled(const Hand& hand, std::vector<std::uint32_t> tasks) -> std::vector<std::uint32_t> {
        for (auto left = tasks.size(); left > 1; --left) {
            std::swap(tasks[left - 1], tasks[hand.random(++drawn_) % left]);
        }
        const auto permille = static_cast<std::uint64_t>(knobs()["held_back"] * 1'000);
        std::erase_if(tasks, [&](std::uint32_t task) {
            return !held_back_.contains(task) && hand.random(++drawn_) % 1'000 < permille;
        });
        return tasks;
    }

    std::set<std::uint32_t> held_back_{};
    std::uint64_t drawn_ = 0;
};

const auto registered = Registration{make_recipe<Orderer>({
    .name = "orderer",
    .attack = "who orders the submissions of each minute knows the entropy of each place, and has ten nodes",
    .twin = "the same orderer takes the submissions of each minute by arrival",
    .profits = "its own nodes get more of the tasks, and the dearer ones",
    .answer = "rounds, as for `chosen_id`: the order of submissions tells nothing of a later draw; who chooses both "
              "the order "
              "and the entropy is trusted",
    .cost = "half a second of waiting",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"orders", 16, 1, 256, "orders that it tries for a block"},
              {"held_back", 0, 0, 0.5, "part of a block's tasks that it holds back in a try"}},
    .cases = {{"13", "16 orders", {}},
              {"13a", "64 orders", {{"orders", 64}}},
              {"13c", "256 orders", {{"orders", 256}}},
              {"13b", "16 orders, and a quarter of a block is held back", {{"held_back", 0.25}}}},
    .means =
        [](const Scene& scene, const Knobs& knobs) {
            auto means = median_cards(scene, knobs.whole("cards"));
            means.block_ms = 60'000;
            return means;
        },
    .aim = "gain",
})};

}}  // namespace simulate

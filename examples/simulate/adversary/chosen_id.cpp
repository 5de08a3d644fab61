// An owner who knows the entropy of its submission, and looks for an id that is drawn to its own nodes.

#include <algorithm>
#include <cmath>

#include "adversary.hpp"

namespace simulate { namespace {

/// The honest twin has the same tasks and nodes, and takes the first id.
class ChosenId : public Adversary {
public:
    using Adversary::Adversary;

    auto submit(Hand& hand, Order& order) -> bool override {
        for (std::int64_t tried = 0; tried < knobs().whole("tries"); ++tried) {
            order.salt = static_cast<std::uint64_t>(tried);
            for (const auto& lease : hand.foresee(order)) {
                if (!hand.own(lease.node)) { continue; }
                hand.note("id found");
                return true;
            }
        }
        order.salt = 0;
        return true;
    }
};

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = median_cards(scene, knobs.whole("cards"));
    means.orders = own_orders(scene, knobs);
    return means;
}

const auto registered = Registration{make_recipe<ChosenId>({
    .name = "chosen_id",
    .attack = "an owner knows the entropy when it submits, and tries ids until the draw falls on an own node",
    .twin = "the same tasks have the first id that comes to hand",
    .profits = "its own nodes get back the fees that it pays, and the network's work, ahead of all others",
    .answer =
        "rounds, as here under `hardened` and `crynux_relay_2026`: tasks are drawn with entropy that comes after their "
        "submission; `hardened` refuses to draw them with any other, once it is told the rounds of the beacon",
    .cost = "half a second of waiting",
    .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
              {"tries", 256, 1, 4'096, "ids that it tries for a task"},
              {"price", 1, 0.001, 100, "fee a second, in medians of the network's tasks", true},
              {"run_ms", 15'000, 1'000, 3'600'000, "run time of its tasks", true},
              {"every_ms", 60'000, 100, 3'600'000, "time between two tasks", true}},
    .cases = {{"12", "256 ids", {}},
              {"12a", "16 ids", {{"tries", 16}}},
              {"12b", "4 ids", {{"tries", 4}}},
              {"12c", "1,024 ids", {{"tries", 1'024}}}},
    .means = &means,
    .aim = "own_node",
})};

}}  // namespace simulate

// Nodes that say they have models which they must load first.

#include <algorithm>

#include <fmt/format.h>

#include "../scenario.hpp"
#include "adversary.hpp"

namespace simulate { namespace {

constexpr auto new_model = "new-model";

/// It claims more than it has, and fetches what it is asked to, as everybody does. No node keeps what it loads for one
/// task, so what is only claimed is loaded each time.
class FalseLocality : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        auto claims = std::vector<std::string>{};
        if (knobs().is("all")) { claims = hand.scene().models; }
        if (knobs()["wanted"] > 0) { claims.emplace_back(new_model); }
        const auto only = static_cast<std::size_t>(knobs().whole("only"));
        for (std::uint32_t i = 0; i < hand.means().cards.size(); ++i) {
            auto spec = honest_spec(hand, i, fmt::format("own-{}", i));
            if (only > 0) { spec.models.clear(); }
            for (std::size_t m = 0; m < std::min(only, hand.scene().models.size()); ++m) {
                spec.models.push_back(hand.scene().models[m]);
            }
            spec.models.insert(spec.models.end(), claims.begin(), claims.end());
            std::sort(spec.models.begin(), spec.models.end());
            spec.models.erase(std::unique(spec.models.begin(), spec.models.end()), spec.models.end());
            hand.join(std::move(spec), i, hand.means().verdicts);
        }
    }

    auto lease(Hand& hand, const Work& work) -> Deed override {
        if (work.cold_ms > 0) { hand.note("task for a model that is not there"); }
        return Adversary::lease(hand, work);
    }

    /// The orders of the means are those for the new model.
    void event(Hand& hand, const allot::Event& event) override {
        const auto* started = std::get_if<allot::event::TaskStarted>(&event);
        if (started == nullptr || !hand.facts(started->lease.task).own) { return; }
        hand.note(hand.own(started->lease.node) ? "new model on an own node" : "new model elsewhere");
    }
};

/// Orders of honest owners for the new model: a part of what a load of 80 % offers.
void add_orders(Means& means, const Scene& scene, double wanted) {
    const auto every_ms = static_cast<double>(scene.run_ms) / (0.8 * wanted * scene.honest_nodes);
    auto number = std::int64_t{0};
    for (auto time = 0.0; time < static_cast<double>(scene.arrivals_end_ms); time += every_ms, ++number) {
        auto order = Order{};
        order.arrival_ms = static_cast<std::int64_t>(time);
        order.run_ms = scene.run_ms;
        order.declared_ms = scene.run_ms;
        order.fee = std::max(scene.fee_per_second * scene.run_ms / 1'000, std::int64_t{1});
        order.vram_min = 1;
        order.models = {new_model};
        order.owner = fmt::format("owner-{}", number % rule::owners);  // an honest one, who pays
        means.orders.push_back(order);
    }
}

const auto registered =
    Registration{make_recipe<FalseLocality>({
        .name = "false_locality",
        .attack = "nodes claim models that they do not have, and load them for each task anew",
        .twin = "the same cards claim what they have, and fetch what they are asked to",
        .profits = "its operator gains if a draw prefers the nodes that say they have the model",
        .answer = "`Hardened`: a draw among fewer than three holders of a model is opened to all nodes",
        .cost = "`rules.narrow_from`",
        .knobs = {{"cards", 10, 1, 200, "cards of the attacker", true},
                  {"all", 1, 0, 1, "they claim all models of the network"},
                  {"only", 0, 0, 1'000, "they claim so many of the models that are wanted most, and no other; 0: no"},
                  {"wanted", 0, 0, 0.5,
                   "part of all tasks that want a new model, which they claim and nobody has; 0: none", true},
                  {"cold_ms", 45'000, 0, 3'600'000, "time to load a missing model, on any node", true}},
        .cases = {{"2a", "10 cards claim all models", {}},
                  {"2a1", "the same, and a load takes 20 minutes, as a mean task does", {{"cold_ms", 1'200'000}}},
                  {"2a2", "10 cards claim the model that is wanted most, and no other", {{"all", 0}, {"only", 1}}},
                  {"2a3", "10 cards claim the five that are wanted most", {{"all", 0}, {"only", 5}}},
                  {"2b",
                   "1 card claims a new model that 3 % of the tasks want",
                   {{"cards", 1}, {"all", 0}, {"wanted", 0.03}}},
                  {"2b3", "3 cards claim it", {{"cards", 3}, {"all", 0}, {"wanted", 0.03}}}},
        .means =
            [](const Scene& scene, const Knobs& knobs) {
                auto means = median_cards(scene, knobs.whole("cards"));
                means.cold_ms = knobs.whole("cold_ms");
                if (knobs["wanted"] > 0) { add_orders(means, scene, knobs["wanted"]); }
                return means;
            },
    })};

}}  // namespace simulate

// An owner whose tasks name a model that only its own nodes claim.
//
// With a node free, the draw of `crynux_single` gives it all of its tasks (row 2c, enumerated), and that of `hardened`
// its share of the weight. Over a run its nodes do 2 % of them under `crynux_single`: after the first task ten honest
// nodes are told to fetch the model, and a task of others occupies a node for twenty minutes. Nodes that decline the
// tasks of others do 7 %; if no copies are asked for (`placement.holders_min=0`), all.

#include <algorithm>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

constexpr auto private_name = "private-model";

class PrivateModel : public Adversary {
public:
    using Adversary::Adversary;

    void join(Hand& hand) override {
        for (std::uint32_t i = 0; i < hand.means().cards.size(); ++i) {
            auto spec = honest_spec(hand, i, fmt::format("own-{}", i));
            spec.models.emplace_back(private_name);
            hand.join(std::move(spec), i, hand.means().verdicts);
        }
    }

    auto lease(Hand& hand, const Work& work) -> Deed override {
        if (!knobs().is("declines") || work.own_task) { return Adversary::lease(hand, work); }
        hand.note("declined");
        return Deed::decline();
    }

    auto submit(Hand&, Order& order) -> bool override {
        order.models = {private_name};
        return true;
    }

    void event(Hand& hand, const allot::Event& event) override {
        const auto* started = std::get_if<allot::event::TaskStarted>(&event);
        if (started == nullptr || !hand.facts(started->lease.task).own) { return; }
        hand.note(hand.own(started->lease.node) ? "own task on an own node" : "own task elsewhere");
    }
};

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = equal_cards(scene, knobs.whole("cards"), knobs.whole("cards") * knobs.whole("stake_each"));
    const auto run_ms = knobs.whole("run_ms");
    for (auto time = scene.arrivals_end_ms / 10; time < scene.arrivals_end_ms; time += knobs.whole("every_ms")) {
        auto order = Order{};
        order.arrival_ms = time;
        order.run_ms = run_ms;
        order.declared_ms = run_ms;
        order.fee = std::max(
            static_cast<std::int64_t>(static_cast<double>(scene.fee_per_second * run_ms) / 1'000 * knobs["price"]),
            std::int64_t{1});
        order.vram_min = 1;
        order.owner = "own";
        means.orders.push_back(order);
    }
    return means;
}

const auto registered = Registration{make_recipe<PrivateModel>({
    .name = "private_model",
    .attack = "an owner's tasks name a model that only its own nodes of hardly any stake claim",
    .twin = "the same tasks name no model, and the same nodes claim what they have",
    .profits = "its operator gains, for its own tasks raise the standing of its own nodes",
    .answer =
        "`Hardened`: a draw is narrowed to three holders of a model or more, if they weigh as much as three large "
        "nodes; else it is opened to all",
    .cost = "`rules.narrow_from`, `weight.holder_caps`",
    .knobs = {{"cards", 3, 1, 200, "cards of the attacker", true},
              {"stake_each", 1'000, 1, 1e12, "thousandths of a token for each card", true},
              {"declines", 0, 0, 1, "its nodes decline the tasks of others"},
              {"price", 1, 0.001, 100, "fee a second, in medians of the network's tasks", true},
              {"run_ms", 15'000, 1'000, 3'600'000, "run time of its tasks", true},
              {"every_ms", 60'000, 100, 3'600'000, "time between two tasks", true}},
    .cases = {{"2c", "3 nodes of a stake of 1", {}},
              {"2c1", "1 node of a stake of 1", {{"cards", 1}}},
              {"2c2", "2 nodes of a stake of 1", {{"cards", 2}}},
              {"2c3", "3 nodes that decline the tasks of others", {{"declines", 1}}}},
    .means = &means,
    .aim = "own_node",
})};

}}  // namespace simulate

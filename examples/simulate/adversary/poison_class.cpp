// Tasks that no node can finish, to occupy cards and to have their nodes blamed.
//
// Where the fee comes back, the price costs nothing. At twice the median price row 16 takes less than half of a card's
// revenue, for here the price of an honest task grows with its memory, and those that ask for a rare card go first. It
// then does more harm under `hardened` than under `crynux_single`, because waiting doubles a value every two hours: the
// backlog of endless tasks grows old, and overtakes dear honest ones. Without `rules.value_doubles_in` it does not.

#include <variant>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Who wants its tasks to fail needs to do nothing but to wait for them.
class PoisonClass : public Adversary {
public:
    using Adversary::Adversary;

    void event(Hand& hand, const allot::Event& event) override {
        const auto* started = std::get_if<allot::event::TaskStarted>(&event);
        if (started != nullptr && hand.facts(started->lease.task).own) { hand.note("endless attempt"); }
    }
};

/// The rarest card of at least ten nodes.
auto target_of(const Scene& scene) -> std::string {
    for (std::size_t i = 0; i < scene.counts.size(); ++i) {
        if (scene.counts[i] >= 10) { return scene.rarest_first[i].gpu; }
    }
    return scene.card.gpu;
}

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = Means{};
    means.target = knobs.is("aimed") ? target_of(scene) : std::string{};
    const auto declared_ms = knobs.whole("declared_ms");
    auto number = std::int64_t{0};
    const auto every_ms = 10'000.0 / (knobs["per_10_s"] * scene.honest_nodes / 1'000);
    for (auto time = 0.0; time < static_cast<double>(scene.arrivals_end_ms); time += every_ms, ++number) {
        auto order = Order{};
        order.arrival_ms = static_cast<std::int64_t>(time);
        order.run_ms = declared_ms;
        order.declared_ms = declared_ms;
        order.fee =
            static_cast<std::int64_t>(static_cast<double>(scene.fee_per_second * declared_ms) / 1'000 * knobs["price"]);
        order.vram_min = 1;
        if (knobs.is("aimed")) { order.gpus = {means.target}; }
        order.owner = fmt::format("own-{}", number % knobs.whole("owners"));
        order.endless = true;
        means.orders.push_back(order);
    }
    return means;
}

const auto registered = Registration{make_recipe<PoisonClass, Silent>({
    .name = "poison_class",
    .attack = "owners submit tasks that never end on any node, at random or to one class of cards",
    .twin = "the owners submit nothing and keep their money",
    .profits =
        "an operator of other cards gains, for the nodes that run these tasks are busy for nothing and may be excluded",
    .answer =
        "`Hardened`: three failures end a task and forfeit its fee; a node is blamed once another has finished the "
        "task",
    .cost = "`terms.poisoned_from`, `terms.fee_per_second_min`",
    .knobs = {{"per_10_s", 10, 0.1, 1'000, "tasks in ten seconds, for a network of 1,000 nodes", true},
              {"owners", 40, 1, 1'000, "names of owners"},
              {"price", 2, 0.01, 1'000, "fee a second, in medians of the network's tasks"},
              {"declared_ms", 30'000, 1, 3'600'000, "declared run time"},
              {"aimed", 0, 0, 1, "at the rarest card of at least ten nodes"}},
    .cases = {{"15", "at random", {}},
              {"16",
               "at one class of cards, at 100 times the median price",
               {{"aimed", 1}, {"per_10_s", 6}, {"price", 100}}},
              {"16b", "the same at twice the median price", {{"aimed", 1}, {"per_10_s", 6}}}},
    .means = &means,
    .aim = "harm",
})};

}}  // namespace simulate

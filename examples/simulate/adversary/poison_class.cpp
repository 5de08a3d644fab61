// Tasks that no node can finish, to occupy cards and to have their nodes blamed.
//
// Where the fee comes back, the price costs nothing. At twice the median price row 16 takes less than half of a card's
// revenue, for here the price of an honest task grows with its memory, and those that ask for a rare card go first. It
// then does more harm under `hardened` than under `crynux_single`, because waiting doubles a value every two hours: the
// backlog of endless tasks grows old, and overtakes dear honest ones. Without `rules.value_doubles_in` it does not.

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

/// Who wants its tasks to fail needs to do nothing but to wait for them, or withdraws them before they are poisoned.
class PoisonClass : public Adversary {
public:
    using Adversary::Adversary;

    void event(Hand& hand, const allot::Event& event) override {
        if (const auto* started = std::get_if<allot::event::TaskStarted>(&event)) {
            const auto& lease = started->lease;
            if (!hand.facts(lease.task).own) { return; }
            hand.note("endless attempt");
            if (!knobs().is("before_end_ms")) { return; }
            const auto length_ms = lease.deadline.time_since_epoch().count() - hand.now_ms();
            hand.wake(std::max(std::int64_t{0}, length_ms - knobs().whole("before_end_ms")), to_withdraw_.size());
            to_withdraw_.push_back(lease.task);
        }
        if (const auto* retried = std::get_if<allot::event::TaskRetried>(&event)) {
            if (!hand.facts(retried->task).own) { return; }
            if (++failures_[retried->task] == knobs().whole("after_failures")) { withdraw(hand, retried->task); }
        }
    }
    void woken(Hand& hand, std::uint64_t number) override { withdraw(hand, to_withdraw_[number]); }

private:
    static void withdraw(Hand& hand, const allot::TaskId& task) {
        hand.note("withdrawn");
        hand.cancel(task);
    }

    std::map<allot::TaskId, std::int64_t> failures_{};
    std::vector<allot::TaskId> to_withdraw_{};
};

/// The rarest card of at least so many nodes.
auto target_of(const Scene& scene, std::int64_t nodes) -> std::string {
    for (std::size_t i = 0; i < scene.counts.size(); ++i) {
        if (scene.counts[i] >= nodes) { return scene.rarest_first[i].gpu; }
    }
    return scene.card.gpu;
}

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = Means{};
    means.target = knobs.is("aimed") ? target_of(scene, knobs.whole("nodes")) : std::string{};
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
    .answer = "`Hardened`: three failures end a task, and its owner pays for each lease in vain, more in a full queue; "
              "a node is "
              "blamed once another has finished the task",
    .cost = "`terms.paid`, `terms.poisoned_from`, `terms.fee_per_second_min`",
    .knobs = {{"per_10_s", 10, 0.1, 1'000, "tasks in ten seconds, for a network of 1,000 nodes", true},
              {"owners", 40, 1, 1'000, "names of owners"},
              {"price", 2, 0.01, 1'000, "fee a second, in medians of the network's tasks"},
              {"declared_ms", 30'000, 1, 3'600'000, "declared run time"},
              {"aimed", 0, 0, 1, "at the rarest card of enough nodes"},
              {"nodes", 10, 1, 1'000, "nodes that have the card at which it aims, at least"},
              {"after_failures", 0, 0, 10, "failures after which a task is withdrawn; 0: never"},
              {"before_end_ms", 0, 0, 3'600'000,
               "time before the end of its lease at which it is withdrawn; 0: never"}},
    .cases = {{"15", "at random", {}},
              {"15b", "the same, each withdrawn after its first failure", {{"after_failures", 1}}},
              {"15c", "after its second failure", {{"after_failures", 2}}},
              {"15d", "a second before its first lease ends", {{"before_end_ms", 1'000}}},
              {"16",
               "at one class of cards, at 100 times the median price",
               {{"aimed", 1}, {"per_10_s", 6}, {"price", 100}}},
              {"16b", "the same at twice the median price", {{"aimed", 1}, {"per_10_s", 6}}},
              {"16c",
               "the same at the rarest card that two nodes have at least",
               {{"aimed", 1}, {"per_10_s", 6}, {"nodes", 2}}}},
    .means = &means,
    .aim = "harm",
})};

}}  // namespace simulate

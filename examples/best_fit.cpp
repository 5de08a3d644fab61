// The two points of decision: which node runs a task (the weight) and which task goes first (the value). A pool and a
// queue are indices: they make the decision fast and never change it.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <allot/allot.hpp>
#include <allot/laws.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

namespace {

// ---- best fit: the card that wastes the least memory ----------------------------------------------------------------

/// The default weight, divided by the memory that the task would leave unused. Because of `weight_max`, no node weighs
/// more than its stored bound, and draws stay O(log n).
struct BestFit {
    using role = allot::role::weight;
    static constexpr bool monotone = true;

    auto weight(const allot::Node& node, const allot::Task&, allot::Factors factors,
                const allot::Situation& situation) const -> allot::Weight {
        const auto has = std::uint64_t{situation.node_class.vram.count};
        const auto asked = std::uint64_t{situation.requirement.vram_min.count};
        return weight_max(node, factors).scaled(1, has > asked ? 1 + (has - asked) : 1);
    }
    auto weight_max(const allot::Node& node, allot::Factors factors) const -> allot::Weight {
        return allot::HarmonicWeight{}.weight(node, {}, factors);
    }
};

// ---- first come, first served: earlier is worth more ----------------------------------------------------------------

struct FirstComeFirstServed {
    using role = allot::role::valuation;

    auto value(const allot::Task& task, const allot::Requirement&) const -> allot::Value {
        return allot::u128{~task.sequence};
    }
};

// ---- fair share: owners that had little go first --------------------------------------------------------------------

/// The embedder knows how much work each owner had, and writes it into a label of the task: `had:3600` for an hour.
struct FairShare {
    using role = allot::role::valuation;

    auto value(const allot::Task& task, const allot::Requirement&) const -> allot::Value {
        auto had = std::uint64_t{0};
        for (const auto& label : task.labels()) {
            if (label.rfind("had:", 0) == 0) {
                (void)std::from_chars(label.data() + 4, label.data() + label.size(), had);  // not a number counts as 0
            }
        }
        return {allot::u128{1'000'000}, 1 + had};
    }
};

/// Returns how many of 1,000 small tasks a large card gets when a small card competes.
template <class Weight>
auto of_the_large_card() -> int {
    auto dispatcher = allot::Dispatcher{Weight{}};
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    (void)dispatcher.join({.id = "small", .gpu = "RTX 4060", .vram = 8_GiB, .stake = 400}, now).or_throw();
    (void)dispatcher.join({.id = "large", .gpu = "A100", .vram = 80_GiB, .stake = 400}, now).or_throw();
    auto large = 0;
    for (auto task = 0; task < 1'000; ++task) {
        now.entropy = task;
        const auto placed =
            dispatcher.submit({.id = task, .vram_min = 8_GiB, .duration_estimate = 20s}, now).or_throw();
        large += placed.lease()->node == allot::NodeId{"large"} ? 1 : 0;
        (void)dispatcher.complete(*placed.lease(), now).or_throw();
    }
    return large;
}

/// Returns the task that a node takes first of two. The one submitted second pays more, and its owner had more.
template <class Valuation>
auto first_of_two() -> std::string {
    auto dispatcher = allot::Dispatcher{Valuation{}};
    const auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 2026};
    const auto wait = [&](const char* id, allot::Amount fee, const char* had) {
        auto task = allot::TaskSpec{.id = id, .vram_min = 8_GiB, .fee = fee, .duration_estimate = 20s};
        task.labels = {had};
        (void)dispatcher.submit(task, now).or_throw();
    };
    wait("first", 10, "had:0");
    wait("second", 90, "had:3600");
    const auto joined = dispatcher.join({.id = "node", .gpu = "RTX 4060", .vram = 8_GiB, .stake = 400}, now).or_throw();
    return joined.lease()->task.text();
}

}  // namespace

int main() {
    for (const auto& finding : {allot::laws::monotone(BestFit{}), allot::laws::pure(BestFit{})}) {
        if (finding) {
            std::printf("BestFit is no lawful weight: %s\n", finding->c_str());
            return 1;
        }
    }
    const auto by_default = of_the_large_card<allot::HarmonicWeight>();
    const auto best_fit = of_the_large_card<BestFit>();
    std::printf("of 1000 small tasks the large card gets %d by default, and %d by best fit\n", by_default, best_fit);

    const auto value = first_of_two<allot::FeePerSecond>();
    const auto order = first_of_two<FirstComeFirstServed>();
    const auto share = first_of_two<FairShare>();
    std::printf("by fee the %s task goes first, by order the %s, by share the %s\n", value.c_str(), order.c_str(),
                share.c_str());
    return by_default > 400 && best_fit < 50 && value == "second" && order == "first" && share == "first" ? 0 : 1;
}

// Policies of your own: an eligibility policy with its own reasons, a weight, and lease terms. Each is a plain struct
// that names its role. Each can be checked against the laws of its role before it is used in a dispatcher.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/explain/survey.hpp>
#include <allot/laws.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

namespace {

// ---- eligibility: reasons from 64 up are ours ----------------------------------------------------------------------

constexpr auto region_differs = allot::Reason{64};
constexpr auto still_on_probation = allot::Reason{65};

auto has(std::span<const std::string> labels, const std::string& label) -> bool {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// A task that names a region runs there, and a node on probation takes only tasks without an owner.
struct House {
    using role = allot::role::eligibility;

    // This house accepts every class of hardware.
    auto fits(const allot::NodeClass&, const allot::Requirement&) const -> allot::Reason { return allot::Reason::none; }

    auto admits(const allot::Node& node, const allot::Task& task, const allot::Situation&) const -> allot::Reason {
        for (const auto& label : task.labels()) {
            if (label.rfind("region:", 0) == 0 && !has(node.labels(), label)) { return region_differs; }
        }
        return task.notify_to() && has(node.labels(), "probation") ? still_on_probation : allot::Reason::none;
    }
};

// ---- weight: green power counts one and a half times ----------------------------------------------------------------

/// Depends on the node's labels and on the factors, never on the task, so draws stay O(log n).
struct GreenFirst {
    using role = allot::role::weight;
    static constexpr bool monotone = true;

    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors factors) const -> allot::Weight {
        const auto weight = allot::HarmonicWeight{}.weight(node, task, factors);
        return has(node.labels(), "green") ? weight.scaled(3, 2) : weight;
    }
};

// ---- terms: short leases, another node after a timeout --------------------------------------------------------------

struct Impatient {
    using role = allot::role::terms;

    auto length(const allot::Node&, const allot::Task& task) const -> allot::Duration {
        return task.duration_estimate + 5s;
    }
    auto length_max(const allot::Node& node, const allot::Task& task) const -> allot::Duration {
        return 2 * length(node, task);
    }
    auto patience(const allot::Task&) const -> allot::Duration { return 10min; }
    auto after(const allot::Task& task, allot::OutcomeKind outcome) const -> allot::Next {
        const auto again = outcome == allot::OutcomeKind::timeout && task.attempt < 2;
        return again ? allot::Next::retry_elsewhere : allot::Next::end;
    }
};

auto lawful(const char* name, const allot::laws::Finding& finding) -> bool {
    std::printf("%s: %s\n", name, finding ? finding->c_str() : "keeps its law");
    return !finding;
}

void show(const allot::Events& events) {
    events.each(
        [](const allot::event::TaskStarted& e) {
            std::printf("  task %s runs on %s\n", e.lease.task.text().c_str(), e.lease.node.text().c_str());
        },
        [](const allot::event::TaskQueued& e) { std::printf("  task %s waits\n", e.task.text().c_str()); },
        [](const allot::event::TaskRetried& e) { std::printf("  task %s starts over\n", e.task.text().c_str()); },
        [](const allot::event::TaskTimedOut& e) { std::printf("  task %s timed out\n", e.task.text().c_str()); });
}

}  // namespace

int main() {
    if (!lawful("House", allot::laws::pure(House{})) || !lawful("GreenFirst", allot::laws::monotone(GreenFirst{})) ||
        !lawful("Impatient", allot::laws::positive(Impatient{}))) {
        return 1;
    }

    auto dispatcher = allot::Dispatcher{allot::AllOf{allot::HardwareFit{}, House{}}, GreenFirst{}, Impatient{}};
    auto now = allot::Moment{.time = allot::TimePoint{}, .entropy = 7};
    const auto join = [&](const char* name, std::vector<std::string> labels) {
        (void)dispatcher
            .join({.id = name, .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400, .labels = std::move(labels)}, now)
            .or_throw();
    };
    join("oslo", {"region:north", "green"});
    join("turin", {"region:south"});
    join("bergen", {"region:north", "probation"});

    std::printf("a task of alice's for the north:\n");
    show(dispatcher
             .submit({.id = "render",
                      .vram_min = 16_GiB,
                      .fee = 10,
                      .duration_estimate = 20s,
                      .owner = "alice",
                      .labels = {"region:north"}},
                     now)
             .or_throw());
    std::printf("another one, though bergen is free:\n");
    show(dispatcher
             .submit({.id = "upscale",
                      .vram_min = 16_GiB,
                      .fee = 10,
                      .duration_estimate = 20s,
                      .owner = "alice",
                      .labels = {"region:north"}},
                     now)
             .or_throw());

    // Why not on the free node? The View asks the same policy.
    const auto reason = allot::why_not(dispatcher, allot::question(dispatcher, "upscale").value(), "bergen").value();
    std::printf("  bergen refuses it for reason %u\n", static_cast<unsigned>(reason));

    std::printf("oslo does not answer in time:\n");
    now.time += 25s;
    show(dispatcher.advance(now));
    return reason == still_on_probation ? 0 : 1;
}

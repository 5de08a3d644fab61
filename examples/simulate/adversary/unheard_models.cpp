// Cheap tasks that name many models of which nobody has heard, so that nodes are told to fetch them.

#include <fmt/format.h>

#include "adversary.hpp"

namespace simulate { namespace {

class UnheardModels : public Adversary {
public:
    using Adversary::Adversary;

    void event(Hand& hand, const allot::Event& event) override {
        const auto* wanted = std::get_if<allot::event::ModelWanted>(&event);
        if (wanted != nullptr && wanted->model.view().starts_with("unheard-")) { hand.note("fetch of a model"); }
    }
};

auto means(const Scene& scene, const Knobs& knobs) -> Means {
    auto means = Means{};
    const auto run_ms = knobs.whole("run_ms");
    for (std::int64_t task = 0; task < knobs.whole("tasks"); ++task) {
        auto order = Order{};
        order.arrival_ms = scene.arrivals_end_ms / 10 + task * knobs.whole("every_ms");
        order.run_ms = run_ms;
        order.declared_ms = run_ms;
        order.fee = knobs.whole("fee");
        order.vram_min = 1;
        for (std::int64_t i = 0; i < knobs.whole("models"); ++i) {
            order.models.push_back(fmt::format("unheard-{}-{}", task, i));
        }
        order.owner = "own";
        means.orders.push_back(order);
    }
    return means;
}

const auto registered = Registration{make_recipe<UnheardModels, Silent>({
    .name = "unheard_models",
    .attack = "an owner's cheap tasks name 64 models each of which nobody has heard",
    .twin = "the owner submits nothing and keeps its money",
    .profits = "no party gains; nodes are told to fetch models that no other task wants",
    .answer =
        "`BoundedRequests`: the start of a task asks for 32 copies at most, of all its models together, and a node "
        "that neither runs nor reports a model for a day is no holder of it any more",
    .cost = "`placement.copies_max`, `placement.held_for`",
    .knobs = {{"tasks", 20, 1, 10'000, "tasks"},
              {"models", 64, 1, 64, "models that a task names"},
              {"fee", 1, 1, 1e9, "fee of a task"},
              {"run_ms", 1'000, 1, 3'600'000, "run time of a task"},
              {"every_ms", 10'000, 1, 3'600'000, "time between two tasks"}},
    .cases = {{"2d", "20 tasks of 64 models for a fee of 1, or the least that is taken", {}}},
    .means = &means,
    .aim = "harm",
})};

}}  // namespace simulate

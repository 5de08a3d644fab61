// An owner that declares another run time than it knows.

#include <algorithm>
#include <cmath>

#include "adversary.hpp"

namespace simulate { namespace {

class UnderDeclare : public Adversary {
public:
    using Adversary::Adversary;

    auto submit(Hand& hand, Order& order) -> bool override {
        hand.note("false time");
        order.declared_ms = std::max(std::llround(static_cast<double>(order.declared_ms) * knobs()["times"]), 1LL);
        return true;
    }
};

const auto registered = Registration{make_recipe<UnderDeclare>({
    .name = "under_declare",
    .attack = "an owner of short tasks at a low price declares a fraction, or a multiple, of the true run time",
    .twin = "the same owner declares true times",
    .profits =
        "its owner is served before owners that pay more, for the value of a task is its fee over the declared time",
    .answer = "`Hardened`: a task is worth its fee for each second that is reserved, not for each that is declared",
    .cost = "not measured: no parameter turns it off",
    .knobs = {{"times", 0.001, 0.00001, 100, "declared time in true times"},
              {"price", 0.1, 0.001, 100, "fee a second, in medians of the network's tasks", true},
              {"run_ms", 15'000, 1'000, 3'600'000, "true run time of its tasks", true},
              {"every_ms", 20'000, 100, 3'600'000, "time between two tasks", true}},
    .cases = {{"14", "a thousandth of the time", {}},
              {"14b", "a tenth", {{"times", 0.1}}},
              {"14c", "half", {{"times", 0.5}}},
              {"14d", "twice", {{"times", 2}}},
              {"14e", "ten times", {{"times", 10}}}},
    .means = [](const Scene& scene, const Knobs& knobs) { return Means{.orders = own_orders(scene, knobs)}; },
    .aim = "price_gain",
    .measures_price = true,
})};

}}  // namespace simulate

#include "adversary.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace simulate {
namespace {

auto registry() -> std::vector<Recipe>& {
    static auto all = std::vector<Recipe>{};
    return all;
}

}  // namespace

auto Knobs::operator[](std::string_view name) const -> double {
    for (const auto& knob : knobs_) {
        if (knob.name == name) { return knob.value; }
    }
    throw std::invalid_argument{fmt::format("there is no knob \"{}\"", name)};
}

auto Knobs::whole(std::string_view name) const -> std::int64_t { return std::llround((*this)[name]); }

void Knobs::set(std::string_view name, double value) {
    auto known = std::string{};
    for (auto& knob : knobs_) {
        known += fmt::format("{}{} from {:g} to {:g}", known.empty() ? "" : ", ", knob.name, knob.min, knob.max);
        if (knob.name == name && value >= knob.min && value <= knob.max) {
            knob.value = value;
            return;
        }
    }
    throw std::invalid_argument{fmt::format("no knob \"{}\" takes {:g}; there are {}", name, value, known)};
}

auto equal_cards(const Scene& scene, std::int64_t count, std::int64_t stake_milli) -> Means {
    auto means = Means{};
    means.cards.assign(static_cast<std::size_t>(count), scene.card);
    for (std::size_t i = 0; i < means.cards.size() && !scene.disks.empty(); ++i) {
        means.cards[i].models = scene.disks[i % scene.disks.size()];
    }
    means.stake_milli = stake_milli;
    return means;
}

auto own_orders(const Scene& scene, const Knobs& knobs) -> std::vector<Order> {
    auto orders = std::vector<Order>{};
    const auto run_ms = knobs.whole("run_ms");
    const auto fee =
        std::llround(static_cast<double>(scene.fee_per_second) * static_cast<double>(run_ms) / 1'000 * knobs["price"]);
    for (auto time = scene.arrivals_end_ms / 10; time < scene.arrivals_end_ms; time += knobs.whole("every_ms")) {
        auto order = Order{};
        order.arrival_ms = time;
        order.run_ms = run_ms;
        order.declared_ms = run_ms;
        order.fee = std::max(fee, 1LL);
        order.vram_min = 1;
        order.owner = "own";
        orders.push_back(order);
    }
    return orders;
}

auto median_cards(const Scene& scene, std::int64_t count) -> Means {
    return equal_cards(scene, count, count * scene.stake_milli);
}

auto gone_of(const allot::Event& event) -> std::optional<Gone> {
    namespace e = allot::event;
    const auto of = [](const auto* gone) -> std::optional<Gone> {
        if (gone == nullptr) { return std::nullopt; }
        return Gone{gone->node, static_cast<std::int64_t>(gone->stake_returned.units.low())};
    };
    if (const auto left = of(std::get_if<e::NodeLeft>(&event))) { return left; }
    if (const auto displaced = of(std::get_if<e::NodeDisplaced>(&event))) { return displaced; }
    return of(std::get_if<e::NodeKickedOut>(&event));
}

auto Adversary::spec_of(const Card& card, const std::string& id, std::string_view operator_id, std::int64_t stake_milli)
    -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = card.gpu;
    spec.vram = allot::Gibibytes{card.vram};
    spec.stake = allot::Amount{static_cast<std::uint64_t>(std::max(stake_milli, std::int64_t{1}))};
    spec.models = card.models;
    spec.operator_id = allot::OperatorId{operator_id};
    return spec;
}

auto Adversary::honest_spec(const Hand& hand, std::uint32_t card, const std::string& id) -> allot::NodeSpec {
    const auto& means = hand.means();
    return spec_of(means.cards[card], id, "own", means.stake_milli / static_cast<std::int64_t>(means.cards.size()));
}

void Adversary::join(Hand& hand) {
    for (std::uint32_t i = 0; i < hand.means().cards.size(); ++i) {
        hand.join(honest_spec(hand, i, fmt::format("own-{}", i)), i, hand.means().verdicts);
    }
}

auto Adversary::submit(Hand&, Order&) -> bool { return true; }

auto Adversary::lease(Hand&, const Work& work) -> Deed {
    return work.endless ? Deed::stall() : Deed::complete(work.run_ms);
}

auto recipes() -> const std::vector<Recipe>& { return registry(); }

Registration::Registration(Recipe recipe) {
    if (!recipe.make_twin) {
        recipe.twin_is_honest = true;
        recipe.make_twin = [](const Knobs& knobs) -> std::unique_ptr<Adversary> {
            return std::make_unique<Adversary>(knobs);
        };
    }
    auto& all = registry();
    const auto after = [](const std::string& name, const Recipe& other) { return name < other.name; };
    all.insert(std::upper_bound(all.begin(), all.end(), recipe.name, after), std::move(recipe));
}

}  // namespace simulate

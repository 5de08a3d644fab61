#include "exact.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "compare.hpp"
#include "network.hpp"

namespace simulate {
namespace {

constexpr auto honest_stake = std::int64_t{77'000};
constexpr auto large_stake = std::int64_t{90'000};
constexpr auto milli = std::int64_t{1'000};
constexpr auto model = "model of the attacker";

auto whole(allot::u128 number) -> boost::multiprecision::cpp_int {
    return (boost::multiprecision::cpp_int{number.high()} << 64U) + number.low();
}

/// The network of a case, before the task.
struct Stage {
    std::unique_ptr<Network> network{};
    allot::TaskSpec task;
    allot::Moment now{};
};

auto stage_of(const Contender& contender, const ExactCase& one, const OwnNodes& own) -> Stage {
    const auto& preset = find_preset(contender.preset);
    auto settings = std::vector<std::string>{"rules.class_nodes_min=0"};  // else no small network gets a task
    // Each submission is drawn at once, not in rounds.
    if (preset.round_ms > 0 && !preset.relay) { settings.emplace_back("terms.round_period=0"); }
    settings.insert(settings.end(), contender.settings.begin(), contender.settings.end());
    auto stage =
        Stage{open_network(preset, {static_cast<std::uint64_t>(large_stake * milli)}, settings), {.id = 1}, {}};
    const auto join = [&](const std::string& id, const std::string& name, std::int64_t stake, bool claims) {
        auto spec = allot::NodeSpec{.id = id};
        spec.gpu = "card";
        spec.vram = allot::Gibibytes{24};
        spec.stake = allot::Amount{static_cast<std::uint64_t>(stake * milli)};
        spec.operator_id = allot::OperatorId{name};
        if (claims) { spec.models.emplace_back(model); }
        if (!stage.network->apply(allot::command::Join{spec}, stage.now).accepted()) {
            throw std::logic_error{id + ": refused"};
        }
        for (auto verdict = 0; verdict < 12; ++verdict) {  // as in the worlds, so that all are known
            (void)stage.network->apply(allot::command::Score{spec.id, stage.network->points_max() / 2}, stage.now);
        }
    };
    for (std::uint32_t i = 0; i < one.honest_nodes; ++i) {
        const auto id = fmt::format("honest-{}", i);
        join(id, id, honest_stake, false);
    }
    for (std::uint32_t i = 0; i < own.count; ++i) {
        const auto id = fmt::format("own-{}", i);
        join(id, own.one_operator ? "own" : id, own.stake, own.claims_model);
    }
    stage.task.vram_min = allot::Gibibytes{1};
    if (own.claims_model) { stage.task.models.emplace_back(model); }
    stage.task.fee = allot::Amount{1U};
    stage.task.duration_estimate = std::chrono::seconds{60};
    stage.task.gang_size = preset.gang_size;
    if (preset.gang_size > 1 && stage.network->draw_among() > 1) {
        throw std::invalid_argument{contender.text + ": shares of gangs are not enumerated where a lot decides"};
    }
    return stage;
}

auto is_own(const allot::NodeId& node) -> bool { return node.text().starts_with("own-"); }

/// The nodes that a draw can choose, and how many are drawn. A gang that has taken all of them takes the rest from the
/// others, for its models narrow, and do not refuse.
struct Frame {
    std::vector<std::pair<allot::u128, bool>> nodes{};
    std::vector<std::pair<allot::u128, bool>> others{};
    std::uint32_t among = 1;

    [[nodiscard]] auto own_share(std::uint32_t drawn) const -> Rational {
        if (others.empty() || drawn <= nodes.size()) { return drawn_share(nodes, drawn); }
        const auto first = static_cast<std::uint32_t>(nodes.size());
        const auto rest = drawn - first;
        return (drawn_share(nodes, first) * first + drawn_share(others, rest) * rest) / drawn;
    }
};

auto frame_of(const Contender& contender, const ExactCase& one, const OwnNodes& own) -> Frame {
    const auto stage = stage_of(contender, one, own);
    auto frame = Frame{{}, {}, std::max(stage.network->draw_among(), stage.task.gang_size)};
    const auto first = stage.network->weights(stage.task);
    for (const auto& [node, weight] : first) { frame.nodes.emplace_back(weight, is_own(node)); }
    if (stage.task.gang_size == 1) { return frame; }
    auto any = stage.task;
    any.models.clear();
    for (const auto& [node, weight] : stage.network->weights(any)) {
        const auto is_first = [&](const auto& one_of_first) { return one_of_first.first == node; };
        if (std::none_of(first.begin(), first.end(), is_first)) { frame.others.emplace_back(weight, is_own(node)); }
    }
    return frame;
}

auto names(std::string row, std::uint32_t honest_nodes, std::uint32_t count) -> ExactCase {
    return {std::move(row),
            fmt::format("a stake of {} over {} names beside {} of that stake", honest_stake, count, honest_nodes),
            honest_nodes,
            {.count = count, .stake = honest_stake / count, .one_operator = false},
            {.count = 1, .stake = honest_stake / count * count}};
}

auto private_model(std::string row, std::uint32_t count) -> ExactCase {
    return {std::move(row),
            fmt::format("tasks name a model that {} of a stake of 1 claim alone, beside 100 honest nodes",
                        count == 1 ? std::string{"a node"} : fmt::format("{} nodes", count)),
            100,
            {.count = count, .stake = 1, .claims_model = true},
            {.count = count, .stake = 1}};
}

}  // namespace

auto exact_cases() -> const std::vector<ExactCase>& {
    static const auto all = std::vector<ExactCase>{
        names("1a", 100, 16),
        names("1a4", 100, 4),
        names("1a100", 100, 100),
        names("1b", 2, 16),
        names("1b3", 3, 16),
        names("1b5", 5, 16),
        names("1b10", 10, 16),
        {"1c",
         "16 names of a stake of 1 beside 2 honest nodes",
         2,
         {.count = 16, .stake = 1, .one_operator = false},
         {.count = 1, .stake = 16}},
        {"1i",
         "16 nodes of the stake of a large one, each with an operator of its own, beside 100 honest nodes",
         100,
         {.count = 16, .stake = large_stake, .one_operator = false},
         {.count = 16, .stake = large_stake}},
        private_model("2c", 3),
        private_model("2c2", 2),
        private_model("2c1", 1),
    };
    return all;
}

auto exact_measures() -> std::vector<std::string> {
    return {"draw_gain", "draw_share", "share_excess", "weight_share"};
}

auto drawn_share(const std::vector<std::pair<allot::u128, bool>>& nodes, std::uint32_t among) -> Rational {
    auto kinds = std::map<std::pair<allot::u128, bool>, std::uint32_t>{};
    for (const auto& node : nodes) { ++kinds[node]; }
    const auto drawn = std::min<std::size_t>(among, nodes.size());
    // By number of nodes drawn of each kind: the probability to have drawn these, in any order.
    auto states = std::map<std::vector<std::uint32_t>, Rational>{{std::vector<std::uint32_t>(kinds.size()), 1}};
    for (std::size_t step = 0; step < drawn; ++step) {
        auto next = decltype(states){};
        for (const auto& [state, probability] : states) {
            auto total = boost::multiprecision::cpp_int{0};
            auto place = std::size_t{0};
            for (const auto& [kind, count] : kinds) { total += whole(kind.first) * (count - state[place++]); }
            place = 0;
            for (const auto& [kind, count] : kinds) {
                const auto weight = boost::multiprecision::cpp_int{whole(kind.first) * (count - state[place])};
                if (weight > 0) {
                    auto after = state;
                    ++after[place];
                    next[after] += probability * Rational{weight, total};
                }
                ++place;
            }
        }
        states = std::move(next);
    }
    auto share = Rational{0};
    for (const auto& [state, probability] : states) {
        auto place = std::size_t{0};
        for (const auto& [kind, count] : kinds) {
            if (kind.second) { share += probability * state[place]; }
            ++place;
        }
    }
    return drawn == 0 ? Rational{0} : Rational{share / drawn};
}

auto enumerate(const Contender& contender, const ExactCase& one) -> std::map<std::string, Measure> {
    const auto attack = frame_of(contender, one, one.attack);
    const auto honest = frame_of(contender, one, one.honest);
    const auto draws = attack.own_share(attack.among);
    const auto weight = honest.own_share(1);
    const auto fair = honest.own_share(honest.among);
    const auto exact = [](const Rational& value) { return Measure{value.convert_to<double>(), 0}; };
    auto measures = std::map<std::string, Measure>{
        {"draw_share", exact(draws)}, {"weight_share", exact(weight)}, {"share_excess", exact(draws - weight)}};
    if (fair > 0) { measures["draw_gain"] = exact(draws / fair); }
    return measures;
}

auto sampled_share(const Contender& contender, const ExactCase& one, std::uint32_t draws) -> double {
    auto stage = stage_of(contender, one, one.attack);
    auto leases = 0.0;
    auto own = 0.0;
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        stage.now.entropy = allot::Entropy{draw};
        const auto submit = std::array{std::pair{Verb{allot::command::Submit{stage.task}}, stage.now}};
        for (const auto& event : stage.network->foresee(submit)) {
            const auto* started = std::get_if<allot::event::TaskStarted>(&event);
            if (started == nullptr) { continue; }
            leases += 1;
            own += is_own(started->lease.node) ? 1 : 0;
        }
    }
    return leases > 0 ? own / leases : 0;
}

}  // namespace simulate

#include "outcome.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "minorities.hpp"

namespace simulate {
namespace {

constexpr auto given_up_ms = std::int64_t{3'600'000};

using Json = nlohmann::ordered_json;

/// Calls `f(name, number)` for each number of an outcome but the list.
template <class O, class F>
void each_number(O& outcome, const F& f) {
    const auto account = [&](const std::string& name, auto& one) {
        f(name + "_earned", one.earned);
        f(name + "_spent", one.spent);
        f(name + "_to_others", one.to_others);
        f(name + "_forfeited", one.forfeited);
        f(name + "_slashed", one.slashed);
    };
    account("own", outcome.own);
    account("honest", outcome.honest);
    f("own_cards", outcome.own_cards);
    f("honest_nodes", outcome.honest_nodes);
    f("honest_exclusions", outcome.honest_exclusions);
    f("framed", outcome.framed);
    f("leased_ms", outcome.leased_ms);
    f("starts", outcome.starts);
    f("own_starts", outcome.own_starts);
    f("failed", outcome.failed);
    f("own_orders", outcome.own_orders);
    f("own_done", outcome.own_done);
    f("own_done_at_home", outcome.own_done_at_home);
    f("own_sojourn_ms", outcome.own_sojourn_ms);
    f("target_nodes", outcome.target_nodes);
    f("target_earned", outcome.target_earned);
    f("small_stakes_earned", outcome.small_stakes_earned);
    f("state_bytes", outcome.state_bytes);
}

}  // namespace

auto outcome_of(const Run& run, const Means& means) -> Outcome {
    auto outcome = Outcome{};
    outcome.own_cards = static_cast<std::int64_t>(means.cards.size());
    outcome.own = run.money.side(true);
    outcome.honest = run.money.side(false);
    outcome.honest_nodes = run.honest_nodes;
    outcome.leased_ms = static_cast<std::int64_t>(run.results.leased_ms);
    outcome.state_bytes = static_cast<std::int64_t>(run.state_bytes);
    const auto minorities = minorities_of(run.scenario, run.honest_nodes, 0);
    for (std::uint32_t i = 0; i < run.nodes.size(); ++i) {
        const auto& node = run.nodes[i];
        outcome.starts += node.started;
        if (i >= run.honest_nodes) {
            outcome.own_starts += node.started;
            continue;
        }
        outcome.small_stakes_earned += minorities.small_stake[i] ? run.money.node(i).earned : 0;
        outcome.honest_exclusions += node.exclusions;
        outcome.framed += node.blamed - std::min(node.blamed, node.faults);
        if (run.scenario.cards[run.scenario.nodes[i].model].name == means.target) {
            ++outcome.target_nodes;
            outcome.target_earned += run.money.node(i).earned;
        }
    }
    for (std::uint32_t i = 0; i < run.tasks.size(); ++i) {
        const auto& task = run.tasks[i];
        const auto done = task.end == End::done;
        const auto sojourn_ms = task.ended_ms - run.scenario.tasks[i].arrival_ms;
        if (i < run.honest_tasks) {
            outcome.sojourn_ms.push_back(done ? sojourn_ms : -1);
            outcome.failed += task.end == End::failed ? 1 : 0;
        } else {
            ++outcome.own_orders;
            outcome.own_done += done ? 1 : 0;
            outcome.own_done_at_home += done && task.node >= run.honest_nodes ? 1 : 0;
            outcome.own_sojourn_ms += done ? sojourn_ms : given_up_ms;
        }
    }
    return outcome;
}

auto write_outcome(const Outcome& outcome, const std::string& description) -> std::string {
    auto json = Json{{"run", description}};
    each_number(outcome, [&](const std::string& name, std::int64_t number) { json[name] = number; });
    json["notes"] = outcome.notes;
    json["sojourn_ms"] = outcome.sojourn_ms;
    return json.dump() + "\n";
}

auto read_outcome(const std::string& text, const std::string& description) -> Outcome {
    const auto json = Json::parse(text);
    if (json.at("run").get<std::string>() != description) { throw std::runtime_error{"it is of another run"}; }
    auto outcome = Outcome{};
    each_number(outcome,
                [&](const std::string& name, std::int64_t& number) { number = json.at(name).get<std::int64_t>(); });
    json.at("notes").get_to(outcome.notes);
    outcome.sojourn_ms = json.at("sojourn_ms").get<std::vector<std::int64_t>>();
    return outcome;
}

}  // namespace simulate

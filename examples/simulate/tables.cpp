#include "tables.hpp"

#include <iterator>

#include <fmt/format.h>

namespace simulate {
namespace {

/// A field of CSV: quoted where it must be.
auto quoted(const std::string& text) -> std::string {
    if (text.find_first_of(",\"\r\n") == std::string::npos) { return text; }
    auto out = std::string{"\""};
    for (const auto c : text) { out += c == '"' ? std::string{"\"\""} : std::string(1, c); }
    return out + '"';
}

auto seconds(std::int64_t ms) -> std::string { return fmt::format("{}.{:03}", ms / 1000, ms % 1000); }

auto joined(const std::vector<std::string>& names) -> std::string {
    return quoted(fmt::format("{}", fmt::join(names, "|")));
}

}  // namespace

auto tasks_csv(const Run& run) -> std::string {
    auto text = std::string{"task,owner,arrival,declared,run,fee,vram,cards,models,end,started,ended,node,leases\n"};
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
        const auto& plan = run.scenario.tasks[i];
        const auto& task = run.tasks[i];
        const auto ran = task.started_ms >= 0;
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", i,
                       quoted(run.scenario.owners[plan.owner]), seconds(plan.arrival_ms), seconds(plan.declared_ms),
                       seconds(plan.run_ms), plan.fee, plan.vram_min, joined(cards_of(run.scenario, plan)),
                       joined(models_of(run.scenario, plan)), end_names[static_cast<std::size_t>(task.end)],
                       ran ? seconds(task.started_ms) : "", seconds(task.ended_ms),
                       ran ? quoted(run.scenario.nodes[task.node].id) : "", task.attempts);
    }
    return text;
}

auto nodes_csv(const Run& run) -> std::string {
    auto text = std::string{"node,operator,card,vram,stake,speed,kind,leases,done,failed,declined,timed_out,exclusions,"
                            "present,work_seconds,earned,slashed\n"};
    for (std::uint32_t i = 0; i < run.nodes.size(); ++i) {
        const auto& plan = run.scenario.nodes[i];
        const auto& card = run.scenario.cards[plan.model];
        const auto& node = run.nodes[i];
        const auto& account = run.money.node(i);
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       quoted(plan.id), quoted(plan.operator_id), quoted(card.name), card.vram,
                       seconds(plan.stake_milli), seconds(plan.speed_milli),
                       kind_names[static_cast<std::size_t>(plan.kind)], node.started, node.done, node.failed,
                       node.declined, node.timed_out, node.exclusions, node.present ? 1 : 0, node.work_seconds,
                       account.earned, account.slashed);
    }
    return text;
}

}  // namespace simulate

// One's own network and tasks. `examples/data/README.md` documents the columns and the rules.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "csv.hpp"
#include "hash.hpp"
#include "page.hpp"
#include "scenario.hpp"

namespace simulate {
namespace {

constexpr auto amount_max = std::int64_t{1} << 50;

/// The parts of a field between bars; none of an empty field.
auto parts_of(const Row& row, std::size_t index) -> std::vector<std::string> {
    auto parts = std::vector<std::string>{};
    const auto& text = row.text(index);
    for (auto at = std::size_t{0}; !text.empty();) {
        const auto end = std::min(text.find('|', at), text.size());
        if (end == at) { row.refuse(index, "a name is empty", at); }
        parts.push_back(text.substr(at, end - at));
        if (end == text.size()) { break; }
        at = end + 1;
    }
    return parts;
}

template <class Name>
auto index_in(std::vector<Name>& all, std::map<std::string, std::uint32_t>& known, const std::string& name, Name item)
    -> std::uint32_t {
    const auto [place, is_new] = known.emplace(name, static_cast<std::uint32_t>(all.size()));
    if (is_new) { all.push_back(std::move(item)); }
    return place->second;
}

void tell(std::vector<std::string>& told, const Table& table, std::size_t index, const char* rule) {
    if (!table.has(index)) { told.emplace_back(rule); }
}

void load_nodes(Scenario& scenario, const std::string& path, const Trace& trace, std::vector<std::string>& told) {
    enum Column : std::size_t { id, operator_id, card, vram, stake, speed, models };
    const auto table = Table{path, {}, {"id", "operator", "card", "vram", "stake", "speed", "models"}};
    tell(told, table, id, "nodes.id: node-1, node-2, ... by row");
    tell(told, table, operator_id, "nodes.operator: each node is its own operator");
    tell(told, table, card, "nodes.card: all are \"any\"");
    tell(told, table, vram, "nodes.vram: by the card's name in gpu_type_memory.csv, else 24 GiB");
    tell(told, table, stake, "nodes.stake: 1000 for each node");
    tell(told, table, speed, "nodes.speed: 1 for each node");
    tell(told, table, models, "nodes.models: none on disk");
    auto cards = std::map<std::string, std::uint32_t>{};
    auto software = std::map<std::string, std::uint32_t>{};
    auto ids = std::set<std::string>{};
    for (const auto& row : table.rows()) {
        auto node = NodePlan{};
        node.id = table.has(id) ? row.text(id) : fmt::format("node-{}", scenario.nodes.size() + 1);
        if (node.id.empty() || node.id.size() > 32) { row.refuse(id, "a node needs an id of 1 to 32 bytes"); }
        if (!ids.insert(node.id).second) { row.refuse(id, "this node was already listed"); }
        node.operator_id = table.has(operator_id) && !row.empty(operator_id) ? row.text(operator_id) : node.id;
        if (node.operator_id.size() > 32) { row.refuse(operator_id, "an operator has a name of at most 32 bytes"); }
        const auto name = table.has(card) ? row.text(card) : std::string{"any"};
        if (name.empty()) { row.refuse(card, "a node needs a card"); }
        auto memory = std::uint32_t{24};
        for (const auto& model : trace.models) { memory = model.name == name ? model.vram : memory; }
        if (table.has(vram)) { memory = static_cast<std::uint32_t>(row.integer(vram, 1, 4'096)); }
        node.model = index_in(scenario.cards, cards, fmt::format("{}/{}", name, memory), GpuModel{name, 0, memory});
        node.stake_milli = table.has(stake) ? row.thousandths(stake) : 1'000'000;
        if (table.has(speed)) {
            const auto speed_milli = row.thousandths(speed);
            if (speed_milli < 1 || speed_milli > 1'000'000) { row.refuse(speed, "a speed is above 0, at most 1000"); }
            node.speed_milli = static_cast<std::uint32_t>(speed_milli);
        }
        if (table.has(models)) {
            for (const auto& model : parts_of(row, models)) {
                node.software.push_back(index_in(scenario.software, software, model, model));
            }
        }
        scenario.nodes.push_back(std::move(node));
    }
}

void load_tasks(Scenario& scenario, const std::string& path, std::vector<std::string>& told) {
    enum Column : std::size_t { arrival, run, owner, declared, fee, vram, cards, models };
    const auto table = Table{path, {"arrival", "run"}, {"owner", "declared", "fee", "vram", "cards", "models"}};
    tell(told, table, owner, "tasks.owner: one owner, \"owner\", has all tasks");
    tell(told, table, declared, "tasks.declared: the true run time");
    tell(told, table, fee, "tasks.fee: 1000 for each second of the declared time, at least 1");
    tell(told, table, vram, "tasks.vram: 1 GiB");
    tell(told, table, cards, "tasks.cards: any");
    tell(told, table, models, "tasks.models: none");
    auto owners = std::map<std::string, std::uint32_t>{};
    for (const auto& row : table.rows()) {
        auto task = TaskPlan{};
        const auto time = [&](std::size_t index, std::int64_t least) {
            const auto ms = row.thousandths(index);
            if (ms < least || ms > amount_max) { row.refuse(index, "a run time is at least 0.001 s"); }
            return ms;
        };
        task.arrival_ms = time(arrival, 0);
        task.run_ms = time(run, 1);
        task.declared_ms = table.has(declared) && !row.empty(declared) ? time(declared, 1) : task.run_ms;
        const auto name = table.has(owner) && !row.empty(owner) ? row.text(owner) : std::string{"owner"};
        if (name.size() > 32) { row.refuse(owner, "an owner has a name of at most 32 bytes"); }
        task.owner = index_in(scenario.owners, owners, name, name);
        task.fee = table.has(fee) ? row.integer(fee, 0, amount_max) : std::max(task.declared_ms, std::int64_t{1});
        task.vram_min = table.has(vram) ? static_cast<std::uint32_t>(row.integer(vram, 1, 4'096)) : 1U;
        const auto price = task.fee * 1'000 / task.declared_ms;
        task.fee_per_second = static_cast<std::uint32_t>(std::min(price, std::int64_t{0xFFFF'FFFF}));
        scenario.wants.push_back({table.has(cards) ? parts_of(row, cards) : std::vector<std::string>{},
                                  table.has(models) ? parts_of(row, models) : std::vector<std::string>{}});
        task.want = static_cast<std::uint32_t>(scenario.wants.size());
        scenario.tasks.push_back(task);
    }
    std::stable_sort(scenario.tasks.begin(), scenario.tasks.end(),
                     [](const TaskPlan& a, const TaskPlan& b) { return a.arrival_ms < b.arrival_ms; });
    scenario.arrivals_end_ms = std::max(scenario.tasks.back().arrival_ms, std::int64_t{1});
}

}  // namespace

auto load_scenario(const std::string& nodes, const std::string& tasks, const Trace& trace,
                   std::vector<std::string>& told) -> Scenario {
    auto scenario = Scenario{};
    load_nodes(scenario, nodes, trace, told);
    load_tasks(scenario, tasks, told);
    assign_deciles(scenario);
    scenario.digest = hash_of(read_file(tasks), hash_of(read_file(nodes)));
    return scenario;
}

}  // namespace simulate

#include "fees.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace simulate {
namespace {

constexpr auto nodes_max = std::size_t{10'000};

/// What one line of a table counts: for cards `of` are nodes, for models tasks.
struct Line {
    std::int64_t of = 0;
    std::int64_t leases = 0;
    std::int64_t done = 0;
    std::int64_t fees = 0;
};

/// The lines as objects, the greatest fees first, equal ones by name.
auto sorted(const std::map<std::string, Line>& lines, const char* of, const char* fees, bool with_leases) -> Json {
    auto order = std::vector<std::pair<std::string, Line>>{lines.begin(), lines.end()};
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.fees > b.second.fees; });
    auto json = Json::array();
    for (const auto& [name, line] : order) {
        auto one = Json{{"name", name}, {of, line.of}, {"done", line.done}, {fees, line.fees}};
        if (with_leases) { one["leases"] = line.leases; }
        json.push_back(std::move(one));
    }
    return json;
}

auto cards_table(const Run& run) -> Json {
    auto lines = std::map<std::string, Line>{};
    for (std::uint32_t i = 0; i < run.nodes.size(); ++i) {
        auto& line = lines[run.scenario.cards[run.scenario.nodes[i].model].name];
        ++line.of;
        line.leases += run.nodes[i].started;
        line.done += run.nodes[i].done;
        line.fees += run.money.node(i).earned;
    }
    return sorted(lines, "nodes", "earned", true);
}

auto models_table(const Run& run) -> Json {
    auto lines = std::map<std::string, Line>{};
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
        const auto models = models_of(run.scenario, run.scenario.tasks[i]);
        auto& line = lines[models.empty() ? "none" : models.front()];
        ++line.of;
        if (run.tasks[i].end == End::done) {
            ++line.done;
            line.fees += run.scenario.tasks[i].fee;
        }
    }
    return sorted(lines, "tasks", "paid", false);
}

auto nodes_table(const Run& run) -> Json {
    auto order = std::vector<std::uint32_t>(run.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return run.money.node(a).earned > run.money.node(b).earned;
    });
    order.resize(std::min(order.size(), nodes_max));
    auto json = Json::array();
    for (const auto i : order) {
        const auto& plan = run.scenario.nodes[i];
        const auto& node = run.nodes[i];
        json.push_back({plan.id, run.scenario.cards[plan.model].name, kind_names[static_cast<std::size_t>(plan.kind)],
                        static_cast<double>(plan.stake_milli) / 1000.0, node.started, node.done, node.timed_out,
                        node.exclusions, run.money.node(i).earned});
    }
    return json;
}

}  // namespace

auto fees_of(const Run& run) -> Json {
    auto paid = std::int64_t{0};
    for (std::uint32_t i = 0; i < run.nodes.size(); ++i) { paid += run.money.node(i).earned; }
    return {{"paid", paid},
            {"cards", cards_table(run)},
            {"models", models_table(run)},
            {"nodes_all", run.nodes.size()},
            {"nodes", nodes_table(run)}};
}

}  // namespace simulate

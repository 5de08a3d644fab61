#include "comparison.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "best_response.hpp"
#include "embedded.hpp"
#include "limits.hpp"
#include "network.hpp"
#include "version_text.hpp"

namespace simulate {
namespace {

constexpr auto verdict_names = std::array{"passed", "failed", "undecided"};

/// A sentence begins with a capital and ends with a full stop.
auto sentence(std::string text) -> std::string {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text + '.';
}

auto measures_of(const Judged& judged) -> Json {
    auto json = Json::object();
    for (const auto& [name, measure] : judged.measures) {
        json[name] = {{"value", finite(measure.value)}, {"error", finite(measure.error)}, {"shown", text_of(measure)}};
    }
    const auto of_one_rule = judged.against.starts_with(judged.contender + ":");
    for (const auto& limit : limits_of(of_one_rule ? "-rule" : judged.row)) {
        const auto found = judged.measures.find(std::string{limit.measure});
        if (found == judged.measures.end()) { continue; }
        auto& one = json[found->first];
        one["limit"] = limit.bound;
        one["least"] = limit.kind == Limit::Kind::least;
        one["verdict"] = verdict_names.at(static_cast<std::size_t>(verdict(found->second, limit)));
    }
    for (const auto& told : told_measures()) {
        const auto found = json.find(told.measure);
        if (found != json.end() && (told.row.empty() || told.row == judged.row)) { (*found)["told"] = told.name; }
    }
    return json;
}

}  // namespace

auto sentences_of(const Recipe& recipe) -> Json {
    auto rows = Json::array();
    for (const auto& row : recipe.cases) { rows.push_back({{"row", row.row}, {"what", row.what}}); }
    return {{"name", recipe.name},           {"attack", sentence(recipe.attack)}, {"profits", sentence(recipe.profits)},
            {"twin", sentence(recipe.twin)}, {"answer", sentence(recipe.answer)}, {"cost", sentence(recipe.cost)},
            {"rows", std::move(rows)}};
}

auto document_of(const std::vector<Judged>& all, const std::vector<Contender>& contenders,
                 const std::vector<Played>& fields, const Options& options) -> Json {
    auto players = Json::array();
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        const auto& one = contenders[i];
        players.push_back({{"text", one.text},
                           {"preset", one.preset},
                           {"settings", one.settings},
                           {"notes", find_preset(one.preset).notes},
                           {"nodes", fields[i].nodes},
                           {"tasks", fields[i].tasks}});
    }
    auto attacks = Json::array();
    for (const auto& recipe : recipes()) {
        const auto played = [&](const Judged& one) { return one.attack == recipe.name; };
        if (std::any_of(all.begin(), all.end(), played)) { attacks.push_back(sentences_of(recipe)); }
    }
    auto table = Json::array();
    auto shares = Json::array();
    for (const auto& one : all) {
        auto& rows = one.seeds == 0 ? shares : table;  // what is enumerated needs no seeds
        rows.push_back({{"row", one.row},
                        {"attack", one.attack},
                        {"what", one.what},
                        {"preset", one.contender},
                        {"load", one.load_percent},
                        {"seeds", one.seeds},
                        {"against", one.against},
                        {"measures", measures_of(one)}});
    }
    auto worlds = Json::array();
    const auto add_world = [&](const Options& one) {
        worlds.push_back({{"name", one.world},
                          {"scale", one.scale_milli / 1000.0},
                          {"hours", one.hours},
                          {"verdicts", one.verdicts},
                          {"sources", sources_of(one)}});
    };
    if (options.worlds.empty()) { add_world(options); }
    for (const auto& name : options.worlds) {
        auto in_world = options;
        enter_world(in_world, name);
        add_world(in_world);
    }
    auto document =
        Json{{"played",
              {{"version", version_text()},
               {"world", options.worlds.empty() ? options.world : fmt::format("{}", fmt::join(options.worlds, ", "))},
               {"worlds", std::move(worlds)},
               {"load", options.loads.empty() ? fmt::format("{}", options.nodes.empty() ? options.load_percent : 0)
                                              : fmt::format("{}", fmt::join(options.loads, ", "))},
               {"seeds", options.seeds},
               {"first_seed", search_seeds + 1},
               {"command", command_of(options)}}},
             {"contenders", std::move(players)},
             {"attacks", std::move(attacks)},
             {"table", std::move(table)},
             {"shares", std::move(shares)}};
    document["digest"] = digest_of(document);
    return document;
}

auto comparison_page(const Json& document) -> std::string { return page_of(embedded::compare_page, document); }

}  // namespace simulate

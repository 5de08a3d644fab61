// labels: vectors
// Candidates and their weights in three generations of the relay, over the same recorded networks.
#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include <allot/eligibility/hardware_fit.hpp>
#include <allot/eligibility/name_whitelist.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/weight/harmonic_weight.hpp>

#include "vectors/cases.hpp"

namespace {

using namespace support;
using namespace std::chrono_literals;
using allot::RollingQos;
using allot::Score;
using allot::StakeRoot;

const auto now = allot::TimePoint{1'000h};
constexpr auto qos = RollingQos{};

/// What stands after the first '+' of a card's name; what has none counts as Darwin.
auto platform(const std::string& gpu) -> std::string {
    const auto plus = gpu.find('+');
    if (plus == std::string::npos) { return "Darwin"; }
    const auto first = gpu.find_first_not_of(' ', plus + 1);
    return first == std::string::npos ? "" : gpu.substr(first, gpu.find_last_not_of(' ') + 1 - first);
}
auto class_of(const Json& node) -> allot::NodeClass {
    const auto gpu = node["gpu"].get<std::string>();
    const auto v = node["version"].get<std::vector<std::uint32_t>>();
    return {gpu, {node["vram"].get<std::uint32_t>()}, platform(gpu), {v.at(0), v.at(1), v.at(2)}};
}
/// As the relay writes it: "NVIDIA A100+Windows|80|3.0.2".
auto name_of(const Json& node) -> std::string {
    const auto v = class_of(node).software;
    return node["gpu"].get<std::string>() + "|" + node["vram"].dump() + "|" + std::to_string(v.major) + "." +
           std::to_string(v.minor) + "." + std::to_string(v.patch);
}
/// An enabled list without names, which keeps everybody out at the relay, is one that lists nothing there is.
auto whitelist_of(const Json& names) -> allot::NameWhitelist {
    auto list = allot::NameWhitelistParameters{};
    for (const auto& entry : names) {
        const auto name = entry.get<std::string>();
        auto v = allot::SoftwareVersion{};
        auto vram = 0U;
        const auto bar = name.find('|');
        REQUIRE(std::sscanf(name.c_str() + bar, "|%u|%u.%u.%u", &vram, &v.major, &v.minor, &v.patch) == 4);
        const auto gpu = name.substr(0, bar);
        list.names.push_back({gpu, {vram}, platform(gpu), v});
    }
    if (list.names.empty()) { list.names.push_back({"none", {}, {}, {}}); }
    return allot::NameWhitelist{list};
}
auto requirement_of(const Json& task) -> allot::Requirement {
    auto version = allot::SoftwareVersion{};
    const auto text = task["version"].get<std::string>();
    REQUIRE(std::sscanf(text.c_str(), "%u.%u.%u", &version.major, &version.minor, &version.patch) == 3);
    auto requirement = allot::Requirement{{task["min_vram"].get<std::uint32_t>()}, {}, {}, {}, version};
    if (const auto gpu = task["required_gpu"].get<std::string>(); !gpu.empty()) {
        requirement.gpus = {{gpu, {task["required_gpu_vram"].get<std::uint32_t>()}}};
    } else if (task["type"] == 1) {  // a text task runs wherever it is not Darwin
        requirement.platforms_refused = {"Darwin"};
    }
    return requirement;
}
auto count(const Json& models, const Json& held) -> std::uint64_t {
    return static_cast<std::uint64_t>(std::count_if(models.begin(), models.end(), [&](const Json& m) {
        return std::find(held.begin(), held.end(), m) != held.end();
    }));
}
/// The tracker's data of a node whose mean, health and exclusion are these. Means are in half points: two verdicts make
/// one.
auto measured(const Json& node, bool with_health) -> RollingQos::node_data {
    auto data = RollingQos::node_data{};
    qos.joined(data, now);
    if (const auto twice = static_cast<std::uint32_t>(std::llround(2 * node["q_long"].get<double>())); twice > 0) {
        (void)qos.record(data, {allot::OutcomeKind::scored, twice / 2}, now);
        (void)qos.record(data, {allot::OutcomeKind::scored, twice - twice / 2}, now);
    }
    if (const auto age = node["health_age_seconds"].get<std::int64_t>(); with_health && age >= 0) {
        data.health = score_of(node["health_base"].get<double>());
        data.health_at = now - age * 1s;
    }
    REQUIRE(data.valid());
    return data;
}
auto weight_of(const Json& row, const Json& node, Score score, std::uint64_t boost_num = 1, std::uint64_t boost_den = 1)
    -> double {
    const auto stake = StakeRoot::from(whole(node["stake"]));
    const auto most = StakeRoot::from(whole(row["max_stake"]));
    return as_double(allot::HarmonicWeight{}.weight({}, {}, {stake, most, score, boost_num, boost_den}));
}
using Weights = std::map<std::string, double>;
/// The same candidates, and each of the relay's weight.
void same(const Weights& ours, const Json& theirs) {
    REQUIRE(ours.size() == theirs.size());
    for (const auto& candidate : theirs) {
        CAPTURE(candidate.dump());
        const auto place = ours.find(candidate["addr"].get<std::string>());
        REQUIRE(place != ours.end());
        CHECK(agree(place->second, candidate["weight"].get<double>()));
    }
}
/// Both older generations: narrowed to holders of any model, all when there is none, where nobody has a boost.
using Boosted = std::function<double(const Json&, const Json&, Score)>;
void narrowed(const std::string& file, bool with_health, const Boosted& boosted) {
    const auto networks = cases("relay_candidates_2026");
    const auto answers = networks.empty() ? Json::array() : cases(file);  // of which the networks are elsewhere
    auto by_case = std::map<int, const Json*>{};
    for (const auto& row : networks) { by_case[row["case"].get<int>()] = &row; }
    for (const auto& expected : answers) {
        const auto& row = *by_case.at(expected["case"].get<int>());
        CAPTURE(row.dump());
        const auto requirement = requirement_of(row["task"]);
        const auto& models = row["task"]["models"];
        auto holders = Weights{};
        auto all = Weights{};
        for (const auto& node : row["nodes"]) {
            if (node["status"] != 1 || allot::HardwareFit{}.fits(class_of(node), requirement) != allot::Reason::none) {
                continue;
            }
            const auto score = qos.score(measured(node, with_health), now);
            const auto addr = node["addr"].get<std::string>();
            all[addr] = weight_of(row, node, score);
            if (count(models, node["on_disk"]) > 0) { holders[addr] = boosted(row, node, score); }
            for (const auto& candidate : expected["candidates"]) {
                if (candidate["addr"] == addr && candidate.contains("base")) {
                    CHECK(agree(all[addr], candidate["base"].get<double>()));
                }
            }
        }
        same(holders.empty() ? all : holders, expected["candidates"]);
    }
}

}  // namespace

TEST_CASE("candidates and weights are those of 2026: base models as a gate, 0.3 for the loaded ones") {
    for (const auto& row : cases("relay_candidates_2026")) {
        CAPTURE(row.dump());
        const auto requirement = requirement_of(row["task"]);
        auto base = Json::array();
        for (const auto& model : row["task"]["models"]) {
            if (model.get<std::string>().rfind("base:", 0) == 0) { base.push_back(model); }
        }
        auto fit = std::set<std::string>{};
        auto ours = Weights{};
        for (const auto& node : row["nodes"]) {
            const auto data = measured(node, true);
            const auto excluded = node["health_excluded"].get<bool>() && qos.back_at(data) > now;
            if (node["status"] != 1 || node["has_task"].get<bool>() || excluded ||
                allot::HardwareFit{}.fits(class_of(node), requirement) != allot::Reason::none) {
                continue;
            }
            const auto addr = node["addr"].get<std::string>();
            fit.insert(addr);
            const auto listed = !row["whitelist_enabled"].get<bool>() ||
                                whitelist_of(row["whitelist"]).fits(class_of(node), requirement) == allot::Reason::none;
            if (!listed || row["active_counts"].value(name_of(node), 0) < row["minimum_node_name_number"].get<int>() ||
                count(base, node["on_disk"]) < base.size()) {
                continue;
            }
            const auto score = qos.score(data, now);
            const auto of = 10 * std::max<std::uint64_t>(base.size(), 1);
            ours[addr] = weight_of(row, node, score, of + 3 * count(base, node["in_use"]), of);
            for (const auto& candidate : row["candidates"]) {
                if (candidate["addr"] == addr) {
                    CHECK(agree(weight_of(row, node, score), candidate["base"].get<double>()));
                    CHECK(agree(as_double(score), candidate["qos"].get<double>()));
                    const auto s = std::sqrt(as_double(whole(node["stake"])) / as_double(whole(row["max_stake"])));
                    CHECK(agree(s, candidate["staking_score"].get<double>()));
                }
            }
        }
        CHECK(fit == row["after_hard_filters"].get<std::set<std::string>>());
        same(ours, row["candidates"]);
    }
}

TEST_CASE(
    "candidates and weights are those of seed 001: 0.7 for models on disk, 0.3 for the loaded ones, health in Q") {
    narrowed("relay_candidates_seed_doc", true, [](const Json& row, const Json& node, Score score) {
        const auto& models = row["task"]["models"];
        const auto of = 10 * models.size();
        return weight_of(row, node, score, of + 7 * count(models, node["on_disk"]) + 3 * count(models, node["in_use"]),
                         of);
    });
}

TEST_CASE("candidates and weights are those of 2025: twice for just the models loaded, else one more for all on disk") {
    narrowed("relay_candidates_2025", false, [](const Json& row, const Json& node, Score score) {
        const auto& models = row["task"]["models"];
        const auto as_set = [](const Json& list) { return list.get<std::set<std::string>>(); };
        if (as_set(node["in_use"]) == as_set(models) && node["in_use"].size() == models.size()) {
            return weight_of(row, node, score, 2, 1);
        }
        return weight_of(row, node, score, models.size() + count(models, node["on_disk"]), models.size());
    });
}

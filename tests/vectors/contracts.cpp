// labels: vectors
// Scores, weights, queues and draws of both contract generations, number by number.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>

#include <allot/eligibility/hardware_fit.hpp>
#include <allot/pool/linear_pool.hpp>
#include <allot/qos/contract_qos.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/valuation/fee_per_size.hpp>
#include <allot/weight/contract_weight.hpp>

#include "support/seed.hpp"
#include "vectors/cases.hpp"

namespace {

using namespace support;
using allot::ContractQos;
using allot::ContractScores;
using allot::NodeClass;
using allot::QueueEntry;
using allot::Requirement;
using allot::RequirementId;
using allot::Score;
using allot::StakeRoot;
using allot::TaskHandle;
using allot::Weight;

auto version(const Json& v) -> allot::SoftwareVersion {
    return {v[0].get<std::uint32_t>(), v[1].get<std::uint32_t>(), v[2].get<std::uint32_t>()};
}
auto class_of(const Json& node) -> NodeClass {
    return {node["gpu"].get<std::string>(), {node["vram"].get<std::uint32_t>()}, "", version(node["version"])};
}
auto requirement_of(const Json& task) -> Requirement {
    auto requirement = Requirement{{task["minVram"].get<std::uint32_t>()}, {}, {}, {}, version(task["version"])};
    if (const auto gpu = task["requiredGPU"].get<std::string>(); !gpu.empty()) {
        requirement.gpus = {{gpu, {task["requiredGPUVram"].get<std::uint32_t>()}}};
    }
    return requirement;
}
auto fits(const Json& node, const Json& task) -> bool {
    return allot::HardwareFit{}.fits(class_of(node), requirement_of(task)) == allot::Reason::none;
}
auto has(const Json& list, const Json& item) -> bool { return std::find(list.begin(), list.end(), item) != list.end(); }
/// How many of the task's entries the node has on disk; an id given twice counts twice, as in the contract.
auto held(const Json& node, const Json& models) -> std::uint64_t {
    return static_cast<std::uint64_t>(
        std::count_if(models.begin(), models.end(), [&](const Json& model) { return has(node["local"], model); }));
}
auto weight_of(const Json& node, std::uint64_t models_held, std::uint64_t models) -> Weight {
    const auto of = std::max<std::uint64_t>(models, 1);
    const auto qos = Score::from_ratio(node["score"].get<std::uint64_t>(), 20);
    return allot::ContractWeight{}.weight({}, {},
                                          {StakeRoot::from(400U), StakeRoot::from(400U), qos, of + models_held, of});
}
/// Every score is the same part of the contract's integer.
auto proportional(const std::map<std::string, Weight>& ours, const std::map<std::string, std::uint64_t>& theirs)
    -> bool {
    if (ours.size() != theirs.size() || ours.empty()) { return ours.size() == theirs.size(); }
    const auto unit = as_double(ours.begin()->second) / static_cast<double>(theirs.begin()->second);
    return std::equal(ours.begin(), ours.end(), theirs.begin(), [&](const auto& a, const auto& b) {
        return a.first == b.first && agree(as_double(a.second), unit * static_cast<double>(b.second));
    });
}
/// How often each comes up by our draw.
auto frequencies(const std::vector<Weight>& weights, std::uint32_t draws) -> std::vector<double> {
    auto pool = allot::LinearPool{};
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
        const auto bound = allot::bound_of(weights[i]);
        pool.changed({{i}, {0}, i, 0, 0, {}}, {{i}, {0}, i, bound, bound, {}});
    }
    const auto classes = std::vector<allot::ClassId>{{0}};
    auto counts = std::vector<double>(weights.size());
    for (std::uint32_t i = 0; i < draws; ++i) {
        auto random = allot::Random{allot::Entropy{seed()}, allot::Purpose::dispatch, {}, 0, i};
        const auto weigh = [&](allot::NodeHandle node, std::uint32_t) { return weights[node.value]; };
        const auto drawn = pool.draw({classes, {}}, weigh, random);
        ++counts[drawn.value().node.value];
    }
    return counts;
}

/// Goes through the books of each node step by step.
void books(const std::string& file, const ContractQos& qos) {
    for (const auto& row : cases(file)) {
        CAPTURE(row["seq"].dump());
        auto data = ContractScores{};
        for (const auto& step : row["trace"]) {
            CAPTURE(step.dump());
            const auto op = step["op"].get<std::string>();
            if (op == "start") {
                data.start();
            } else if (op == "add") {
                constexpr auto by_rank = std::array<std::uint32_t, 3>{10, 9, 6};
                data.add(by_rank.at(step["i"].get<std::size_t>()));
            } else if (op == "punish") {
                data.punish();
            } else if (op == "finish") {
                data.finish();
            } else if (op == "kickout") {
                data.kick_out();
                REQUIRE(data.recent_tasks == step["recentCount"].get<std::uint64_t>());
            } else {
                REQUIRE(op == "init");
            }
            REQUIRE(data.valid());
            REQUIRE(data.mean(qos.parameters().points_new) == step["taskScore"].get<std::uint64_t>());
            REQUIRE(data.tasks == step["taskCount"].get<std::uint64_t>());
            REQUIRE(data.recent_sum() == step["recentScore"].get<std::uint64_t>());
            REQUIRE(data.recent_tasks == step["recentCount"].get<std::uint64_t>());
            REQUIRE(data.current == step["current"].get<std::uint32_t>());
            REQUIRE(qos.should_kick_out(data) == step["shouldKickOut"].get<bool>());
            const auto score = std::max<std::uint64_t>(1, step["taskScore"].get<std::uint64_t>());
            REQUIRE(qos.score_max(data) == Score::from_ratio(score, 20));
        }
    }
}

/// A queue of ours beside the state the contract's is in.
struct Queue {
    struct Waiting {
        QueueEntry entry;
        Json task;
    };
    allot::ValueQueue queue;
    std::map<std::uint32_t, Waiting> waiting;
    std::uint64_t limit = 0;
    std::uint64_t pushed = 0;

    void push(std::uint32_t id, RequirementId group, const Json& task, allot::Value value) {
        const auto entry = QueueEntry{{id}, group, value, ++pushed};
        queue.push(entry);
        waiting[id] = {entry, task};
    }
    void erase(std::uint32_t id) {
        REQUIRE(waiting.count(id) == 1);
        queue.erase(waiting[id].entry);
        waiting.erase(id);
    }
    auto value(TaskHandle task) -> allot::Value { return waiting.at(task.value).entry.value; }
};
auto price(const Json& task, const char* size) -> allot::Value {
    const auto policy = allot::FeePerSize{};
    auto record = allot::Task{};
    record.fee = whole(task["fee"]);
    record.duration_estimate = policy.estimate(task[size].get<std::uint32_t>()).value();
    return policy.value(record, {});
}
/// A push, which both take, or which the contract refuses when it is full and ours would settle by value.
void push(Queue& q, const Json& op, RequirementId group, const char* size, Differences& differences) {
    const auto& task = op["task"];
    if (op["result"] == "ok") {
        REQUIRE(q.queue.size() < q.limit);
        q.push(task["id"].get<std::uint32_t>(), group, task, price(task, size));
    } else {
        REQUIRE(op["result"] == "Task queue is full");
        REQUIRE(q.queue.size() == q.limit);
        const auto dearer = price(task, size) > q.value(q.queue.worst().value());
        differences.note(dearer
                             ? "a full queue refuses a dearer task; here the cheapest of all goes (D20, D21; rule 15)"
                             : "a full queue refuses a task that is no dearer; here it is the victim");
    }
}
void remove(Queue& q, const Json& op) {
    REQUIRE(op["result"] == "ok");
    q.erase(op["id"].get<std::uint32_t>());
}
/// The cheapest by both; where many are as cheap the contract takes any, we the newest.
auto cheapest(Queue& q, const Json& op, Differences& differences) -> std::optional<std::uint32_t> {
    const auto worst = q.queue.worst();
    if (!op["result"].is_number()) {
        REQUIRE(q.queue.size() == 0);
        return std::nullopt;
    }
    REQUIRE(worst.has_value());
    const auto theirs = op["result"].get<std::uint32_t>();
    REQUIRE(q.waiting.count(theirs) == 1);
    if (q.value(*worst) != q.value({theirs})) {
        differences.note("a price of 0 counts as none when the cheapest is sought; here as the least (D18)");
        REQUIRE(q.value(*worst) == allot::Value{0});
    } else if (worst->value != theirs) {
        differences.note("equal prices go in the order of a heap or set; here the newest is dropped first (D24)");
    }
    return theirs;
}

}  // namespace

TEST_CASE("the first contracts' books: scores of two rounds, kick-out at 20 of three tasks") {
    books("contracts_v1_qos", ContractQos{{20, 20, 20, 20, false}});
}
TEST_CASE("the second contracts' books: scores of one round, kick-out at 10 of three tasks") {
    books("contracts_v2_qos", ContractQos{});
}

TEST_CASE("candidates and weights are the second contracts', those asked to download too") {
    auto differences = Differences{"contracts_v2_weights"};
    for (const auto& row : cases("contracts_v2_weights")) {
        CAPTURE(row.dump());
        const auto& task = row["task"];
        const auto& models = task["models"];
        auto any_holder = false;
        for (const auto& node : row["nodes"]) {
            any_holder = any_holder || (node["available"].get<bool>() && fits(node, task) && held(node, models) > 0);
        }
        auto ours = std::map<std::string, Weight>{};
        auto pool = std::map<std::string, Weight>{};
        for (const auto& node : row["nodes"]) {
            if (!fits(node, task)) { continue; }
            const auto here = held(node, models);
            if (node["available"].get<bool>() && (!any_holder || here > 0)) {
                auto weight = weight_of(node, here, models.size());
                if (node["last"] == models) {
                    differences.note(
                        "the last models run weigh double; ours does not, for nothing on a chain ever sets them");
                    weight = weight.scaled(2, 1);
                }
                ours[node["addr"].get<std::string>()] = weight;
            }
            if (row.contains("download") && !has(node["local"], row["download"]["model"])) {
                pool[node["addr"].get<std::string>()] = weight_of(node, 0, 1);
            }
        }
        const auto theirs = [](const Json& list) {
            auto weights = std::map<std::string, std::uint64_t>{};
            for (const auto& candidate : list) {
                weights[candidate["addr"].get<std::string>()] = candidate["weight"].get<std::uint64_t>();
            }
            return weights;
        };
        CHECK(proportional(ours, theirs(row["candidates"])));
        if (row.contains("download")) { CHECK(proportional(pool, theirs(row["download"]["pool"]))); }
    }
}

TEST_CASE("draws come as often as the second contracts say") {
    for (const auto& row : cases("contracts_v2_selection_frequency")) {
        CAPTURE(row.dump());
        auto ours = std::vector<Weight>{};
        auto observed = std::vector<double>{};
        auto parts = std::vector<double>{};
        const auto& models = row["task"]["models"];
        for (const auto& result : row["result"]) {
            for (const auto& node : row["nodes"]) {
                if (node["addr"] == result["addr"]) {
                    REQUIRE(fits(node, row["task"]));
                    auto weight = weight_of(node, held(node, models), models.size());
                    ours.push_back(node["last"] == models ? weight.scaled(2, 1) : weight);
                }
            }
            observed.push_back(result["observed"].get<double>());
            parts.push_back(result["expected_p"].get<double>());
        }
        REQUIRE(ours.size() == parts.size());
        auto total = 0.0;
        for (const auto weight : ours) { total += as_double(weight); }
        auto whole_weight = 0.0;
        for (const auto& result : row["result"]) { whole_weight += result["weight"].get<std::uint32_t>(); }
        for (std::size_t i = 0; i < ours.size(); ++i) {
            CHECK(agree(as_double(ours[i]) / total, parts[i]));
            CHECK(agree(row["result"][i]["weight"].get<std::uint32_t>() / whole_weight, parts[i]));
        }
        CHECK(std::accumulate(observed.begin(), observed.end(), 0.0) == row["draws"].get<double>());
        CHECK(may_come_from(parts, observed));
        CHECK(may_come_from(parts, frequencies(ours, 20'000)));
    }
}

TEST_CASE("draws of one node come as often as the first contracts say") {
    for (const auto& row : cases("contracts_v1_selection_frequency")) {
        if (row["k"] != 1) {
            continue;  // draws of several nodes belong to gangs
        }
        CAPTURE(row.dump());
        auto ours = std::vector<Weight>{};
        auto observed = std::vector<double>{};
        auto parts = std::vector<double>{};
        for (const auto& node : row["nodes"]) {
            if (node["vram"] >= row["vramLimit"]) {
                ours.push_back(weight_of(node, 0, 0));
                parts.push_back(node["score"].get<double>());
                const auto& sets = row["observedSets"];
                observed.push_back(sets.value(node["addr"].get<std::string>(), 0.0));
            }
        }
        CHECK(std::accumulate(observed.begin(), observed.end(), 0.0) == row["draws"].get<double>());
        CHECK(may_come_from(parts, observed));
        CHECK(may_come_from(parts, frequencies(ours, 20'000)));
    }
}

TEST_CASE("the first contracts' queue, operation by operation") {
    auto differences = Differences{"contracts_v1_queue"};
    for (const auto& row : cases("contracts_v1_queue")) {
        CAPTURE(row["seq"].dump());
        auto q = Queue{};
        q.limit = row["limit"].get<std::uint64_t>();
        const auto group = [](bool same_card, std::uint32_t vram) {
            return RequirementId{vram * 2 + (same_card ? 1U : 0U)};
        };
        for (const auto& op : row["ops"]) {
            CAPTURE(op.dump());
            const auto kind = op["op"].get<std::string>();
            if (kind == "push") {
                const auto& task = op["task"];
                push(q, op, group(task["type"] == 1, task["vram"].get<std::uint32_t>()), "cap", differences);
                REQUIRE(price(task, "cap") == allot::Value{task["price"].get<std::uint64_t>()});
            } else if (kind == "remove") {
                remove(q, op);
            } else if (kind == "evictCheapest") {
                if (const auto evicted = cheapest(q, op, differences)) { q.erase(*evicted); }
            } else {
                REQUIRE(kind == "pop");
                auto groups = std::vector<RequirementId>{};
                for (std::uint32_t vram = 0; vram <= op["combo"]["minVram"].get<std::uint32_t>(); ++vram) {
                    groups.push_back(group(false, vram));
                    if (op["combo"]["sameGPU"].get<bool>()) { groups.push_back(group(true, vram)); }
                }
                const auto best = q.queue.best(groups, [](TaskHandle) { return true; });
                if (!op["result"].is_number()) {
                    if (best) {
                        differences.note("a price of 0 is never popped; here it is the least (D18)");
                        REQUIRE(q.value(*best) == allot::Value{0});
                    }
                    continue;
                }
                const auto theirs = op["result"].get<std::uint32_t>();
                REQUIRE(best.has_value());
                REQUIRE(q.value(*best) == q.value({theirs}));
                REQUIRE(std::find(groups.begin(), groups.end(), q.waiting.at(theirs).entry.group) != groups.end());
                if (best->value != theirs) {
                    differences.note("equal prices go in the order of a heap or set; here in that of arrival (D24)");
                }
                q.erase(theirs);
            }
        }
    }
}

TEST_CASE("the second contracts' queue, operation by operation") {
    auto differences = Differences{"contracts_v2_queue"};
    for (const auto& row : cases("contracts_v2_queue")) {
        CAPTURE(row["seq"].dump());
        auto q = Queue{};
        q.limit = row["limit"].get<std::uint64_t>();
        auto requirements = std::vector<Requirement>{};
        for (const auto& op : row["ops"]) {
            CAPTURE(op.dump());
            const auto kind = op["op"].get<std::string>();
            if (kind == "push") {
                const auto requirement = requirement_of(op["task"]);
                auto place = std::find(requirements.begin(), requirements.end(), requirement);
                if (place == requirements.end()) { place = requirements.insert(place, requirement); }
                push(q, op, {static_cast<std::uint32_t>(place - requirements.begin())}, "size", differences);
            } else if (kind == "remove") {
                remove(q, op);
            } else if (kind == "cheapest") {
                REQUIRE(q.queue.size() == op["size"].get<std::uint32_t>());
                (void)cheapest(q, op, differences);
            } else {
                REQUIRE(kind == "pop");
                const auto node = class_of(op["node"]);
                auto groups = std::vector<RequirementId>{};
                for (std::uint32_t i = 0; i < requirements.size(); ++i) {
                    if (allot::HardwareFit{}.fits(node, requirements[i]) == allot::Reason::none) {
                        groups.push_back({i});
                    }
                }
                const auto best = q.queue.best(groups, [](TaskHandle) { return true; });
                const auto popped =
                    op["result"].is_number() ? std::optional{op["result"].get<std::uint32_t>()} : std::nullopt;
                if (popped) {
                    REQUIRE(best.has_value());
                    REQUIRE(fits(op["node"], q.waiting.at(*popped).task));
                    REQUIRE(q.value(*best) >= q.value({*popped}));
                }
                if (best && (!popped || q.value(*best) > q.value({*popped}))) {
                    // The contract looks at the tasks of one price in each group, the highest, and wants models and a
                    // price.
                    const auto& task = q.waiting.at(best->value).task;
                    const auto of_group = [](const Json& t) {
                        const auto card = t["requiredGPU"].get<std::string>();
                        return card.empty() ? "any" + t["minVram"].dump() : card + t["requiredGPUVram"].dump();
                    };
                    const auto hidden = std::any_of(q.waiting.begin(), q.waiting.end(), [&](const auto& other) {
                        const auto& t = other.second.task;
                        return of_group(t) == of_group(task) && q.value({other.first}) > q.value(*best);
                    });
                    if (hidden) {
                        differences.note(
                            "a dearer task of its group, too new for the node, hides the best; not here (D17)");
                    } else {
                        differences.note("a task without models or price is never popped; here it is (D18)");
                        REQUIRE((task["models"].empty() || q.value(*best) == allot::Value{0}));
                    }
                } else if (best && best->value != *popped) {
                    differences.note(
                        "equal prices go by models on disk, card and set order; here in that of arrival (D24)");
                }
                if (popped) { q.erase(*popped); }
            }
        }
    }
}

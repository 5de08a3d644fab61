// labels: vectors
// Scores, weights, health, verdict pools, the largest stake, priorities and queue order of the relays, number by
// number.
#include <chrono>
#include <numeric>

#include <allot/core/decay.hpp>
#include <allot/pool/linear_pool.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/queue/linear_queue.hpp>
#include <allot/queue/value_queue.hpp>
#include <allot/valuation/fee_per_weighted_second.hpp>
#include <allot/weight/harmonic_weight.hpp>

#include "support/seed.hpp"
#include "support/stakes.hpp"
#include "vectors/cases.hpp"

namespace {

using namespace support;
using namespace std::chrono_literals;
using allot::Duration;
using allot::OutcomeKind;
using allot::RollingQos;
using allot::Score;
using allot::StakeRoot;
using allot::TimePoint;

auto root(const Json& stake) -> StakeRoot { return StakeRoot::from(whole(stake)); }
auto number(StakeRoot root) -> double { return std::ldexp(root.mantissa(), root.exponent()); }
/// The root of a stake in parts of the largest one's.
auto share(const Json& row) -> double {
    const auto most = root(row["max"]);
    return most.is_zero() ? 0.0 : number(root(row["staking"])) / number(most);
}
auto at_second(const Json& seconds) -> TimePoint { return TimePoint{1h} + seconds.get<std::int64_t>() * 1s; }

}  // namespace

TEST_CASE("staking scores are the relays' to 1e-6, cut at one") {
    auto differences = Differences{"relay_staking_score"};
    for (const auto& row : cases("relay_staking_score")) {
        CAPTURE(row.dump());
        CHECK(agree(share(row), row["score"].get<double>()));
        if (share(row) > 1) {
            differences.note("a stake above a stale maximum scores above 1; here 1, for the maximum is exact (D4)");
            const auto weight =
                allot::HarmonicWeight{}.weight({}, {}, {root(row["staking"]), root(row["max"]), Score::one()});
            CHECK(agree(as_double(weight), 0.5));
        }
    }
}

TEST_CASE("base weights are the relays' to 1e-6, but for the rounding of Q to 2^-30", "[V3]") {
    auto differences = Differences{"relay_base_weight"};
    for (const auto& row : cases("relay_base_weight")) {
        CAPTURE(row.dump());
        const auto weight = [&](Score qos) {
            return as_double(allot::HarmonicWeight{}.weight({}, {}, {root(row["staking"]), root(row["max"]), qos}));
        };
        const auto agrees = [&](double qos, const std::string& generation, double theirs) {
            // What the relay worked with on the way, and its own formula: each field is held to the others.
            const auto staking = row["stakingScore" + generation].get<double>();
            const auto used = row["qosUsed" + generation].get<double>();
            CHECK(agree(staking, share(row)));
            CHECK(agree(used, qos));
            CHECK(agree(theirs, staking * used == 0 ? 0.0 : staking * used / (staking + used)));
            const auto below = score_of(qos);
            const auto above = as_double(below) < qos ? Score::from_raw(below.raw() + 1) : below;
            if (staking > 1) {
                differences.note("a stake above a stale maximum weighs more than its share; here S = 1 (D4)");
                CHECK(agree(weight(Score::one()), 0.5));
                CHECK(theirs > weight(below));
                return;
            }
            if (qos > 1) {
                differences.note("the relay lets Q exceed 1; here scores end at 1");
                CHECK(weight(below) == weight(Score::one()));
                CHECK(theirs >= weight(below));
                return;
            }
            CHECK(weight(below) <= theirs * (1 + 1e-6));
            CHECK(weight(above) >= theirs * (1 - 1e-6));
        };
        agrees(row["qos2026"].get<double>(), "", row["weight2026"].get<double>());
        const auto raw = row["qosRaw2025"].get<double>();
        if (raw == 0) {
            differences.note("2025 takes a score of 0 for a new node's 0.5; here that state is explicit (D7)");
            agrees(0.5, "2025", row["weight2025"].get<double>());
        } else {
            agrees(raw / 10, "2025", row["weight2025"].get<double>());
        }
    }
}

TEST_CASE("health recovers as the relays' does, to 2^-28") {
    for (const auto& row : cases("relay_health_decay_grid")) {
        CAPTURE(row.dump());
        const auto minutes = row["elapsed_minutes"].get<double>();
        const auto start = TimePoint{24h};
        const auto now = start + Duration{std::llround(minutes * 60'000)};
        const auto tau = static_cast<std::uint64_t>(std::llround(row["tau"].get<double>() * 60'000));
        const auto ours = allot::recover(score_of(row["base"].get<double>()), allot::elapsed_ms(start, now), tau);
        CHECK(std::abs(as_double(ours) - row["h"].get<double>()) <= std::ldexp(1, -28));
    }
}

TEST_CASE("health goes step by step as the relays' does, exclusions included") {
    const auto close = [](Score ours, const Json& theirs) {
        return std::abs(as_double(ours) - theirs.get<double>()) <= std::ldexp(1, -26);
    };
    for (const auto& row : cases("relay_health_traces")) {
        CAPTURE(row["case"].dump());
        auto parameters = allot::RollingQosParameters{};
        const auto set = [&](Score& field, const char* name) { field = score_of(row[name].get<double>() + 1e-12); };
        set(parameters.penalty, "penalty");
        set(parameters.penalty_first, "first_penalty");
        set(parameters.first_from, "first_threshold");
        set(parameters.boost, "boost");
        set(parameters.exclude_below, "enter");
        set(parameters.readmit_from, "exit");
        parameters.recovery_tau = Duration{std::llround(row["tau_minutes"].get<double>() * 60'000)};
        if (row["first_threshold"].get<double>() > 1) {
            parameters.penalty_first = parameters.penalty;  // never reached
        }
        const auto qos = RollingQos{parameters};
        auto data = RollingQos::node_data{};
        qos.joined(data, at_second(0));
        if (const auto points = row["q_long"].get<std::uint32_t>(); points > 0) {
            (void)qos.record(data, {OutcomeKind::scored, points}, at_second(0));
        }
        auto excluded = false;
        for (const auto& event : row["events"]) {
            CAPTURE(event.dump());
            const auto time = at_second(event["t_seconds"]);
            REQUIRE(close(qos.health(data, time), event["h_before"]));
            const auto op = event["op"].get<std::string>();
            if (op == "timeout") {
                const auto standing = qos.record(data, {OutcomeKind::timeout_in_group, 0}, time);
                excluded = excluded || standing == allot::Standing::excluded;
            } else if (op == "success") {
                REQUIRE((excluded && qos.back_at(data) <= time) == event["task_start_cleared_flag"].get<bool>());
                excluded = false;  // it ran, so it had been readmitted
                (void)qos.record(data, {OutcomeKind::success, 0}, time);
            } else {
                REQUIRE(op == "read");
            }
            REQUIRE(close(data.health, event["health_base"]));
            REQUIRE(close(qos.health(data, time), event["h_after"]));
            REQUIRE(close(qos.long_term(data), event["qos_long_norm"]));
            REQUIRE(close(qos.score(data, time), event["qos"]));
            REQUIRE(excluded == event["excluded_flag"].get<bool>());
            REQUIRE((excluded && qos.back_at(data) > time) == event["active_exclusion"].get<bool>());
        }
    }
}

TEST_CASE("the largest stake is that of 2026: it falls when the richest leaves") {
    auto differences = Differences{"relay_max_staking"};
    for (const auto& row : cases("relay_max_staking")) {
        CAPTURE(row["case"].dump());
        auto stakes = Stakes{};
        auto slots = std::map<std::string, std::uint32_t>{};
        for (const auto& event : row["events"]) {
            CAPTURE(event.dump());
            const auto slot = slots.emplace(event["addr"].get<std::string>(), slots.size()).first->second;
            stakes.set(slot, whole(event["stake"]));
            if (stakes.root_max().is_zero()) {
                differences.note("without stake a default counts as the largest; here 0, and nobody has weight");
                REQUIRE(event["max2026"] == row["default_when_zero"]);
            } else {
                REQUIRE(stakes.root_max() == root(event["max2026"]));
            }
            if (stakes.root_max() != root(event["max2025"])) {
                differences.note("the largest stake of 2025 never falls (D3)");
                REQUIRE(stakes.root_max() < root(event["max2025"]));
            }
        }
    }
}

TEST_CASE("priorities are those of 2026, but for the relay's rounding and ours of seconds to milliseconds") {
    for (const auto& row : cases("relay_priority")) {
        CAPTURE(row.dump());
        const auto seconds = row["estimate_raw"].get<double>();
        auto task = allot::Task{};
        task.fee = whole(row["fee"]);
        task.duration_estimate = Duration{std::llround(seconds * 1'000)};
        auto requirement = allot::Requirement{};
        requirement.vram_min = {row["min_vram"].get<std::uint32_t>()};
        if (const auto gpu = row["required_gpu"].get<std::string>(); !gpu.empty()) {
            requirement.gpus = {{gpu, {row["required_gpu_vram"].get<std::uint32_t>()}}};
        }
        const auto policy = allot::FeePerWeightedSecond{{.vram_base = {row["base_vram"].get<std::uint32_t>()}}};
        const auto value = policy.value(task, requirement);
        const auto theirs = as_double(whole(row["priority"]));
        CHECK(value.den() == 1);
        CHECK(std::abs(as_double(value.num()) - theirs) <= 1 + 2e-5 * theirs);
        const auto exact =
            as_double(task.fee.units) / (row["estimate_used"].get<double>() * row["vram_weight"].get<double>());
        CHECK(std::abs(as_double(value.num()) - exact) <= 1 + 2e-5 * exact);
    }
}

TEMPLATE_TEST_CASE("a queue told the relay's order of ties gives its tasks in the relay's order", "", allot::ValueQueue,
                   allot::LinearQueue) {
    for (const auto& row : cases("relay_task_queue_heap")) {
        CAPTURE(row["case"].dump());
        auto queue = TestType{};
        auto entries = std::map<std::uint32_t, allot::QueueEntry>{};
        for (const auto& task : row["pushed"]) {
            const auto id = task["id"].get<std::uint32_t>();
            const auto retry = std::uint64_t{task["retry"].get<std::uint16_t>()};
            const auto later = retry << 8U | (0xFFU - task["type"].get<std::uint8_t>());
            const auto entry = allot::QueueEntry{{id}, {0}, {whole(task["fee"]), 1}, later << 32U | id};
            REQUIRE(entry.value.num() == whole(task["fee"]));
            entries[id] = entry;
            queue.push(entry);
        }
        const auto groups = std::vector<allot::RequirementId>{{0}};
        for (const auto& id : row["popped_ids"]) {
            const auto best = queue.best(groups, [](allot::TaskHandle) { return true; });
            REQUIRE(best.has_value());
            REQUIRE(best->value == id.get<std::uint32_t>());
            queue.erase(entries[best->value]);
        }
        REQUIRE(queue.size() == 0);
    }
}

TEST_CASE("draws come as often as the weights say, and the relay's do, but for weights that are all zero") {
    auto differences = Differences{"relay_sampler_frequency"};
    constexpr auto draws = 20'000U;
    for (const auto& row : cases("relay_sampler_frequency")) {
        CAPTURE(row.dump());
        const auto weights = row["weights"].get<std::vector<double>>();
        const auto theirs = row["counts"].get<std::vector<double>>();
        auto exact = std::vector<allot::Weight>{};
        auto pool = allot::LinearPool{};
        auto total = 0.0;
        for (std::uint32_t i = 0; i < weights.size(); ++i) {
            total += weights[i];
            exact.push_back(
                allot::Weight::from_raw(allot::u128{static_cast<std::uint64_t>(std::ldexp(weights[i], 62))} << 30));
            const auto bound = allot::bound_of(exact.back());
            pool.changed({{i}, {0}, i, 0, 0, {}}, {{i}, {0}, i, bound, bound, {}});
        }
        CHECK(agree(total, row["total"].get<double>()));
        const auto classes = std::vector<allot::ClassId>{{0}};
        auto ours = std::vector<double>(weights.size());
        for (std::uint32_t i = 0; i < draws; ++i) {
            auto random = allot::Random{allot::Entropy{seed()}, allot::Purpose::dispatch, {}, 0, i};
            const auto weigh = [&](allot::NodeHandle node, std::uint32_t) { return exact[node.value]; };
            if (const auto drawn = pool.draw({classes, {}}, weigh, random)) { ++ours[drawn->node.value]; }
        }
        if (total == 0) {
            differences.note("all weights zero: the relay takes index 0 each time; here nobody is drawn (D1, D2)");
            CHECK(theirs[0] == row["draws"].get<double>());
            CHECK(ours == std::vector<double>(weights.size()));
            continue;
        }
        CHECK(std::accumulate(ours.begin(), ours.end(), 0.0) == draws);
        CHECK(may_come_from(weights, theirs));
        CHECK(may_come_from(weights, ours));
    }
}

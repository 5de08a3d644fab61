// labels: vectors
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <allot/validation/judgement.hpp>

#include "support/catch.hpp"
#include "validation/support/against_relay.hpp"
#include "vectors/cases.hpp"

using namespace validation_test;

namespace {

/// "0x" and two digits a byte.
auto bytes(const std::string& hex) -> std::vector<std::uint8_t> {
    REQUIRE((hex.size() % 2 == 0 && hex.compare(0, 2, "0x") == 0));
    auto out = std::vector<std::uint8_t>{};
    for (std::size_t i = 2; i < hex.size(); i += 2) {
        auto used = std::size_t{0};
        out.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), &used, 16)));
        REQUIRE(used == 2);
    }
    return out;
}

constexpr auto text_task = 1;  // compared by its bytes; the others are images

}  // namespace

TEST_CASE("groups of the relay are judged as the relay judges them, but for D34 and D35") {
    for (const auto& given : support::cases("relay_validation_group")) {
        CAPTURE(given.dump());
        auto tasks = std::array<relay::Task, 3>{};
        auto theirs = std::array<relay::Outcome, 3>{};
        REQUIRE(given["tasks"].size() == 3);
        REQUIRE(given["outcome"].size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto& task = given["tasks"][i];
            const auto& outcome = given["outcome"][i];
            REQUIRE(task["id"] == outcome["id"]);
            tasks[i] = {task["id"].get<std::uint64_t>(), task["status"].get<int>(), task["seconds"].get<std::int64_t>(),
                        bytes(task["score"])};
            REQUIRE((tasks[i].seconds == -1) == (tasks[i].status == relay::aborted));  // all aborted ones timed out
            theirs[i] = {outcome["next"].get<int>(), outcome["qos"].get<std::uint32_t>(),
                         outcome["qos_valid"].get<bool>(), outcome["timeout_zero_enters_pool"].get<bool>()};
        }
        const auto threshold = given["distance_threshold"].get<std::uint32_t>();
        const auto text = given["task_type"] == text_task;

        // The table that the exhaustive test goes by is that of the real code.
        const auto table = relay::table(tasks, text ? std::nullopt : std::optional{static_cast<int>(threshold)});
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(table[i].next == theirs[i].next);
            CHECK(table[i].qos == theirs[i].qos);
            CHECK(table[i].qos_valid == theirs[i].qos_valid);
            CHECK(table[i].timeout_zero_enters_pool == theirs[i].timeout_zero_enters_pool);
        }
        const auto comparison = text ? allot::Comparison::exact() : allot::Comparison::hamming(threshold);
        auto parameters = allot::ValidationParameters::relay_2026();
        parameters.comparison = comparison;
        check_against(judge(answers_of(tasks), parameters), theirs, tasks);
    }
}

// Defect D23: the contracts work out the order of speed and then score by the place in the argument list: always 10,
// 9, 6. Ours scores by speed, the lower task id among equals.
TEST_CASE("points follow speed where those of the contracts follow the place in a list (D23)") {
    for (const auto& given : support::cases("contracts_v2_group_qos")) {
        CAPTURE(given.dump());
        const auto points = std::array<std::uint32_t, 3>{10, 9, 6};
        REQUIRE(given["timeCosts"].size() == 3);
        REQUIRE(given["scoresByGroupPosition"].size() == 3);
        auto tasks = std::array<relay::Task, 3>{};
        auto cost = std::array<std::int64_t, 3>{};
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(given["scoresByGroupPosition"][i] == points[i]);  // the value the real code gives
            cost[i] = given["timeCosts"][i].get<std::int64_t>();
            tasks[i] = {i + 1, relay::score_ready, cost[i], {7}};
        }
        const auto judgement = judge(answers_of(tasks), {.rank_points = points});
        for (std::size_t i = 0; i < 3; ++i) {
            auto faster = std::size_t{0};
            for (std::size_t j = 0; j < 3; ++j) {
                faster += cost[j] < cost[i] || (cost[j] == cost[i] && j < i) ? 1U : 0U;
            }
            CHECK(judgement.points[i] == points[faster]);
        }
    }
}

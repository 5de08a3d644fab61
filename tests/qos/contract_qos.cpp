#include <vector>

#include <allot/qos/contract_qos.hpp>

#define ALLOT_MODEL allot::ContractQos
#include "conformance/qos.ipp"

namespace {

using allot::ContractQos;
using allot::ContractScores;
using allot::Outcome;
using allot::OutcomeKind;
using allot::Score;
using allot::Standing;

constexpr auto first_contracts = allot::ContractQosParameters{20, 20, 20, 20, false};

/// What the tracker concludes from the last of these points.
auto after(const ContractQos& qos, ContractScores& data, const std::vector<std::uint32_t>& points) -> Standing {
    auto standing = Standing::good;
    for (const auto p : points) { standing = qos.record(data, {OutcomeKind::scored, p}, {}); }
    return standing;
}
auto after(const ContractQos& qos, const std::vector<std::uint32_t>& points) -> Standing {
    auto data = ContractScores{};
    return after(qos, data, points);
}

}  // namespace

TEST_CASE("a new node has the best score, and its first task decides it") {
    const auto qos = ContractQos{};
    auto data = ContractScores{};
    CHECK(qos.score(data, {}) == Score::one());
    (void)after(qos, data, {10});
    CHECK(qos.score(data, {}) == Score::from_ratio(10, 20));
    (void)after(qos, data, {9});
    CHECK(qos.score(data, {}) == Score::from_ratio(9, 20));  // 9.5, rounded down
    (void)after(qos, data, {0});
    CHECK(qos.score(data, {}) == Score::from_ratio(6, 20));
}

TEST_CASE("no score falls below one of twenty") {
    const auto qos = ContractQos{};
    auto data = ContractScores{};
    (void)after(qos, data, {0, 0, 0});
    CHECK(data.mean(20) == 0);
    CHECK(qos.score(data, {}) == Score::from_ratio(1, 20));
}

TEST_CASE("two timeouts kick a fresh node out, in both generations") {
    CHECK(after(ContractQos{}, {0}) == Standing::good);
    CHECK(after(ContractQos{}, {0, 0}) == Standing::kicked_out);
    CHECK(after(ContractQos{first_contracts}, {0}) == Standing::good);
    CHECK(after(ContractQos{first_contracts}, {0, 0}) == Standing::kicked_out);
}

TEST_CASE("a full window of ten points, or of twenty in two rounds, kicks out") {
    CHECK(after(ContractQos{}, {10, 10, 10, 0, 0}) == Standing::kicked_out);
    CHECK(after(ContractQos{}, {10, 10, 0, 10}) == Standing::good);
    CHECK(after(ContractQos{first_contracts}, {20, 20, 20, 0, 0}) == Standing::kicked_out);
    CHECK(after(ContractQos{first_contracts}, {20, 20, 12, 0, 6}) == Standing::kicked_out);
    CHECK(after(ContractQos{first_contracts}, {20, 20, 20, 15, 0, 6}) == Standing::good);
}

TEST_CASE("who comes back after a kick-out starts a new window, with the old mean") {
    const auto qos = ContractQos{};
    auto data = ContractScores{};
    CHECK(after(qos, data, {10, 0, 0}) == Standing::kicked_out);
    qos.joined(data, {});
    CHECK(data.mean(20) == 3);
    CHECK(after(qos, data, {0}) == Standing::good);
    CHECK(after(qos, data, {0}) == Standing::kicked_out);
}

TEST_CASE("timeouts and wrong results are zeros, success waits for its verdict, a blameless end is full or nothing",
          "[A9]") {
    const auto ended = [](const ContractQos& qos, OutcomeKind kind) {
        auto data = ContractScores{};
        (void)qos.record(data, {kind, 0}, {});
        return data;
    };
    const auto second = ContractQos{};
    const auto first = ContractQos{first_contracts};
    for (const auto kind : {OutcomeKind::timeout, OutcomeKind::incorrect_result}) {
        CHECK(ended(second, kind).tasks == 1);
        CHECK(ended(second, kind).total == 0);
        CHECK(ended(first, kind).tasks == 1);
    }
    for (const auto kind : {OutcomeKind::success, OutcomeKind::timeout_in_group, OutcomeKind::declined}) {
        CHECK(ended(second, kind) == ContractScores{});
    }
    for (const auto kind : {OutcomeKind::cancelled, OutcomeKind::out_of_memory, OutcomeKind::model_download,
                            OutcomeKind::execution_error}) {
        CHECK(ended(second, kind).total == 10);
        CHECK(ended(first, kind) == ContractScores{});
    }
}

TEST_CASE("books that no contract kept are not valid") {
    auto data = ContractScores{};
    CHECK(data.valid());
    (void)after(ContractQos{}, data, {10, 9, 6, 0});
    CHECK(data.valid());
    const auto wrong = [&](auto&& change) {
        auto other = data;
        change(other);
        return !other.valid();
    };
    CHECK(wrong([](auto& d) { d.recent_tasks = d.tasks + 1; }));
    CHECK(wrong([](auto& d) { d.recent_tasks = 0; }));
    CHECK(wrong([](auto& d) { d.recent[1] = 5'000; }));
    CHECK(wrong([](auto& d) { d.total = 20'000; }));
    CHECK(wrong([](auto& d) { d.current = 5'000; }));
    CHECK(wrong([](auto& d) { d.tasks = ~std::uint64_t{0}; }));
}

TEST_CASE("parameters that would kick a new node out, or lift a mean above the best, are not valid") {
    using Parameters = allot::ContractQosParameters;
    CHECK(Parameters{}.valid());
    CHECK(first_contracts.valid());
    CHECK_FALSE(Parameters{.kick_out_at = 30}.valid());
    CHECK_FALSE(Parameters{.points_max = 21}.valid());
    CHECK_FALSE(Parameters{.points_max = 0}.valid());
    CHECK_FALSE(Parameters{.points_new = 1'001}.valid());
}

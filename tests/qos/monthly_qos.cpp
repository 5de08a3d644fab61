#include <chrono>
#include <deque>
#include <random>

#include <allot/qos/monthly_qos.hpp>

#define ALLOT_MODEL allot::MonthlyQos
#include "conformance/qos.ipp"

namespace {

using namespace std::chrono_literals;
using allot::MonthlyQos;
using allot::OutcomeKind;
using allot::Samples;
using allot::Score;
using allot::Standing;
using allot::TimePoint;
using Data = MonthlyQos::node_data;

constexpr auto day = 24h;

auto scored(Data& data, std::uint32_t points, TimePoint time, const MonthlyQos& qos = MonthlyQos{}) -> Standing {
    return qos.record(data, {OutcomeKind::scored, points}, time);
}

}  // namespace

TEST_CASE("a node without samples says so and has half a score") {
    const auto qos = MonthlyQos{};
    const auto data = Data{};
    CHECK(qos.month(data, TimePoint{day}) == Samples{});
    CHECK_FALSE(qos.month(data, TimePoint{day}).mean(20));
    CHECK(qos.last(data, 3) == Samples{});
    CHECK(qos.score(data, TimePoint{day}) == Score::from_ratio(1, 2));
    auto zero = data;
    (void)scored(zero, 0, TimePoint{day});
    CHECK(qos.score(zero, TimePoint{day}) == Score::zero());  // known to be bad is not unknown
}

TEST_CASE("the month is today and the 29 days before") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    (void)scored(data, 20, TimePoint{100 * day + 1h});
    (void)scored(data, 10, TimePoint{100 * day + 2h});
    (void)scored(data, 6, TimePoint{129 * day});
    CHECK(qos.month(data, TimePoint{129 * day}) == Samples{36, 3});
    CHECK(qos.score(data, TimePoint{129 * day}) == Score::from_ratio(36, 60));
    CHECK(qos.month(data, TimePoint{130 * day}) == Samples{6, 1});
    CHECK(qos.month(data, TimePoint{158 * day}) == Samples{6, 1});
    CHECK(qos.month(data, TimePoint{159 * day}) == Samples{});
    (void)scored(data, 19, TimePoint{131 * day});
    CHECK(qos.month(data, TimePoint{131 * day}) == Samples{25, 2});
    (void)scored(data, 1, TimePoint{1'000 * day});
    CHECK(qos.month(data, TimePoint{1'000 * day}) == Samples{1, 1});
}

TEST_CASE("between two tasks the score stands still, whatever the month says") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    (void)scored(data, 20, TimePoint{100 * day});
    (void)scored(data, 10, TimePoint{110 * day});
    CHECK(qos.month(data, TimePoint{135 * day}) == Samples{10, 1});
    CHECK(qos.score(data, TimePoint{135 * day}) == Score::from_ratio(30, 40));
}

TEST_CASE("the last fifty are remembered, and any number of them asked for") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    for (std::uint32_t i = 0; i < 60; ++i) {
        (void)scored(data, i % 20, TimePoint{i * day});
    }
    CHECK(qos.last(data, 3) == Samples{17 + 18 + 19, 3});
    CHECK(qos.last(data, 50) == Samples{145 + 190 + 190, 50});  // 10..19, 0..19, 0..19
    CHECK(qos.last(data, 51).count == 50);
    CHECK(qos.last(data, 0) == Samples{});
}

TEST_CASE("the last three kick out") {
    auto data = Data{};
    CHECK(scored(data, 0, {}) == Standing::good);
    CHECK(scored(data, 0, {}) == Standing::good);  // not yet three
    CHECK(scored(data, 20, {}) == Standing::kicked_out);
    CHECK(scored(data, 20, {}) == Standing::good);
    const auto strict = MonthlyQos{{.kick_out_window = 2, .kick_out_at = 39}};
    CHECK(scored(data, 19, {}, strict) == Standing::kicked_out);
}

TEST_CASE("timeouts and wrong results are zeros; what tells nothing changes nothing") {
    const auto ended = [](OutcomeKind kind, const MonthlyQos& qos = MonthlyQos{}) {
        auto data = Data{};
        (void)qos.record(data, {kind, 0}, TimePoint{day});
        return data;
    };
    CHECK(ended(OutcomeKind::timeout).count == 1);
    CHECK(ended(OutcomeKind::timeout, MonthlyQos{{.timeout_scores_zero = false}}) == Data{});
    CHECK(ended(OutcomeKind::incorrect_result).count == 1);
    for (const auto kind : {OutcomeKind::success, OutcomeKind::timeout_in_group, OutcomeKind::declined, OutcomeKind::cancelled,
                            OutcomeKind::execution_error}) {
        CHECK(ended(kind) == Data{});
    }
}

TEST_CASE("the buckets agree with a list of all samples") {
    const auto qos = MonthlyQos{};
    auto random = std::mt19937_64{support::seed()};
    auto data = Data{};
    auto all = std::deque<std::pair<std::int64_t, std::uint32_t>>{};
    auto hour = std::int64_t{0};
    for (auto i = 0; i < 3'000; ++i) {
        hour += static_cast<std::int64_t>(random() % (random() % 100 == 0 ? 900 : 30));
        const auto points = static_cast<std::uint32_t>(random() % 21);
        (void)scored(data, points, TimePoint{hour * 1h});
        all.emplace_back(hour / 24, points);
        const auto asked = hour + static_cast<std::int64_t>(random() % 800);
        auto right = Samples{};
        for (const auto& [d, p] : all) {
            if (d > asked / 24 - 30) {
                right.sum += p;
                ++right.count;
            }
        }
        REQUIRE(qos.month(data, TimePoint{asked * 1h}) == right);
        REQUIRE(data.valid());
    }
}

TEST_CASE("data that no tracker wrote is not valid") {
    auto data = Data{};
    CHECK(data.valid());
    (void)scored(data, 7, TimePoint{40 * day});
    CHECK(data.valid());
    const auto wrong = [&](auto&& change) {
        auto other = data;
        change(other);
        return !other.valid();
    };
    CHECK(wrong([](Data& d) { d.next = 50; }));
    CHECK(wrong([](Data& d) { d.count = 51; }));
    CHECK(wrong([](Data& d) { d.count = 0; }));
    CHECK(wrong([](Data& d) { d.last[5] = 1; }));
    CHECK(wrong([](Data& d) { d.day_points[10] = 256; }));
    CHECK(wrong([](Data& d) { d.day = 41; }));
    CHECK(wrong([](Data& d) { d.day = 30'000'010; }));
}

TEST_CASE("windows beyond fifty and thresholds that every node falls under are not valid") {
    using Parameters = allot::MonthlyQosParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.kick_out_window = 51}.valid());
    CHECK_FALSE(Parameters{.kick_out_window = 0}.valid());
    CHECK_FALSE(Parameters{.kick_out_at = 60}.valid());
    CHECK_FALSE(Parameters{.points_max = 256}.valid());
}

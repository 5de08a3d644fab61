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
    CHECK(qos.score(zero, TimePoint{day}) == Score::from_ratio(1, 100));  // known to be bad is not unknown
}

TEST_CASE("a month is the last 30 times 24 hours, whatever the calendar says", "[J5]") {
    const auto qos = MonthlyQos{};
    for (const auto begin : {100 * day + 0h, 100 * day + 1h, 100 * day + 23h}) {
        auto data = Data{};
        (void)scored(data, 20, TimePoint{begin});
        CHECK(qos.month(data, TimePoint{begin + 30 * day - 1ms}) == Samples{20, 1});
        CHECK(qos.month(data, TimePoint{begin + 30 * day}) == Samples{});
        (void)scored(data, 6, TimePoint{begin + 30h});
        CHECK(qos.month(data, TimePoint{begin + 30 * day - 1ms}) == Samples{26, 2});
        CHECK(qos.month(data, TimePoint{begin + 30 * day}) == Samples{6, 1});
        CHECK(qos.month(data, TimePoint{begin + 30 * day + 30h}) == Samples{});
        (void)scored(data, 1, TimePoint{1'000 * day});
        CHECK(qos.month(data, TimePoint{1'000 * day}) == Samples{1, 1});
    }
}

TEST_CASE("tasks of 24 hours are forgotten together, 30 days after the first of them") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    (void)scored(data, 20, TimePoint{10 * day + 20h});
    (void)scored(data, 10, TimePoint{11 * day + 19h});
    (void)scored(data, 4, TimePoint{11 * day + 20h});
    CHECK(qos.month(data, TimePoint{40 * day + 20h - 1ms}) == Samples{34, 3});
    CHECK(qos.month(data, TimePoint{40 * day + 20h}) == Samples{4, 1});
    CHECK(qos.month(data, TimePoint{41 * day + 20h}) == Samples{});
}

TEST_CASE("the score is that of the month that ends now: zeros age out of it, and good tasks, too", "[A2][J5]") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    (void)scored(data, 0, TimePoint{100 * day});
    (void)scored(data, 20, TimePoint{110 * day});
    (void)scored(data, 5, TimePoint{120 * day});
    CHECK(qos.score(data, TimePoint{129 * day}) == Score::from_ratio(25, 60));
    CHECK(qos.score(data, TimePoint{130 * day}) == Score::from_ratio(25, 40));
    CHECK(qos.score(data, TimePoint{140 * day}) == Score::from_ratio(5, 20));
    CHECK(qos.score(data, TimePoint{150 * day}) == Score::from_ratio(1, 2));  // as before the first
    CHECK(qos.score_max(data) == Score::from_ratio(25, 40));
}

TEST_CASE("the last fifty are remembered, and any number of them asked for") {
    const auto qos = MonthlyQos{};
    auto data = Data{};
    for (std::uint32_t i = 0; i < 60; ++i) { (void)scored(data, i % 20, TimePoint{i * day}); }
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
    for (const auto kind : {OutcomeKind::success, OutcomeKind::timeout_in_group, OutcomeKind::declined,
                            OutcomeKind::cancelled, OutcomeKind::execution_error}) {
        CHECK(ended(kind) == Data{});
    }
}

TEST_CASE("the ring of days agrees with a list of all days") {
    const auto qos = MonthlyQos{};
    auto random = std::mt19937_64{support::seed()};
    auto data = Data{};
    auto all = std::deque<std::pair<std::int64_t, Samples>>{};
    auto hour = std::int64_t{0};
    for (auto i = 0; i < 3'000; ++i) {
        hour += static_cast<std::int64_t>(random() % (random() % 100 == 0 ? 900 : 30));
        const auto points = static_cast<std::uint32_t>(random() % 21);
        (void)scored(data, points, TimePoint{hour * 1h});
        if (all.empty() || hour - all.back().first >= 24) {
            all.emplace_back(hour, Samples{});  // a day of its own
        }
        all.back().second.sum += points;
        ++all.back().second.count;
        const auto asked = hour + static_cast<std::int64_t>(random() % 800);
        auto right = Samples{};
        for (const auto& [from, taken] : all) {
            if (asked - from < 30 * 24) {
                right.sum += taken.sum;
                right.count += taken.count;
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
    CHECK(wrong([](Data& d) { d.day[0].points = 256; }));
    CHECK(wrong([](Data& d) { d.day[0].tasks = 0; }));
    CHECK(wrong([](Data& d) { d.day[0].from = TimePoint::max(); }));
    CHECK(wrong([](Data& d) { d.day[1].from = TimePoint{1h}; }));
    CHECK(wrong([](Data& d) { d.today = 1; }));
    CHECK(wrong([](Data& d) { d.today = 30; }));
    CHECK(wrong([](Data& d) { d.day[29] = {TimePoint{39 * day + 1h}, 3, 1}; }));  // less than a day before the newest
    CHECK(wrong([](Data& d) { d.day[28] = {TimePoint{30 * day}, 3, 1}; }));       // an empty day between two
    data.day[29] = {TimePoint{39 * day}, 3, 1};
    CHECK(data.valid());
}

TEST_CASE("windows beyond fifty and thresholds that every node falls under are not valid") {
    using Parameters = allot::MonthlyQosParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.kick_out_window = 51}.valid());
    CHECK_FALSE(Parameters{.kick_out_window = 0}.valid());
    CHECK_FALSE(Parameters{.kick_out_at = 60}.valid());
    CHECK_FALSE(Parameters{.points_max = 256}.valid());
}

TEST_CASE("a score of zero for new nodes or bad ones, who were then never drawn, is not valid", "[A2]") {
    using Parameters = allot::MonthlyQosParameters;
    CHECK_FALSE(Parameters{.score_new = Score::zero()}.valid());
    CHECK_FALSE(Parameters{.score_floor = Score::zero()}.valid());
}

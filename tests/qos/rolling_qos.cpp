#include <chrono>
#include <cstdint>
#include <tuple>
#include <vector>

#include <allot/preset/crynux_relay_2026.hpp>
#include <allot/preset/hardened.hpp>
#include <allot/qos/rolling_qos.hpp>
#include <allot/store/digest.hpp>

#define ALLOT_MODEL allot::RollingQos
#include "conformance/qos.ipp"

namespace {

using namespace std::chrono_literals;
using allot::Outcome;
using allot::OutcomeKind;
using allot::RollingQos;
using allot::Score;
using allot::Standing;
using allot::TimePoint;
using Data = RollingQos::node_data;

const auto start = TimePoint{1h};

auto joined(const RollingQos& qos = RollingQos{}) -> Data {
    auto data = Data{};
    qos.joined(data, start);
    return data;
}
auto scored(std::uint32_t points) -> Outcome { return {OutcomeKind::scored, points}; }
/// A node that got so many verdicts of so many points.
auto with(std::uint32_t count, std::uint32_t points, const RollingQos& qos = RollingQos{}) -> Data {
    auto data = joined(qos);
    for (std::uint32_t i = 0; i < count; ++i) { (void)qos.record(data, scored(points), start); }
    return data;
}
/// Equal but for the roundings of scores, of which there are few.
auto near(Score score, std::uint64_t num, std::uint64_t den) -> bool {
    const auto right = Score::from_ratio(num, den).raw();
    const auto is = score.raw();
    UNSCOPED_INFO("score " << is << ", right " << right);
    return (is > right ? is - right : right - is) <= 4;
}

}  // namespace

TEST_CASE("a new node has half a score and full health") {
    const auto qos = RollingQos{};
    const auto data = joined();
    CHECK(qos.long_term(data) == Score::from_ratio(1, 2));
    CHECK(qos.health(data, start) == Score::one());
    CHECK(qos.score(data, start) == Score::from_ratio(1, 2));
}

TEST_CASE("the long-term score is the mean verdict: 10, 7.5, 5.67 tenths") {
    const auto qos = RollingQos{};
    auto data = joined();
    (void)qos.record(data, scored(10), start);
    CHECK(qos.long_term(data) == Score::one());
    (void)qos.record(data, scored(5), start);
    CHECK(qos.long_term(data) == Score::from_ratio(75, 100));
    (void)qos.record(data, scored(2), start);
    CHECK(qos.long_term(data) == Score::from_ratio(17, 30));
}

TEST_CASE("a node whose every verdict was zero is no new node") {
    const auto qos = RollingQos{};
    CHECK(qos.long_term(with(1, 0)) == Score::zero());
    CHECK(qos.score(with(1, 0), start) < qos.score(joined(), start));
}

TEST_CASE("a node with zeros alone keeps a hundredth, so that it can better itself or be kicked out", "[A2]") {
    const auto qos = RollingQos{};
    CHECK(qos.score(with(49, 0), start) == Score::from_ratio(1, 100));
    // Full, but never judged in a window of this length: it was made smaller since.
    CHECK(RollingQos{{.window = 10}}.score(with(49, 0), start) == Score::from_ratio(1, 100));
    CHECK(qos.score_max(with(49, 0)) == Score::from_ratio(1, 100));
    CHECK(RollingQos{{.score_floor = Score::zero()}}.score(with(49, 0), start) == Score::zero());
}

TEST_CASE("a full window drops the oldest verdict: 3.0 and a 10 are 3.14") {
    const auto qos = RollingQos{};
    auto data = with(50, 3);
    (void)qos.record(data, scored(10), start);
    CHECK(qos.long_term(data) == Score::from_ratio(314, 1'000));
    for (auto i = 0; i < 49; ++i) { (void)qos.record(data, scored(10), start); }
    CHECK(qos.long_term(data) == Score::one());
}

TEST_CASE("a window that was made smaller forgets at the next verdict") {
    auto data = with(50, 2);
    const auto narrow = RollingQos{{.window = 4}};
    (void)narrow.record(data, scored(10), start);
    CHECK(narrow.long_term(data) == Score::from_ratio(2 + 2 + 2 + 10, 40));
}

TEST_CASE("timeouts in a row leave health of 0.95, 0.285 and 0.0855, and the third excludes") {
    const auto qos = RollingQos{{.timeout_scores_zero = false}};
    auto data = joined(qos);
    CHECK(qos.record(data, {OutcomeKind::timeout}, start) == Standing::good);
    CHECK(near(qos.health(data, start), 95, 100));
    CHECK(qos.record(data, {OutcomeKind::timeout}, start) == Standing::good);
    CHECK(near(qos.health(data, start), 285, 1'000));
    CHECK(qos.record(data, {OutcomeKind::timeout_in_group}, start) == Standing::excluded);
    CHECK(near(qos.health(data, start), 855, 10'000));
}

TEST_CASE("a timeout counts as the first from a health of 0.99 on") {
    const auto qos = RollingQos{};
    auto data = joined();
    data.health = Score::from_ratio(99, 100);
    (void)qos.record(data, {OutcomeKind::timeout}, start);
    CHECK(near(qos.health(data, start), 9'405, 10'000));
    data.health = Score::from_raw(Score::from_ratio(99, 100).raw() - 1);
    (void)qos.record(data, {OutcomeKind::timeout}, start);
    CHECK(near(qos.health(data, start), 297, 1'000));
}

TEST_CASE("an excluded node is back when its health is 0.8 again: 45.6 minutes after 0.0855") {
    const auto qos = RollingQos{};
    auto data = joined();
    for (auto i = 0; i < 3; ++i) { (void)qos.record(data, {OutcomeKind::timeout}, start); }
    const auto back_at = qos.back_at(data);
    REQUIRE(back_at.has_value());
    const auto wait = *back_at - start;
    CHECK(wait > 45min + 35s);  // 30 ln(0.9145 / 0.2) = 45.604 minutes
    CHECK(wait < 45min + 37s);
    CHECK(qos.health(data, *back_at) >= Score::from_ratio(8, 10));
    CHECK(qos.health(data, *back_at - 1ms) < Score::from_ratio(8, 10));
}

TEST_CASE("health of 0.3 is 0.742484 after half an hour") {
    const auto qos = RollingQos{};
    auto data = joined();
    data.health = Score::from_ratio(3, 10);
    CHECK(near(qos.health(data, start + 30min), 742'484'391'180, 1'000'000'000'000));
    CHECK(qos.health(data, start - 1h) == data.health);  // no time before the last change
    CHECK(qos.health(data, start + 24h * 30) == Score::one());
}

TEST_CASE("a success adds 0.15 to health, up to one") {
    const auto qos = RollingQos{};
    auto data = joined();
    data.health = Score::from_ratio(285, 1'000);
    CHECK(qos.record(data, {OutcomeKind::success}, start) == Standing::good);
    CHECK(near(qos.health(data, start), 435, 1'000));
    data.health = Score::from_ratio(9, 10);
    (void)qos.record(data, {OutcomeKind::success}, start);
    CHECK(qos.health(data, start) == Score::one());
}

TEST_CASE("health of exactly 0.2 does not exclude, and a half that times out at 0.3 does") {
    const auto quarter = RollingQos{{.penalty = Score::from_ratio(1, 4), .exclude_below = Score::from_ratio(1, 8)}};
    auto data = joined(quarter);
    data.health = Score::from_ratio(1, 2);
    CHECK(quarter.record(data, {OutcomeKind::timeout}, start) == Standing::good);
    CHECK(quarter.health(data, start) == Score::from_ratio(1, 8));

    const auto qos = RollingQos{};
    data = joined();
    data.health = Score::from_ratio(1, 2);
    CHECK(qos.record(data, {OutcomeKind::timeout}, start) == Standing::excluded);
    CHECK(near(qos.health(data, start), 15, 100));
}

TEST_CASE("a full window with a mean below a fifth kicks out, and no window before it is full") {
    const auto qos = RollingQos{};
    auto data = with(48, 1);
    CHECK(qos.record(data, scored(1), start) == Standing::good);
    CHECK(qos.record(data, scored(1), start) == Standing::kicked_out);
    data = with(49, 2);
    CHECK(qos.record(data, scored(2), start) == Standing::good);  // exactly a fifth
    CHECK(qos.record(data, scored(1), start) == Standing::kicked_out);
}

TEST_CASE("a node that only times out is kicked out after fifty tasks") {
    const auto qos = RollingQos{};
    auto data = joined();
    for (auto i = 0; i < 49; ++i) {
        REQUIRE(qos.record(data, {OutcomeKind::timeout}, start + 10h * i) != Standing::kicked_out);
    }
    CHECK(qos.record(data, {OutcomeKind::timeout}, start + 500h) == Standing::kicked_out);
}

TEST_CASE("in a validation group a timeout is scored by the group") {
    const auto qos = RollingQos{};
    auto data = joined();
    (void)qos.record(data, {OutcomeKind::timeout_in_group}, start);
    CHECK(qos.long_term(data) == Score::from_ratio(1, 2));
    (void)qos.record(data, {OutcomeKind::timeout}, start);
    CHECK(qos.long_term(data) == Score::zero());
}

TEST_CASE("a wrong result scores zero, and what is not the node's fault changes nothing") {
    const auto qos = RollingQos{};
    auto data = with(1, 10);
    (void)qos.record(data, {OutcomeKind::incorrect_result}, start);
    CHECK(qos.long_term(data) == Score::from_ratio(1, 2));
    const auto before = data;
    for (const auto kind : {OutcomeKind::out_of_memory, OutcomeKind::model_download, OutcomeKind::execution_error,
                            OutcomeKind::declined, OutcomeKind::cancelled}) {
        CHECK(qos.record(data, {kind}, start + 1h) == Standing::good);
        CHECK(data == before);
    }
}

TEST_CASE("a returning node is lifted to 0.3 of the long-term score, and no further") {
    const auto qos = RollingQos{};
    auto data = with(50, 1);
    qos.joined(data, start + 1h);
    CHECK(qos.long_term(data) == Score::from_ratio(3, 10));
    (void)qos.record(data, scored(10), start);
    CHECK(qos.long_term(data) == Score::from_ratio(314, 1'000));

    auto good = with(50, 5);
    const auto before = good;
    qos.joined(good, start + 1h);
    CHECK(good == before);

    auto never_scored = joined();
    qos.joined(never_scored, start + 1h);
    CHECK(qos.long_term(never_scored) == Score::from_ratio(1, 2));
}

TEST_CASE("leaving cures nothing, unless the parameter says so") {
    const auto qos = RollingQos{};
    auto data = joined();
    for (auto i = 0; i < 3; ++i) { (void)qos.record(data, {OutcomeKind::timeout_in_group}, start); }
    auto other = data;
    qos.joined(data, start);
    CHECK(near(qos.health(data, start), 855, 10'000));
    RollingQos{{.rejoin_clears_health = true}}.joined(other, start);
    CHECK(qos.health(other, start) == Score::one());
}

TEST_CASE("a node on probation scores no more than an eighth until it had so many good verdicts", "[A4]") {
    const auto qos = RollingQos{{.proven_from = 3, .score_unproven = Score::from_ratio(1, 8)}};
    for (const auto verdicts : {0U, 1U, 2U}) {
        const auto data = with(verdicts, 10, qos);
        CHECK_FALSE(qos.proven(data));
        CHECK(qos.score(data, start) == Score::from_ratio(1, 8));
        CHECK(qos.score_max(data) == Score::from_ratio(1, 8));
    }
    CHECK(qos.proven(with(3, 10, qos)));
    CHECK(qos.score(with(3, 10, qos), start) == Score::one());
    CHECK(qos.score(with(2, 0, qos), start) == Score::from_ratio(1, 100));  // a cap, and no gift
    CHECK(RollingQos{}.proven(joined()));
    // A window of ones would remove it, one of twos would not.
    CHECK_FALSE(qos.proven(with(49, 0, qos)));
    CHECK_FALSE(qos.proven(with(49, 1, qos)));
    CHECK(qos.proven(with(3, 2, qos)));
    const auto lenient = RollingQos{{.kick_out_below = Score::zero(), .proven_from = 3}};
    CHECK_FALSE(lenient.proven(with(49, 0, lenient)));
    CHECK(lenient.proven(with(3, 1, lenient)));
    CHECK(qos.proven(with(1'000, 10, qos)));
}

TEST_CASE("a returning node that is lifted to the floor begins its probation anew", "[A4]") {
    const auto qos = RollingQos{{.proven_from = 3, .score_unproven = Score::from_ratio(1, 8)}};
    auto fresh = with(1, 0, qos);
    qos.joined(fresh, start + 1h);
    CHECK(qos.long_term(fresh) == Score::from_ratio(3, 10));
    CHECK_FALSE(qos.proven(fresh));
    CHECK(qos.score(fresh, start + 1h) == Score::from_ratio(1, 8));
    (void)qos.record(fresh, scored(10), start + 1h);
    (void)qos.record(fresh, scored(10), start + 1h);
    CHECK_FALSE(qos.proven(fresh));
    (void)qos.record(fresh, scored(10), start + 1h);
    CHECK(qos.proven(fresh));

    auto good = with(3, 10, qos);
    qos.joined(good, start + 1h);
    CHECK(qos.proven(good));
}

TEST_CASE("the floor is that of the whole window, rounded up to a point, whatever the best verdict") {
    const auto yes_or_no = RollingQos{{.points_max = 1}};
    auto data = with(50, 0, yes_or_no);
    yes_or_no.joined(data, start);
    CHECK(yes_or_no.long_term(data) == Score::from_ratio(15, 50));
    const auto few = RollingQos{{.window = 7, .points_max = 3}};
    data = with(7, 0, few);
    few.joined(data, start);
    CHECK(few.long_term(data) == Score::from_ratio(7, 21));  // 6.3 of 21
    CHECK(data.valid());
}

TEST_CASE("the trackers of the presets keep the laws of history; a return that clears health is the one exception") {
    const auto hardened = std::get<allot::Resting<RollingQos>>(allot::preset::Hardened{1'000}.policies()).service();
    CHECK_FALSE(hardened.parameters().rejoin_clears_health);
    ALLOT_KEEPS(allot::laws::drawable(hardened, support::seed()));
    ALLOT_KEEPS(allot::laws::faithful(hardened, floor_of(hardened), support::seed()));

    auto relay = std::get<RollingQos>(allot::preset::CrynuxRelay2026{}.policies());
    ALLOT_KEEPS(allot::laws::drawable(relay, support::seed()));
    auto parameters = relay.parameters();
    CHECK(parameters.rejoin_clears_health);
    CHECK(allot::laws::faithful(relay, floor_of(relay), support::seed()).has_value());
    parameters.rejoin_clears_health = false;
    relay.configure(parameters);
    ALLOT_KEEPS(allot::laws::faithful(relay, floor_of(relay), support::seed()));
}

TEST_CASE("on probation a failed task costs health, and in the end excludes; a refused or cancelled one does not") {
    const auto qos = RollingQos{{.proven_from = 2, .penalty_failure = Score::from_ratio(7, 10)}};
    auto data = joined(qos);
    for (const auto harmless : {OutcomeKind::declined, OutcomeKind::cancelled}) {
        CHECK(qos.record(data, {harmless}, start) == Standing::good);
        CHECK(qos.health(data, start) == Score::one());
    }
    auto failures = 0;
    for (const auto kind : {OutcomeKind::out_of_memory, OutcomeKind::model_download, OutcomeKind::execution_error,
                            OutcomeKind::execution_error, OutcomeKind::execution_error}) {
        ++failures;
        CHECK(qos.record(data, {kind}, start) == (failures == 5 ? Standing::excluded : Standing::good));
    }
    // 0.7^5 is 0.168; from there to 0.8 it takes 30 ln(0.832 / 0.2) = 42.8 minutes.
    const auto back = qos.back_at(data);
    REQUIRE(back);
    CHECK(*back > start + 42min);
    CHECK(*back < start + 43min);

    auto proven = joined(qos);
    (void)qos.record(proven, {OutcomeKind::scored, 5}, start);
    (void)qos.record(proven, {OutcomeKind::scored, 5}, start);
    const auto before = proven;
    for (auto i = 0; i < 9; ++i) { CHECK(qos.record(proven, {OutcomeKind::execution_error}, start) == Standing::good); }
    CHECK(proven == before);
}

TEST_CASE("parameters that make no sense together are not valid") {
    using Parameters = allot::RollingQosParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.window = 0}.valid());
    CHECK_FALSE(Parameters{.window = 51}.valid());
    CHECK_FALSE(Parameters{.window = 7, .proven_from = 8}.valid());
    CHECK_FALSE(Parameters{.points_max = 0}.valid());
    CHECK_FALSE(Parameters{.points_max = 256}.valid());
    CHECK_FALSE(Parameters{.recovery_tau = 0ms}.valid());
    CHECK_FALSE(Parameters{.exclude_below = Score::one(), .readmit_from = Score::one()}.valid());
}

TEST_CASE("a digest takes in all that is remembered") {
    const auto digest = [](const Data& data) {
        auto taken = allot::Digest{};
        taken.add(data);
        return taken.finish();
    };
    const auto qos = RollingQos{};
    for (std::uint32_t verdicts = 0; verdicts < 50; ++verdicts) {
        auto data = with(verdicts, 7);
        const auto before = digest(data);
        (void)qos.record(data, scored(8), start);
        CHECK(digest(data) != before);
        for (auto& verdict : data.points) {  // each place counts
            const auto changed = digest(data);
            ++verdict;
            CHECK(digest(data) != changed);
            --verdict;
        }
    }
    CHECK(digest(with(3, 7)) == digest(with(3, 7)));
}

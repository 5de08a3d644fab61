#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <allot/laws/drawable.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

namespace {

using allot::OutcomeKind;
using allot::Score;
using allot::Standing;
using allot::TimePoint;

auto finding(const auto& tracker) -> std::string { return allot::laws::drawable(tracker, 3).value_or("nothing"); }

/// The last verdict is the score.
struct LastVerdict {
    struct node_data {
        std::uint32_t points = 5;
        TimePoint since{};
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };
    void joined(node_data& data, TimePoint time) const { data = {5, time}; }
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> Standing {
        if (outcome.kind == OutcomeKind::scored) { data = {outcome.points, time}; }
        return Standing::good;
    }
    auto score(const node_data& data, TimePoint) const -> Score { return Score::from_ratio(data.points, 10); }
    auto score_max(const node_data&) const -> Score { return Score::one(); }
    auto back_at(const node_data&) const -> std::optional<TimePoint> { return std::nullopt; }
    auto points_max() const -> std::uint32_t { return 10; }
};
struct KicksOutForZero : LastVerdict {
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> Standing {
        (void)LastVerdict::record(data, outcome, time);
        return data.points == 0 ? Standing::kicked_out : Standing::good;
    }
};
struct Forgives : LastVerdict {
    auto score(const node_data& data, TimePoint time) const -> Score {
        return time - data.since > std::chrono::hours{24} ? Score::one() : LastVerdict::score(data, time);
    }
};

}  // namespace

TEST_CASE("a tracker that kicks out, forgives or keeps every score above zero leaves every node a future") {
    CHECK(finding(KicksOutForZero{}) == "nothing");
    CHECK(finding(Forgives{}) == "nothing");
    CHECK(finding(allot::archetype::QoS{}) == "nothing");
}

TEST_CASE("a zero that is for ever is found") {
    INFO(finding(LastVerdict{}));
    CHECK(finding(LastVerdict{}).find("never drawn nor judged again") != std::string::npos);
}

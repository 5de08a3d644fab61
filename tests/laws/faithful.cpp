#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <allot/laws/faithful.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

namespace {

using allot::OutcomeKind;
using allot::Score;
using allot::Standing;
using allot::TimePoint;

auto finding(const auto& tracker, Score floor = Score::zero()) -> std::string {
    return allot::laws::faithful(tracker, floor, 3).value_or("nothing");
}
auto says(const std::string& text, const std::string& part) -> bool {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

/// The last verdict is the score, three good ones prove a node, and a timeout excludes it for an hour.
struct Lawful {
    struct node_data {
        std::uint32_t points = 5;
        std::uint32_t good = 0;
        TimePoint back{};
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };
    void joined(node_data&, TimePoint) const {}
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> Standing {
        if (outcome.kind == OutcomeKind::scored) {
            data.points = outcome.points;
            data.good += outcome.points > 5 ? 1U : 0U;
        }
        if (outcome.kind == OutcomeKind::timeout) {
            data.back = time + std::chrono::hours{1};
            return Standing::excluded;
        }
        return Standing::good;
    }
    auto score(const node_data& data, TimePoint) const -> Score { return Score::from_ratio(data.points, 10); }
    auto score_max(const node_data&) const -> Score { return Score::one(); }
    auto back_at(const node_data& data) const -> std::optional<TimePoint> { return data.back; }
    auto points_max() const -> std::uint32_t { return 10; }
    auto proven(const node_data& data) const -> bool { return data.good >= 3; }
};
struct Lifts : Lawful {
    void joined(node_data& data, TimePoint) const { data.points = std::max(data.points, 3U); }
};
struct Proves : Lawful {
    void joined(node_data& data, TimePoint) const { ++data.good; }
};
struct Readmits : Lawful {
    void joined(node_data& data, TimePoint time) const { data.back = std::min(data.back, time); }
};
struct RewardsDeclining : Lawful {
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> Standing {
        data.good += outcome.kind == OutcomeKind::declined ? 1U : 0U;
        return Lawful::record(data, outcome, time);
    }
};
struct PunishesDeclining : Lawful {
    auto record(node_data& data, allot::Outcome outcome, TimePoint time) const -> Standing {
        return outcome.kind == OutcomeKind::declined ? Standing::kicked_out : Lawful::record(data, outcome, time);
    }
};

}  // namespace

TEST_CASE("a tracker that remembers yields no finding, nor one that lifts to its floor") {
    CHECK(finding(Lawful{}) == "nothing");
    CHECK(finding(Lifts{}, Score::from_ratio(3, 10)) == "nothing");
    CHECK(finding(allot::archetype::QoS{}) == "nothing");
}

TEST_CASE("whatever coming back or declining cures is found") {
    CHECK(says(finding(Lifts{}), "raises the score"));
    CHECK(says(finding(Lifts{}, Score::from_ratio(2, 10)), "raises the score"));
    CHECK(says(finding(Proves{}), "ends the probation"));
    CHECK(says(finding(Readmits{}), "ends an exclusion"));
    CHECK(says(finding(RewardsDeclining{}), "declining"));
    CHECK(says(finding(PunishesDeclining{}), "declining"));
}

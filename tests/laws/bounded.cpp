#include <cstdint>
#include <optional>
#include <string>

#include <allot/laws/bounded.hpp>
#include <allot/policy/archetype.hpp>

#include "support/catch.hpp"

namespace {

using allot::Duration;
using allot::Outcome;
using allot::OutcomeKind;
using allot::Score;
using allot::Standing;
using allot::TimePoint;

auto finding(const auto& tracker) -> std::string { return allot::laws::bounded(tracker, 3).value_or("nothing"); }
auto says(const std::string& text, const std::string& part) -> bool {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

/// A score that is half while the node is young, and then whole; a timeout excludes it for a while.
struct Lawful {
    struct node_data {
        TimePoint joined_at{};
        TimePoint back{};
        bool known = false;
        friend auto operator==(const node_data&, const node_data&) -> bool = default;
    };
    void joined(node_data& data, TimePoint time) const { data = {time, time, true}; }
    auto record(node_data& data, Outcome outcome, TimePoint time) const -> Standing {
        const auto excluded = outcome.kind == OutcomeKind::timeout;
        data.back = excluded ? time + std::chrono::hours{1} : data.back;
        return excluded ? Standing::excluded : Standing::good;
    }
    auto score(const node_data& data, TimePoint time) const -> Score {
        return time - data.joined_at > std::chrono::hours{24} ? Score::one() : Score::from_ratio(1, 2);
    }
    auto score_max(const node_data&) const -> Score { return Score::one(); }
    auto back_at(const node_data& data) const -> std::optional<TimePoint> { return data.back; }
    auto points_max() const -> std::uint32_t { return 10; }
};
struct LowMaximum : Lawful {
    auto score_max(const node_data&) const -> Score { return Score::from_ratio(3, 4); }
};
/// To join changes nothing, so that the data are those of a new node until the first outcome.
struct Idle : Lawful {
    void joined(node_data&, TimePoint) const {}
    auto score(const node_data& data, TimePoint) const -> Score {
        return data.back > TimePoint{} ? Score::one() : Score::zero();
    }
    auto score_max(const node_data&) const -> Score { return Score::zero(); }
};
struct NeverBack : Lawful {
    auto back_at(const node_data&) const -> std::optional<TimePoint> { return std::nullopt; }
};
struct BackBefore : Lawful {
    auto back_at(const node_data& data) const -> std::optional<TimePoint> { return data.back - std::chrono::hours{2}; }
};
struct Remembers : Lawful {
    mutable std::uint32_t calls = 0;
    auto record(node_data& data, Outcome, TimePoint time) const -> Standing {
        data.back = ++calls % 7 == 0 ? time : data.back;
        return Standing::good;
    }
};

}  // namespace

TEST_CASE("a lawful tracker yields no finding") {
    CHECK(finding(Lawful{}) == "nothing");
    CHECK(finding(allot::archetype::QoS{}) == "nothing");
}

TEST_CASE("each fault of a tracker is found") {
    CHECK(says(finding(LowMaximum{}), "above score_max"));
    CHECK(says(finding(Idle{}), "above score_max"));
    CHECK(says(finding(NeverBack{}), "never back"));
    CHECK(says(finding(BackBefore{}), "before it was excluded"));
    CHECK(says(finding(Remembers{}), "record is not pure"));
}

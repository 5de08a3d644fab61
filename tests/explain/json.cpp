#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <allot/explain/expected_wait.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/qos_journal.hpp>
#include <allot/explain/task.hpp>
#include <allot/explain/what_if.hpp>
#include <allot/json.hpp>

#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace explain_json_test {

namespace {

using namespace support;
using allot::read_json;
using allot::write_json;

// What is written of a value reads as that value, and is written alike again.
template <class T>
void goes_round(const T& value) {
    const auto line = write_json(value);
    INFO(line);
    REQUIRE(line.find('\n') == std::string::npos);
    const auto read = read_json<T>(line);
    INFO((read ? "" : read.error().message()));
    REQUIRE(read);
    REQUIRE(write_json(*read) == line);
    if constexpr (allot::has_fields<T>) { REQUIRE(told(*read) == told(value)); }
}

template <class T>
auto complaint_about(std::string_view line) -> std::string {
    const auto value = read_json<T>(line);
    INFO(line);
    REQUIRE_FALSE(value);
    return value.error().message();
}

}  // namespace

TEST_CASE("explanations of any content come back from JSON as they were") {
    auto any = AnyValue{support::seed()};
    for (auto i = 0; i < 100; ++i) {
        goes_round(any.of<allot::TaskExplanation>());
        goes_round(any.of<allot::NodeExplanation>());
        goes_round(any.of<allot::Distribution>());
        goes_round(any.of<allot::WhatIf>());
        goes_round(any.of<allot::Difference>());
        goes_round(any.of<allot::QoSChange>());
        goes_round(any.of<std::optional<allot::Duration>>());
    }
    goes_round(std::deque<allot::QoSChange>(3));
}

TEST_CASE("what a network is asked is answered in JSON as well") {
    auto d = allot::Dispatcher<allot::ValueQueue>{};
    join_plain(d, 2);
    ok(d.submit(plain_task(1), at(0s)));
    ok(d.submit(plain_task(2), dark(0s)));
    const auto task = allot::explain(d, allot::TaskId{2});
    REQUIRE(task);
    CHECK(read_json<allot::TaskExplanation>(write_json(*task)) == *task);
    const auto node = allot::explain(d, allot::NodeId{1});
    REQUIRE(node);
    goes_round(*node);
    const auto distribution = allot::probabilities(d, allot::TaskId{2});
    REQUIRE(distribution);
    CHECK_FALSE(distribution->nodes.empty());
    CHECK(read_json<allot::Distribution>(write_json(*distribution)) == *distribution);
    const auto wait = allot::expected_wait(d, allot::TaskId{2});
    REQUIRE(wait);
    goes_round(*wait);
    using Commands = std::vector<allot::Dispatcher<allot::ValueQueue>::Command>;
    const auto tried = allot::what_if(d, Commands{allot::command::Match{}, allot::command::Cancel{3}}, at(1s));
    CHECK(tried.refused == 1);
    goes_round(tried);
    goes_round(allot::differences(tried, {}));
}

TEST_CASE("each explanation has one form in JSON") {
    CHECK(
        write_json(allot::Distribution{7, allot::TimePoint{5s}, {{"relay-7", 3}, {2, allot::u128{1} << 64}}, 9}) ==
        R"({"task":7,"now":5000,"nodes":[{"node":"relay-7","weight":"3"},{"node":2,"weight":"18446744073709551616"}],"total":"9"})");

    auto tried = allot::WhatIf{};
    tried.events.push(allot::event::TaskQueued{7, {}, allot::TimePoint{5s}});
    tried.fates = {{7, allot::FateKind::queued}};
    tried.queued = 1;
    const auto fate = R"({"task":7,"kind":"queued","node":")" + std::string(64, '0') + R"("})";
    CHECK(write_json(tried) == R"({"events":[{"event":"TaskQueued","task":7,"deadline":5000}],"fates":[)" + fate +
                                   R"(],"refused":0,"queued":1,"nodes":0,"changed":0})");
    CHECK(write_json(std::vector{allot::Difference{tried.fates[0], {}}}) == R"([{"first":)" + fate + "}]");

    const auto change = allot::QoSChange{allot::TimePoint{5s}, allot::OutcomeKind::timeout, allot::Score::one(), {}};
    CHECK(write_json(std::deque{change}) == R"([{"time":5000,"cause":"timeout","before":"1/1","after":"0/1"}])");

    CHECK(write_json(std::optional<allot::Duration>{1500}) == "1500");
    CHECK(write_json(std::optional<allot::Duration>{}) == "null");
}

TEST_CASE("an explanation that is none names its field and what was expected") {
    using allot::TaskExplanation;
    CHECK(complaint_about<TaskExplanation>("{}") == "task: this field is missing");
    CHECK(complaint_about<TaskExplanation>(R"({"task": 1, "value": "1/0"})") ==
          "value: a value is no quotient by zero");
    CHECK(complaint_about<TaskExplanation>(R"({"task": 1, "value": "79228162514264337593543950336/1"})") ==
          R"(value: a quotient of two whole numbers below 2^96 and 2^32 is expected, such as "3/10")");
    CHECK(complaint_about<TaskExplanation>(R"({"task": 1, "kept_out": [{"reason": "busy"}, {"reason": "Busy"}]})")
              .starts_with(R"(kept_out[1].reason: there is no "Busy"; there are none, )"));
    CHECK(complaint_about<TaskExplanation>(R"({"task": 1, "next": {"on_match": 1}})") ==
          "next.on_match: true or false is expected");
    CHECK(complaint_about<allot::NodeExplanation>(R"({"node": 1, "groups": [{"waiting": 1}]})") ==
          "groups[0].task: this field is missing");
    CHECK(complaint_about<allot::Distribution>(R"({"task": 1, "nodes": [{"weight": 1}]})") ==
          "nodes[0].node: this field is missing");
    CHECK(complaint_about<allot::WhatIf>(R"({"events": [{"event": "Matched"}, {"event": "Match"}]})")
              .starts_with(R"(events[1].event: there is no "Match"; there are NodeJoined, )"));
    CHECK(complaint_about<std::optional<allot::Duration>>("1.5").starts_with("a whole number from "));
}

}  // namespace explain_json_test

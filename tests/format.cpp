// Text needs {fmt}, which the library itself does not.
#if __has_include(<fmt/format.h>)

#    include <algorithm>
#    include <string>
#    include <variant>
#    include <vector>

#    include <allot/format.hpp>

#    include "support/catch.hpp"
#    include "support/network.hpp"

using namespace support;

namespace {

auto text(const allot::Event& event) -> std::string { return fmt::format("{}", event); }

}  // namespace

TEST_CASE("each event is one sentence about what happened") {
    const auto lease = Lease{7, "relay-7", 3, 0, 1, TimePoint{60s}};
    const auto owner = allot::OwnerId{"ada"};
    struct Case {
        allot::Event event;
        const char* expected;
    };
    const auto cases = std::vector<Case>{
        {event::NodeJoined{"a"}, "node a joined"},
        {event::NodeJoined{"a", true}, "node a joined again"},
        {event::NodeUpdated{"a"}, "node a updated"},
        {event::NodePaused{"a"}, "node a paused"},
        {event::NodePausePending{"a"}, "node a pauses after its task"},
        {event::NodeResumed{"a"}, "node a resumed"},
        {event::NodeLeavePending{"a"}, "node a leaves after its task"},
        {event::NodeLeft{"a", 400}, "node a left, 400 staked tokens go back"},
        {event::NodeKickedOut{"a", 400}, "node a kicked out, 400 staked tokens go back"},
        {event::NodeSlashed{"a", 400}, "node a slashed, 400 staked tokens forfeited"},
        {event::NodeExcluded{"a", TimePoint{5ms}}, "node a excluded until 5 ms"},
        {event::NodeReadmitted{"a"}, "node a readmitted"},
        {event::ModelWanted{"a", 7, "sdxl"}, "node a should fetch model sdxl (task 7)"},
        {event::ModelWanted{"a", 7,
                            "\xC2\x9B"
                            "2J\x7F"},
         "node a should fetch model ?2J? (task 7)"},
        {event::ModelsReported{"a"}, "node a reported its models"},
        {event::NodeScored{"a", {allot::OutcomeKind::scored, 10}}, "node a scored 10 points"},
        {event::NodeScored{"a", {allot::OutcomeKind::timeout, 0}}, "node a observed: timeout"},
        {event::TaskQueued{7, owner, TimePoint{6ms}}, "task 7 queued until 6 ms"},
        {event::TaskStarted{lease, owner}, "task 7 started on node relay-7 until 60000 ms"},
        {event::TaskCommitted{lease}, "task 7 committed by node relay-7"},
        {event::TaskDisclosed{lease}, "task 7 disclosed by node relay-7"},
        {event::LeaseRenewed{lease}, "task 7 renewed on node relay-7 until 60000 ms"},
        {event::LeaseCompleted{{7, "a", 5, 1, 3, {}}}, "task 7 completed by node a, its member 2 of 3"},
        {event::LeaseEnded{lease}, "node relay-7 is done with task 7"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::failed, allot::OutcomeKind::out_of_memory},
         "node relay-7 failed task 7: out of memory"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::timed_out, {}}, "node relay-7 ran out of time with task 7"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::declined, {}}, "node relay-7 declined task 7"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::cancelled, {}},
         "node relay-7 is to stop task 7, which was cancelled"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::withdrawn, {}},
         "node relay-7 is to stop task 7, whose gang broke up"},
        {event::LeaseEnded{lease, {}, event::LeaseEnd::slashed, {}}, "node relay-7 lost task 7, for it was slashed"},
        {event::TaskRetried{7, owner, allot::OutcomeKind::execution_error}, "task 7 starts over: execution error"},
        {event::TaskDone{7, "a", owner, 10}, "task 7 done by node a; fee 10"},
        {event::TaskDone{7, "a", owner, 10, 140}, "task 7 done by node a; fee 10; refund 140"},
        {event::TaskFailed{7, owner, 0, 10, 0, allot::FailCause::out_of_memory},
         "task 7 failed: out of memory; refund 10"},
        {event::TaskCancelled{7, owner, 0, 10, 0}, "task 7 cancelled; refund 10"},
        {event::TaskEvicted{7, owner, 0, 10, 0},
         "task 7 evicted: the queue is full and its value the lowest; refund 10"},
        {event::TaskEvicted{7, owner, 0, 10, 0, event::Eviction::queue_shrunk},
         "task 7 evicted: the network shrank and its value is the lowest; refund 10"},
        {event::TaskEvicted{7, owner, 0, 10, 0, event::Eviction::table_full},
         "task 7 evicted: too many different requirements are in use; refund 10"},
        {event::TaskTimedOut{7, owner, 0, 10, 0}, "task 7 timed out in the queue; refund 10"},
        {event::TaskTimedOut{7, owner, 0, 10, 0, event::Expiry::execution}, "task 7 timed out on its node; refund 10"},
        {event::Advanced{TimePoint{1s}}, "advanced to 1000 ms"},
        {event::Matched{3}, "matched: 3 tasks started"},
        {event::Configured{2}, "configured: rules version 2"},
        {event::UnbondingBegan{"a", 400, TimePoint{5ms}},
         "node a took 400 staked tokens away, which are returned at 5 ms"},
        {event::Postponed{1h}, "postponed: leases and waiting tasks have 3600000 ms more"},
        {event::Refused{Error::node_unknown}, "refused: no node of this id has joined"},
        {event::NodeDisplaced{"a", 400}, "node a gave way to one of more stake, 400 staked tokens returned"},
    };
    auto told = std::vector<bool>(allot::event_types);
    for (const auto& c : cases) {
        CHECK(text(c.event) == c.expected);
        CHECK(std::visit([](const auto& e) { return fmt::format("{}", e); }, c.event) == c.expected);
        told[c.event.index()] = true;
    }
    for (std::size_t i = 0; i < told.size(); ++i) {
        CAPTURE(i);
        CHECK(told[i]);  // no kind of event is left out
    }
}

TEST_CASE("ids are written as they were made") {
    CHECK(fmt::format("{}", allot::NodeId{7}) == "7");
    CHECK(fmt::format("{}", allot::TaskId{"relay-7"}) == "relay-7");
    CHECK(fmt::format("{}", allot::NodeId{~std::uint64_t{0}}) == "18446744073709551615");
    auto bytes = allot::NodeId::Bytes{};
    bytes[0] = 0xAB;
    CHECK(fmt::format("{}", allot::NodeId{bytes}) == "ab" + std::string(62, '0'));
}

TEST_CASE("amounts, errors and reasons are written out") {
    CHECK(fmt::format("{}", allot::Amount{(allot::u128{1} << 96) - 1}) == "79228162514264337593543950335");
    CHECK(fmt::format("{}", allot::Amount{0}) == "0");
    CHECK(fmt::format("{}", Error::update_empty) == "the update changes nothing; set at least one field");
    CHECK(fmt::format("{}", allot::Reason::avoided) == "the task avoids this node");
}

TEST_CASE("each error has a sentence of its own") {
    auto sentences = std::vector<std::string>{};
    for (auto number = 1; number < 100; ++number) {
        const auto sentence = fmt::format("{}", static_cast<Error>(number));
        if (sentence != "unknown error") { sentences.push_back(sentence); }
    }
    CHECK_FALSE(sentences.empty());
    std::sort(sentences.begin(), sentences.end());
    CHECK(std::adjacent_find(sentences.begin(), sentences.end()) == sentences.end());
    CHECK(fmt::format("{}", static_cast<Error>(9'999)) == "unknown error");
}

#else

#    include "support/catch.hpp"

TEST_CASE("there is no {fmt} to write text with") { SUCCEED(); }

#endif

#include <allot/core/sentence.hpp>

#include "support/catch.hpp"

namespace sentence_test {

using namespace allot;

TEST_CASE("an event is one sentence without {fmt}", "[sentence]") {
    CHECK(sentence(event::NodeJoined{NodeId{"relay-7"}, true}) == "node relay-7 joined again");
    CHECK(sentence(event::TaskDone{.task = TaskId{7}, .node = NodeId{"relay-7"}, .paid = Amount{10}}) ==
          "task 7 done by node relay-7; fee 10");
    CHECK(sentence(event::Refused{Error::vram_zero}) == "refused: " + std::string{message(Error::vram_zero)});
    CHECK(sentence(event::ModelWanted{NodeId{1}, TaskId{2}, Name{"a\x1b[31mb"}}) ==
          "node 1 should fetch model a?[31mb (task 2)");
}

TEST_CASE("a time of this century is a date, every other a number", "[sentence]") {
    CHECK(time_text(TimePoint{Duration{5}}) == "5 ms");
    CHECK(time_text(never) == "never");
    CHECK(time_text(TimePoint{Duration{1'700'000'000'007}}) == "2023-11-14T22:13:20.007Z");
    CHECK(time_text(TimePoint{Duration{-1}}) == "-1 ms");
}

}  // namespace sentence_test

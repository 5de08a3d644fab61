// What explanations promise under a preset. ALLOT_MODEL names it; presets.hpp has what is done.
#include "conformance/name.hpp"
#include "explain/presets.hpp"

TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": every node stands under one reason, which is what each node, the distribution and "
                                  "the hub's count say") {
    explained::every_node_has_one_reason<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": asking less gains the candidates that a task asking so has") {
    explained::asking_less_gains_what_it_says<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": the queue goes from its end, in the order that was told, however long it waited",
          "[E1]") {
    explained::the_queue_goes_from_its_end<ALLOT_MODEL>();
}
TEST_CASE(
    ALLOT_TEXT(
        ALLOT_MODEL) ": a newcomer to a full queue stays exactly when it is told so, and else the last one told goes",
    "[E1][E3]") {
    explained::a_newcomer_stays_as_it_was_told<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": a question that cannot be asked says why") {
    explained::a_question_that_cannot_be_asked_says_why<ALLOT_MODEL>();
}
TEST_CASE(
    ALLOT_TEXT(
        ALLOT_MODEL) ": a draw falls on those named and no others, and a match begins with the first task that has any",
    "[E3]") {
    explained::draws_fall_on_those_named<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": draws fall as often as was said") {
    explained::draws_fall_as_often_as_said<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": receipts state the distribution that was told") {
    explained::receipts_state_the_same_distribution<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": a node that becomes free takes the very task it was told", "[E1][E3]") {
    explained::a_node_takes_what_it_was_told<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": a node is told of every waiting task, and what would better its odds does",
          "[E1]") {
    explained::a_node_is_told_of_every_waiting_task<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": a node that takes nothing is told why, and when that ends") {
    explained::a_node_that_takes_nothing_is_told_why<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": where estimates are right and nobody comes, each task starts when it was said to",
          "[E1]") {
    explained::each_task_starts_when_it_was_said_to<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": a wait is never negative, and value helps") {
    explained::a_wait_is_never_negative_and_value_helps<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": what is tried leaves no trace, and tells what the commands then do") {
    explained::what_is_tried_leaves_no_trace<ALLOT_MODEL>();
}
TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": figures and journal agree with the network") {
    explained::figures_and_journal_agree_with_the_network<ALLOT_MODEL>();
}

#include <chrono>

#include <allot/terms/fixed_terms.hpp>

#define ALLOT_MODEL allot::FixedTerms
#include "conformance/terms.ipp"

namespace {

using namespace std::chrono_literals;
using allot::FixedTerms;
using allot::Next;
using allot::OutcomeKind;

auto estimated(allot::Duration estimate) -> allot::Task {
    auto task = allot::Task{};
    task.duration_estimate = estimate;
    return task;
}
auto started(std::uint32_t times) -> allot::Task {
    auto task = allot::Task{};
    task.attempt = times;
    return task;
}

}  // namespace

TEST_CASE("a lease lasts twice the estimate, between a minute and two hours") {
    const auto terms = FixedTerms{};
    CHECK(terms.length({}, estimated(100s)) == 200s);
    CHECK(terms.length({}, estimated(1ms)) == 60s);
    CHECK(terms.length({}, estimated(29'999ms)) == 60s);
    CHECK(terms.length({}, estimated(1h)) == 7'200s);
    CHECK(terms.length({}, estimated(1'000h)) == 7'200s);
    CHECK(terms.length_max({}, estimated(1s)) == 8h);
    CHECK(terms.patience(estimated(1s)) == 6h);
}

TEST_CASE("an execution timeout is twice the prediction in whole seconds, with the time to switch models") {
    CHECK(allot::execution_timeout(100s, false) == 200s);
    CHECK(allot::execution_timeout(100s, true) == 440s);
    CHECK(allot::execution_timeout(1ms, false) == 60s);
    CHECK(allot::execution_timeout(1ms, true) == 241s);
    CHECK(allot::execution_timeout(30'000ms, false) == 60s);
    CHECK(allot::execution_timeout(30'001ms, false) == 61s);
    CHECK(allot::execution_timeout(3'599'999ms, false) == 7'200s);
    CHECK(allot::execution_timeout(allot::Duration{0xFFFF'FFFF}, true) == 7'200s);
    CHECK(allot::execution_timeout(100s, false, {.estimates = 3, .length_max = 250'500ms}) == 251s);
}

TEST_CASE("expiry and failure end a task") {
    const auto terms = FixedTerms{};
    for (const auto outcome :
         {OutcomeKind::timeout, OutcomeKind::timeout_in_group, OutcomeKind::out_of_memory, OutcomeKind::model_download,
          OutcomeKind::execution_error, OutcomeKind::incorrect_result}) {
        CHECK(terms.after(started(1), outcome) == Next::end);
    }
}

TEST_CASE("a task starts over when the parameters say so, three times at most") {
    const auto terms = FixedTerms{{.after_timeout = Next::retry_elsewhere, .after_failure = Next::retry}};
    CHECK(terms.after(started(1), OutcomeKind::timeout) == Next::retry_elsewhere);
    CHECK(terms.after(started(2), OutcomeKind::timeout_in_group) == Next::retry_elsewhere);
    CHECK(terms.after(started(2), OutcomeKind::execution_error) == Next::retry);
    CHECK(terms.after(started(3), OutcomeKind::timeout) == Next::end);
    CHECK(terms.after(started(3), OutcomeKind::execution_error) == Next::end);
}

TEST_CASE("a task that failed so often ends, however seldom it was started") {
    const auto terms =
        FixedTerms{{.after_timeout = Next::retry, .after_failure = Next::retry, .attempts_max = 100, .strikes_max = 3}};
    auto task = started(5);
    task.strikes = 1;
    CHECK(terms.after(task, OutcomeKind::timeout) == Next::retry);
    task.strikes = 2;
    CHECK(terms.after(task, OutcomeKind::timeout) == Next::end);
    CHECK(terms.after(task, OutcomeKind::model_download) == Next::end);
}

TEST_CASE("so many failures are laid to the nodes, a wrong result always") {
    auto task = started(1);
    const auto terms = FixedTerms{{.blamed_max = 2}};
    for (const auto strikes : {0U, 1U, 2U, 3U}) {
        task.strikes = strikes;
        CHECK(terms.blames(task, OutcomeKind::timeout) == (strikes < 2));
        CHECK(terms.blames(task, OutcomeKind::incorrect_result));
        CHECK(FixedTerms{}.blames(task, OutcomeKind::timeout));
    }
}

TEST_CASE("terms without sense are not valid") {
    using Parameters = allot::FixedTermsParameters;
    CHECK(Parameters{}.valid());
    CHECK_FALSE(Parameters{.estimates = 0}.valid());
    CHECK_FALSE(Parameters{.length_min = 0s}.valid());
    CHECK_FALSE(Parameters{.length_min = 3h}.valid());
    CHECK_FALSE(Parameters{.renewed_max = 1h}.valid());
    CHECK_FALSE(Parameters{.renewed_max = allot::Duration{(std::int64_t{1} << 40) + 1}}.valid());
    CHECK_FALSE(Parameters{.patience = 0s}.valid());
    CHECK_FALSE(Parameters{.attempts_max = 0}.valid());
    CHECK_FALSE(Parameters{.strikes_max = 0}.valid());
    CHECK_FALSE(Parameters{.blamed_max = 0}.valid());
}

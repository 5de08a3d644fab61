// What a creator or two colluding nodes may try with a validation group, and what it comes to: no honest node is
// slashed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <allot/validation/validation_group.hpp>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
namespace event = allot::validation_event;
using allot::ValidationEffects;
using allot::ValidationEnd;
using allot::ValidationError;
using allot::ValidationGroup;
using allot::ValidationParameters;
using Bytes = std::vector<std::uint8_t>;

const auto always = ValidationParameters{.sampling = {1, 1}};

auto at(allot::Duration time) -> allot::TimePoint { return allot::TimePoint{time}; }
auto on(std::uint32_t node) -> allot::Placement { return {node, node}; }
auto opening(std::uint8_t id) -> allot::Opening { return {"group", {id}}; }

/// A hidden task whose node computes `result`; without one it reports an error. The embedder knows what it computes.
auto hidden(std::uint8_t id, const std::optional<Bytes>& result, const ValidationParameters& parameters = always,
            std::uint8_t work = 7) -> ValidationGroup {
    const auto commitment = allot::CommitmentOf{}(opening(id), {work});
    auto single = ValidationGroup::hidden({id, "creator", 100, {work}}, commitment, parameters).value();
    REQUIRE(single.started(id, on(id), at(0s)).accepted());
    REQUIRE((result ? single.submitted(id, *result, at(1s * id)) : single.error_reported(id, at(1s * id))).accepted());
    return single;
}

/// What is said of one task.
template <class E>
auto of(const ValidationEffects& effects, std::uint32_t task) -> const E* {
    for (const auto& one : effects.events) {
        const auto* found = std::get_if<E>(&one);
        if (found != nullptr && found->task == allot::TaskId{task}) { return found; }
    }
    return nullptr;
}

}  // namespace

TEST_CASE("whose task was another than the others' is not slashed for a right answer", "[V1]") {
    // The creator gives nodes 1 and 2, which are its own, other work than node 3.
    auto group = hidden(1, Bytes{1});
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    REQUIRE(group.added(hidden(2, Bytes{1}), opening(2), at(4s)).accepted());
    const auto before = group;
    auto stranger = hidden(3, Bytes{3}, always, 8);
    const auto refused = group.added(stranger, opening(3), at(4s));
    CHECK(refused.error == ValidationError::work_differs);
    CHECK(refused.events.empty());
    CHECK(group == before);
    CHECK(of<event::FeeDue>(stranger.advance(at(603s)), 3) !=
          nullptr);  // it is paid, for the creator can say nothing else
}

TEST_CASE("a task that was committed as one of other work cannot be revealed", "[V1]") {
    // The creator commits to the work of its own two, and the third node is given something else.
    const auto sold_as = [](std::uint8_t id) {
        auto single =
            ValidationGroup::hidden({id, "creator", 100, {8}}, allot::CommitmentOf{}(opening(id), {7}), always).value();
        REQUIRE(single.started(id, on(id), at(0s)).accepted());
        REQUIRE(single.submitted(id, Bytes{3}, at(1s)).accepted());
        return single;
    };
    CHECK(sold_as(1).revealed(opening(1), 7, at(4s)).error == ValidationError::opening_wrong);
    auto group = hidden(1, Bytes{1});
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    CHECK(group.added(sold_as(2), opening(2), at(4s)).error == ValidationError::opening_wrong);
    // Whose own commitment says nothing of work is held to it all the same.
    const auto blind = [](const allot::Opening& open, const allot::Hash256&) {
        return allot::CommitmentOf{}(open, {});
    };
    auto single = ValidationGroup::hidden({3, "creator", 100, {8}}, blind(opening(3), {}), always).value();
    REQUIRE(single.aborted(3, at(0s)).accepted());
    CHECK(group.added(single, opening(3), at(4s), blind).error == ValidationError::work_differs);
}

TEST_CASE("who does not say what a task computes is refused", "[V1]") {
    using Task = allot::ValidationTask;
    const auto of_works = [](std::uint8_t a, std::uint8_t b, std::uint8_t c) {
        const auto tasks =
            std::vector<Task>{{1, "creator", 100, {a}}, {2, "creator", 100, {b}}, {3, "creator", 100, {c}}};
        const auto made = ValidationGroup::declared("group", tasks, {});
        return made ? std::nullopt : std::optional{made.error()};
    };
    CHECK(of_works(7, 7, 7) == std::nullopt);
    CHECK(of_works(7, 7, 8) == ValidationError::work_differs);
    CHECK(of_works(8, 7, 7) == ValidationError::work_differs);
    CHECK(of_works(0, 0, 0) == ValidationError::work_missing);
    CHECK(ValidationGroup::hidden(Task{1, "creator", 100}, {}, always).error() == ValidationError::work_missing);
}

TEST_CASE("two that report an error do not have an honest third slashed", "[V2]") {
    const auto relay = GENERATE(false, true);
    auto parameters = relay ? ValidationParameters::relay_2026() : ValidationParameters{};
    parameters.sampling = always.sampling;
    auto group = hidden(1, std::nullopt, parameters);
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    REQUIRE(group.added(hidden(2, std::nullopt, parameters), opening(2), at(4s)).accepted());
    const auto verdict = group.added(hidden(3, Bytes{3}, parameters), opening(3), at(4s));
    CHECK(verdict.get<event::GroupEnded>()->end == ValidationEnd::error_agreed);
    CHECK(verdict.get<event::NodeScored>() == nullptr);
    if (relay) {  // the relay's own way, which has to be asked for
        REQUIRE(of<event::MemberWrong>(verdict, 3) != nullptr);
        CHECK(of<event::MemberWrong>(verdict, 3)->slash);
        return;
    }
    for (auto task = 1U; task <= 3; ++task) {
        CHECK(of<event::MemberWrong>(verdict, task) == nullptr);
        REQUIRE(of<event::MemberUndecided>(verdict, task) != nullptr);
        CHECK(of<event::MemberUndecided>(verdict, task)->refund == allot::Amount{100});
    }
}

TEST_CASE("an honest error report against two results is wrong, but not slashed", "[V2]") {
    const auto relay = GENERATE(false, true);
    auto parameters = relay ? ValidationParameters::relay_2026() : ValidationParameters{};
    parameters.sampling = always.sampling;
    auto group = hidden(1, Bytes{1}, parameters);
    REQUIRE(group.revealed(opening(1), 7, at(4s)).accepted());
    REQUIRE(group.added(hidden(2, Bytes{1}, parameters), opening(2), at(4s)).accepted());
    const auto verdict = group.added(hidden(3, std::nullopt, parameters), opening(3), at(4s));
    REQUIRE(of<event::MemberWrong>(verdict, 3) != nullptr);
    CHECK(of<event::MemberWrong>(verdict, 3)->slash == relay);
}

TEST_CASE("a creator that stays silent pays results, and no error report unless that is asked for", "[V2]") {
    const auto paid = GENERATE(false, true);
    auto parameters = always;
    parameters.pay_unheard_errors = paid;
    auto single = hidden(1, std::nullopt, parameters);
    const auto silence = single.advance(at(601s));
    CHECK((of<event::FeeDue>(silence, 1) != nullptr) == paid);
    CHECK((of<event::MemberCompleted>(silence, 1) != nullptr) == paid);
    REQUIRE((of<event::MemberUndecided>(silence, 1) != nullptr) == !paid);
    if (!paid) { CHECK(of<event::MemberUndecided>(silence, 1)->refund == allot::Amount{100}); }
    CHECK(silence.get<event::GroupEnded>()->end == ValidationEnd::creator_timed_out);

    auto revealed = hidden(1, Bytes{1}, parameters);
    REQUIRE(revealed.revealed(opening(1), 7, at(4s)).accepted());
    REQUIRE(revealed.added(hidden(2, std::nullopt, parameters), opening(2), at(4s)).accepted());
    const auto later = revealed.advance(at(604s));
    CHECK(of<event::FeeDue>(later, 1) != nullptr);
    CHECK((of<event::FeeDue>(later, 2) != nullptr) == paid);
}

TEST_CASE("whatever errors the others report, who has a result is wrong only against two results", "[V2]") {
    using allot::MemberState;
    const auto results = std::array<Bytes, 2>{Bytes{1}, Bytes{2}};
    constexpr auto states = std::array{MemberState::submitted, MemberState::error_reported, MemberState::timed_out};
    for (auto code = 0U; code < 6 * 6 * 6; ++code) {
        const auto answer = [&](std::uint32_t id, std::uint32_t kind) {
            return allot::MemberAnswer{id, states[kind % 3], 1s * (1 + (code + id) % 3), results[kind / 3]};
        };
        const auto members = std::array{answer(1, code % 6), answer(2, code / 6 % 6), answer(3, code / 36)};
        const auto judgement = allot::judge(members, {});
        const auto submitted = [](const auto& member) { return member.state == MemberState::submitted; };
        const auto others = std::count_if(members.begin(), members.end(), submitted) - 1;
        for (std::size_t i = 0; i < 3; ++i) {
            if (submitted(members[i]) && judgement.verdicts[i] == allot::MemberVerdict::wrong) { REQUIRE(others == 2); }
        }
    }
}

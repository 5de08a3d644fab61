#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <allot/core/id.hpp>
#include <allot/core/time.hpp>
#include <allot/validation/validation_parameters.hpp>

namespace allot { inline namespace v0 {

/// How far a member of a validation group has come.
enum class MemberState : std::uint8_t {
    waiting,         ///< Not on a node yet.
    running,         ///< On a node.
    submitted,       ///< Ended with a result.
    error_reported,  ///< Ended with the node's word that the task cannot be done.
    timed_out,       ///< Ended without a word in time.
    aborted,         ///< Ended otherwise: withdrawn, evicted, failed.
};

/// True for the states that a member does not leave.
[[nodiscard]] constexpr auto ended(MemberState state) noexcept -> bool { return state >= MemberState::submitted; }
/// True for members whose node answered, be it with an error.
[[nodiscard]] constexpr auto answered(MemberState state) noexcept -> bool {
    return state == MemberState::submitted || state == MemberState::error_reported;
}

/// What a group says of one member.
enum class MemberVerdict : std::uint8_t {
    none,       ///< It had not answered: timed out or aborted before.
    passed,     ///< The fastest right answer: the result that counts, to be uploaded.
    matched,    ///< Right as well, and paid; its own fee is refunded.
    wrong,      ///< Two results agree against it; with `slash_across_errors` also two errors.
    undecided,  ///< Nobody can tell, or two report errors: it fails without blame.
};

/// What a group comes to.
enum class Agreement : std::uint8_t {
    result,    ///< At least two results are the same.
    error,     ///< At least two nodes say that the task cannot be done.
    none,      ///< No two answers are the same.
    too_few,   ///< Fewer than two answered.
};

/// What a group is judged by: one ended member.
struct MemberAnswer {
    TaskId task;
    MemberState state = MemberState::aborted;
    Duration took{};                          ///< From start to answer; decides ranks, the lower task id among equals.
    std::span<const std::uint8_t> result{};   ///< When submitted.
};

/// The verdict on a group, members in the order in which they were given.
struct Judgement {
    Agreement agreement = Agreement::too_few;
    std::array<MemberVerdict, group_size> verdicts{};
    std::array<std::optional<std::uint32_t>, group_size> points{};  ///< For the node's QoS, where there is something to say.
    std::array<std::optional<std::uint32_t>, group_size> ranks{};   ///< By speed from 0, of those that answered.

    friend auto operator==(const Judgement&, const Judgement&) -> bool = default;
};

/// The whole outcome table of validation groups (spec: crynux.md 2.9).
///
/// Those that answered are ordered by the time they took. The first pair of the same answers in that order (first and second,
/// first and third, second and third) decides: the faster of two results has passed and the other matched, a third is matched
/// if it is the same as the faster one, else wrong. Two errors agree likewise, but nobody passes, and a third error is no
/// wrong answer (the relays get stuck there). If no two agree, all are undecided; so is one that answered alone.
///
/// Two errors say nothing against a result, for an error report proves nothing and costs nothing: it is undecided as they are,
/// unless `slash_across_errors` asks for what the relays do, where it is wrong.
///
/// Points go by rank to those that were right alone: an answer that is wrong or that nobody confirmed earns nothing, however
/// fast it was (the relays give it the points of its rank). A member that timed out while another answered has zero points.
/// @pre All members have ended, and their task ids differ.
[[nodiscard]] inline auto judge(const std::array<MemberAnswer, group_size>& members, const ValidationParameters& parameters)
    -> Judgement {
    auto judgement = Judgement{};
    auto order = std::array<std::size_t, group_size>{0, 1, 2};
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        const auto& x = members[a];
        const auto& y = members[b];
        return std::tuple{!answered(x.state), x.took, x.task} < std::tuple{!answered(y.state), y.took, y.task};
    });
    auto answers = std::size_t{0};
    while (answers < group_size && answered(members[order[answers]].state)) {
        judgement.ranks[order[answers]] = static_cast<std::uint32_t>(answers);
        judgement.verdicts[order[answers]] = MemberVerdict::undecided;
        ++answers;
    }
    for (std::size_t i = 0; i < group_size; ++i) {
        if (members[i].state == MemberState::timed_out && answers > 0) { judgement.points[i] = 0; }
    }
    if (answers < 2) { return judgement; }

    const auto same = [&](std::size_t a, std::size_t b) {
        const auto& x = members[order[a]];
        const auto& y = members[order[b]];
        return x.state == y.state &&
               (x.state == MemberState::error_reported || same_result(parameters.comparison, x.result, y.result));
    };
    judgement.agreement = Agreement::none;
    for (const auto& [first, second] : {std::pair{0U, 1U}, std::pair{0U, 2U}, std::pair{1U, 2U}}) {
        if (second >= answers || !same(first, second)) { continue; }
        const auto errors = members[order[first]].state == MemberState::error_reported;
        const auto right = errors ? MemberVerdict::undecided : MemberVerdict::matched;
        judgement.agreement = errors ? Agreement::error : Agreement::result;
        const auto third = 3 - first - second;
        if (third < answers) {
            const auto agrees = same(first, third) || (parameters.chain_matches && same(second, third));
            const auto against = errors && !parameters.slash_across_errors ? MemberVerdict::undecided : MemberVerdict::wrong;
            judgement.verdicts[order[third]] = agrees ? right : against;
        }
        judgement.verdicts[order[second]] = right;
        judgement.verdicts[order[first]] = errors ? right : MemberVerdict::passed;
        break;
    }
    auto place = std::size_t{0};
    for (std::size_t i = 0; i < answers; ++i) {
        const auto verdict = judgement.verdicts[order[i]];
        const auto right = verdict == MemberVerdict::passed || verdict == MemberVerdict::matched;
        if (right) { judgement.points[order[i]] = parameters.rank_points[place]; }
        if (right || !parameters.rank_right_only) { ++place; }
    }
    return judgement;
}

}}  // namespace allot::v0

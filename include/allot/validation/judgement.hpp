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

/// State of a member of a validation group.
enum class MemberState : std::uint8_t {
    waiting,         ///< Not on a node yet.
    running,         ///< On a node.
    submitted,       ///< Ended with a result.
    error_reported,  ///< Ended with an error report: the node says that the task cannot be done.
    timed_out,       ///< Ended at its deadline without an answer.
    aborted,         ///< Ended otherwise: withdrawn, evicted, failed.
};

/// True for final states.
[[nodiscard]] constexpr auto ended(MemberState state) noexcept -> bool { return state >= MemberState::submitted; }
/// True if the node answered, with a result or an error report.
[[nodiscard]] constexpr auto answered(MemberState state) noexcept -> bool {
    return state == MemberState::submitted || state == MemberState::error_reported;
}

/// Verdict on one member.
enum class MemberVerdict : std::uint8_t {
    none,       ///< No answer: the member timed out or was aborted.
    passed,     ///< Fastest right answer: its result counts and has to be uploaded.
    matched,    ///< Also right, and paid; its own fee is refunded.
    wrong,      ///< Two results agree against it; with `slash_across_errors` also two errors.
    undecided,  ///< No two answers decide, or two report errors: the member fails without blame.
};

/// Verdict on a group as a whole.
enum class Agreement : std::uint8_t {
    result,   ///< At least two results are the same.
    error,    ///< At least two nodes report that the task cannot be done.
    none,     ///< No two answers are the same.
    too_few,  ///< Fewer than two members answered.
};

/// One ended member, as input of `judge`.
struct MemberAnswer {
    TaskId task;
    MemberState state = MemberState::aborted;
    /// Time from start to answer; decides ranks. Among equals, the lower task id ranks first.
    Duration took{};
    std::span<const std::uint8_t> result{};  ///< The result, if submitted; else empty.
};

/// Verdict on a group. Arrays have the members' order in the call of `judge`.
struct Judgement {
    Agreement agreement = Agreement::too_few;
    std::array<MemberVerdict, group_size> verdicts{};
    std::array<std::optional<std::uint32_t>, group_size> points{};  ///< Points for the node's QoS; none for no effect.
    /// Rank by speed among the members that answered, from 0.
    std::array<std::optional<std::uint32_t>, group_size> ranks{};

    friend auto operator==(const Judgement&, const Judgement&) -> bool = default;
};

/// Judges a group by the outcome table of validation groups (spec: crynux.md 2.9).
///
/// The members that answered are ordered by their time. The first pair of equal answers in that order (first and
/// second, first and third, second and third) decides. The faster of two equal results has passed and the other has
/// matched. The third member has matched if its result equals the faster one, else it is wrong. Two errors agree
/// likewise, but no member passes, and a third error is no wrong answer (the relays get stuck there). If no two answers
/// agree, all are undecided; so is a single answer.
///
/// Two errors do not outvote a result, because an error report proves nothing and costs nothing: the result is
/// undecided as they are. With `slash_across_errors` it is wrong, as in the relays.
///
/// Right answers alone earn points, by rank. A wrong or unconfirmed answer earns none, however fast (the relays give it
/// the points of its rank). A member that timed out while another answered gets zero points.
/// @pre All members have ended, and their task ids differ.
/// @complexity linear in the length of the results.
[[nodiscard]] inline auto judge(const std::array<MemberAnswer, group_size>& members,
                                const ValidationParameters& parameters) -> Judgement {
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
            const auto against =
                errors && !parameters.slash_across_errors ? MemberVerdict::undecided : MemberVerdict::wrong;
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

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
    wrong,      ///< Two results agree against it; with `slash_across_errors` also two errors. With a
                ///< referee: another one is right.
    undecided,  ///< No two answers decide, or two report errors: the member fails without blame.
};

/// Verdict on a group as a whole.
enum class Agreement : std::uint8_t {
    result,   ///< At least two results are the same, or one is that of the referee.
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

namespace detail {

/// The members in the order of their answers: by time, then by task; those without an answer last.
[[nodiscard]] inline auto by_speed(const std::array<MemberAnswer, group_size>& members)
    -> std::array<std::size_t, group_size> {
    auto order = std::array<std::size_t, group_size>{0, 1, 2};
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        const auto& x = members[a];
        const auto& y = members[b];
        return std::tuple{!answered(x.state), x.took, x.task} < std::tuple{!answered(y.state), y.took, y.task};
    });
    return order;
}

/// Number of members that answered: the first ones of `by_speed`.
[[nodiscard]] inline auto answers_of(const std::array<MemberAnswer, group_size>& members) -> std::size_t {
    return static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(), [](const MemberAnswer& one) { return answered(one.state); }));
}

/// A judgement that ranks the members that answered, and decides on none of them.
[[nodiscard]] inline auto undecided(const std::array<MemberAnswer, group_size>& members) -> Judgement {
    auto judgement = Judgement{};
    const auto order = by_speed(members);
    const auto answers = answers_of(members);
    for (std::size_t i = 0; i < answers; ++i) {
        judgement.ranks[order[i]] = static_cast<std::uint32_t>(i);
        judgement.verdicts[order[i]] = MemberVerdict::undecided;
    }
    return judgement;
}

/// Gives points for the verdicts: right answers earn them by rank, and a timeout is a zero if another member answered.
inline void give_points(Judgement& judgement, const std::array<MemberAnswer, group_size>& members,
                        const ValidationParameters& parameters) {
    const auto order = by_speed(members);
    const auto answers = answers_of(members);
    for (std::size_t i = 0; i < group_size; ++i) {
        if (members[i].state == MemberState::timed_out && answers > 0) { judgement.points[i] = 0; }
    }
    auto place = std::size_t{0};
    for (std::size_t i = 0; i < answers; ++i) {
        const auto verdict = judgement.verdicts[order[i]];
        const auto right = verdict == MemberVerdict::passed || verdict == MemberVerdict::matched;
        if (right) { judgement.points[order[i]] = parameters.rank_points[place]; }
        if (right || !parameters.rank_right_only) { ++place; }
    }
}

}  // namespace detail

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
    auto judgement = detail::undecided(members);
    const auto order = detail::by_speed(members);
    const auto answers = detail::answers_of(members);
    if (answers < 2) {
        detail::give_points(judgement, members, parameters);
        return judgement;
    }

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
    detail::give_points(judgement, members, parameters);
    return judgement;
}

/// True if a referee should recompute the work: at least two members submitted a result, and one of them is not
/// confirmed. Error reports alone call for none, because they prove nothing and cost nothing.
/// @param judgement The judgement of these members without a referee.
/// @complexity O(1).
[[nodiscard]] inline auto disputed(const std::array<MemberAnswer, group_size>& members, const Judgement& judgement)
    -> bool {
    auto results = 0U;
    auto unconfirmed = 0U;
    for (std::size_t i = 0; i < group_size; ++i) {
        if (members[i].state != MemberState::submitted) { continue; }
        const auto verdict = judgement.verdicts[i];
        ++results;
        unconfirmed += verdict == MemberVerdict::passed || verdict == MemberVerdict::matched ? 0U : 1U;
    }
    return results >= 2 && unconfirmed > 0;
}

/// Judges a group by the result of a referee that did the work again. A result that equals it is right, and so is one
/// that equals a right one. Any other is wrong, regardless of the majority. If no result equals the referee's, all are
/// undecided: then the work has no one result, or the referee was given another form of it. An error report is
/// undecided, because hardware differs in its abilities.
/// @pre As for `judge` without a referee.
/// @complexity linear in the length of the results.
[[nodiscard]] inline auto judge(const std::array<MemberAnswer, group_size>& members,
                                const ValidationParameters& parameters, std::span<const std::uint8_t> recomputed)
    -> Judgement {
    auto judgement = detail::undecided(members);
    judgement.agreement = Agreement::none;
    const auto same = [&](std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
        return same_result(parameters.comparison, a, b);
    };
    const auto submitted = [&](std::size_t i) { return members[i].state == MemberState::submitted; };
    auto right = std::array<bool, group_size>{};
    auto any = false;
    for (std::size_t i = 0; i < group_size; ++i) {
        right[i] = submitted(i) && same(recomputed, members[i].result);
        any = any || right[i];
    }
    const auto confirmed = right;
    for (std::size_t i = 0; i < group_size; ++i) {
        for (std::size_t j = 0; j < group_size; ++j) {
            right[i] = right[i] || (confirmed[j] && submitted(i) && same(members[i].result, members[j].result));
        }
    }
    for (const auto i : detail::by_speed(members)) {
        if (!any || !submitted(i)) { continue; }
        const auto first = judgement.agreement == Agreement::none;
        judgement.verdicts[i] = !right[i] ? MemberVerdict::wrong
                                : first   ? MemberVerdict::passed
                                          : MemberVerdict::matched;
        if (right[i]) { judgement.agreement = Agreement::result; }
    }
    detail::give_points(judgement, members, parameters);
    return judgement;
}

/// A judgement by majority that names no member wrong: one that two others outvote is undecided. It holds where a
/// referee was asked and gave no result.
/// @complexity O(1).
[[nodiscard]] inline auto unnamed(Judgement judgement) -> Judgement {
    std::replace(judgement.verdicts.begin(), judgement.verdicts.end(), MemberVerdict::wrong, MemberVerdict::undecided);
    return judgement;
}

}}  // namespace allot::v0

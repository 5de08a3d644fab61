#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include <allot/validation/judgement.hpp>

#include "support/catch.hpp"
#include "validation/support/relay_table.hpp"

namespace validation_test {

using allot::Agreement;
using allot::MemberState;
using allot::MemberVerdict;

inline auto answers_of(const std::array<relay::Task, 3>& tasks) -> std::array<allot::MemberAnswer, 3> {
    const auto answer = [](const relay::Task& task) {
        const auto state = task.status == relay::score_ready      ? MemberState::submitted
                           : task.status == relay::error_reported ? MemberState::error_reported
                           : task.by_timeout                      ? MemberState::timed_out
                                                                  : MemberState::aborted;
        return allot::MemberAnswer{task.id, state, std::chrono::seconds{task.seconds}, task.score};
    };
    return {answer(tasks[0]), answer(tasks[1]), answer(tasks[2])};
}

inline auto status_of(MemberVerdict verdict) -> int {
    switch (verdict) {
        case MemberVerdict::passed: return relay::group_validated;
        case MemberVerdict::matched: return relay::group_refund;
        case MemberVerdict::wrong: return relay::invalidated;
        case MemberVerdict::undecided:
        case MemberVerdict::none: break;
    }
    return relay::aborted;
}

/// Holds a judgement to what the relays say, but for two defects:
/// D34, three errors: the relays mean to refund the third as if there were a result, and get stuck; ours fails all
/// three. D35, answers that are wrong or that nobody confirmed: the relays give them 10, 5 or 2 points; ours gives
/// none.
inline void check_against(const allot::Judgement& ours, const std::array<relay::Outcome, 3>& theirs,
                          const std::array<relay::Task, 3>& tasks) {
    const auto d34 = tasks[0].status == relay::error_reported && tasks[1].status == relay::error_reported &&
                     tasks[2].status == relay::error_reported;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto next = d34 ? relay::aborted : theirs[i].next;
        REQUIRE(status_of(ours.verdicts[i]) == next);
        REQUIRE((ours.verdicts[i] == MemberVerdict::none) == (tasks[i].status == relay::aborted));
        if (next == relay::group_validated || next == relay::group_refund) {
            REQUIRE(ours.points[i] == theirs[i].qos);
        } else if (theirs[i].timeout_zero_enters_pool) {
            REQUIRE(ours.points[i] == 0U);
        } else {
            REQUIRE(ours.points[i] == std::nullopt);  // D35
        }
        const auto rank = std::array{10U, 5U, 2U};
        REQUIRE(ours.ranks[i].has_value() == (tasks[i].status != relay::aborted));
        if (ours.ranks[i]) { REQUIRE(rank[*ours.ranks[i]] == theirs[i].qos); }
    }
}

}  // namespace validation_test

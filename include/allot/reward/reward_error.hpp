#pragma once

#include <cstdint>
#include <string_view>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// Why a reward cannot be computed. The numbers are stable.
enum class RewardError : std::uint16_t {
    no_members = 1,
    nothing_scored = 2,
    scores_exceed_whole = 3,
    amount_overflow = 4,
    percent_invalid = 5,
    weights_invalid = 6,

    vram_exceeds_largest = 10,
    vram_zero = 11,
    timeout_too_short = 12,
    timeout_exceeds_longest = 13,
    score_exceeds_highest = 14,

    member_unknown = 20,
    already_submitted = 21,
};

/// Returns one sentence: the error and its remedy.
[[nodiscard]] constexpr auto message(RewardError error) noexcept -> std::string_view {
    switch (error) {
        case RewardError::no_members: return "nobody takes part; pass at least one score";
        case RewardError::nothing_scored: return "every score is zero, so nobody can be paid; refund the fee";
        case RewardError::scores_exceed_whole: return "the scores are more than the whole that earns all of the fee";
        case RewardError::amount_overflow: return "the amount is 2^96 or more; token amounts must be below";
        case RewardError::percent_invalid: return "a share is more than 100 percent";
        case RewardError::weights_invalid: return "the incentive weights are all zero; give at least one that counts";
        case RewardError::vram_exceeds_largest:
            return "the node has more VRAM than the largest of the network; it belongs to the network, too";
        case RewardError::vram_zero: return "the VRAM is zero; give the card's size";
        case RewardError::timeout_too_short: return "the timeout is shorter than the network allows";
        case RewardError::timeout_exceeds_longest:
            return "the timeout is longer than the longest of the network; it belongs to the network, too";
        case RewardError::score_exceeds_highest:
            return "the node's score is above the highest of the network; it belongs to the network, too";
        case RewardError::member_unknown: return "the task has fewer members; they count from 0";
        case RewardError::already_submitted: return "the member has submitted in this round already";
    }
    return "unknown error";
}

}}  // namespace allot::v0

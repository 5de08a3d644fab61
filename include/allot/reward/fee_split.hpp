#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <allot/core/units.hpp>
#include <allot/result.hpp>
#include <allot/reward/reward_error.hpp>

namespace allot { inline namespace v0 {

/// The receiver of the units left over when every payment is rounded down; there are fewer such units than members.
enum class Remainder : std::uint8_t {
    last_paid,  ///< The last member with a score above zero gets all of them (rule 23).
    /// One unit each to the members that lost most by rounding, earlier ones first. A higher score never gets less.
    largest_fraction,
};

/// Parameters of `split_fee`. The defaults are rule 23; with scores of 10, 9 and 6 they are those of the contracts of
/// 2024.
struct FeeSplitParameters {
    /// Sum of scores that earns the whole fee; the part not earned is refunded. Zero means the sum of the given scores.
    /// The contracts of three nodes a task had 50: two rounds of 10 + 9 + 6.
    std::uint64_t whole = 0;
    /// The receiver of the units left over by rounding.
    Remainder remainder = Remainder::last_paid;

    friend constexpr auto operator==(const FeeSplitParameters&, const FeeSplitParameters&) noexcept -> bool = default;
};

/// A divided fee. The payments and the refund add up to the fee, to the last unit.
struct FeeSplit {
    std::vector<Amount> paid{};  ///< Payments in token units, in the order of the scores.
    Amount refund{};             ///< In token units; zero unless `whole` was more than the scores.

    friend auto operator==(const FeeSplit&, const FeeSplit&) -> bool = default;
};

/// Divides a fee by score: payment_i = floor(fee × score_i / Σ score). `remainder` selects the receiver of the units
/// left over by rounding (seed 002, task fee distribution). A fee of 100 at scores of 10, 5 and 2 pays 58, 29 and 13. A
/// score of zero is paid nothing.
///
/// Errors: `no_members`; `nothing_scored` if all scores are zero and no `whole` is given; `scores_exceed_whole`;
/// `amount_overflow` for 2^96 and more.
/// @param fee In token units.
/// @param scores In the order of payment, such as by rank.
/// @complexity linear in the members; O(n log n) for `largest_fraction`.
[[nodiscard]] inline auto split_fee(Amount fee, std::span<const std::uint32_t> scores,
                                    const FeeSplitParameters& parameters = {}) -> Result<FeeSplit, RewardError> {
    if (!fee.admitted()) { return FailureOf<RewardError>{RewardError::amount_overflow}; }
    if (scores.empty()) { return FailureOf<RewardError>{RewardError::no_members}; }
    const auto sum = std::accumulate(scores.begin(), scores.end(), std::uint64_t{0});
    const auto whole = parameters.whole == 0 ? sum : parameters.whole;
    if (whole == 0) { return FailureOf<RewardError>{RewardError::nothing_scored}; }
    if (sum > whole) { return FailureOf<RewardError>{RewardError::scores_exceed_whole}; }

    auto split = FeeSplit{{}, fee};
    const auto pay = [&](std::size_t i, u128 units) {
        split.paid[i].units += units;
        split.refund.units -= units;
    };
    auto owed = std::vector<std::size_t>{};  // members with a score above zero
    for (std::size_t i = 0; i < scores.size(); ++i) {
        split.paid.emplace_back();
        pay(i, fee.units * scores[i] / whole);
        if (scores[i] > 0) { owed.push_back(i); }
    }
    if (sum < whole) { return split; }
    if (parameters.remainder == Remainder::last_paid) {
        pay(owed.back(), split.refund.units);
        return split;
    }
    const auto lost = [&](std::size_t i) { return fee.units * scores[i] % whole; };
    std::stable_sort(owed.begin(), owed.end(), [&](auto a, auto b) { return lost(a) > lost(b); });
    for (const auto i : owed) {
        if (split.refund.units > 0) { pay(i, 1); }
    }
    return split;
}

/// One node's payment, divided between the network, the delegators of stake to the node, and the node. In token units.
struct PaymentShares {
    Amount network{};     ///< floor(payment × network percent).
    Amount delegators{};  ///< floor((payment - network) × delegators' percent).
    Amount node{};        ///< The remaining units.

    friend constexpr auto operator==(const PaymentShares&, const PaymentShares&) noexcept -> bool = default;
};

/// Divides a payment as the relay of 2026 does; the three shares add up to the payment, to the last unit.
/// Errors: `percent_invalid` for more than 100, `amount_overflow` for 2^96 and more.
[[nodiscard]] constexpr auto share_payment(Amount payment, std::uint32_t network_percent,
                                           std::uint32_t delegators_percent) -> Result<PaymentShares, RewardError> {
    if (!payment.admitted()) { return FailureOf<RewardError>{RewardError::amount_overflow}; }
    if (network_percent > 100 || delegators_percent > 100) {
        return FailureOf<RewardError>{RewardError::percent_invalid};
    }
    const auto network = payment.units * network_percent / 100;
    const auto rest = payment.units - network;
    const auto delegators = rest * delegators_percent / 100;
    return PaymentShares{network, delegators, rest - delegators};
}

}}  // namespace allot::v0

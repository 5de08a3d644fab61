#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <allot/core/units.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// One wallet's share of the work, in any unit, such as MicroJobs or milliseconds.
struct EscrowShare {
    WalletId wallet;
    std::uint32_t part = 0;

    friend auto operator==(const EscrowShare&, const EscrowShare&) -> bool = default;
};

/// A divided escrow. The payments and the refund add up to the escrow, to the last token unit.
struct EscrowSplit {
    std::vector<std::pair<WalletId, Amount>> paid{};  ///< In the order of the shares.
    Amount refund{};
};

/// Divides an escrow in proportion: floor(escrow * part / whole) to each. If the parts add up to the whole, the units
/// left over by rounding go to the lowest wallet with a part, to its first share if it has several. Else they are
/// refunded with the rest.
///
/// Errors: `amount_overflow` for 2^96 and more; `no_shares` if the whole is zero; `parameter_invalid` if it is less
/// than the sum of its parts; `wallet_invalid`.
/// @param escrow In token units.
/// @param whole All the work there was, in the unit of the parts.
/// @complexity linear in the shares.
[[nodiscard]] inline auto split_escrow(Amount escrow, const std::vector<EscrowShare>& shares, std::uint32_t whole)
    -> Result<EscrowSplit, JobError> {
    if (!escrow.admitted()) { return FailureOf<JobError>{JobError::amount_overflow}; }
    if (whole == 0) { return FailureOf<JobError>{JobError::no_shares}; }
    auto sum = std::uint64_t{0};
    for (const auto& share : shares) {
        if (share.wallet.is_null()) { return FailureOf<JobError>{JobError::wallet_invalid}; }
        sum += share.part;
    }
    if (sum > whole) { return FailureOf<JobError>{JobError::parameter_invalid}; }
    auto split = EscrowSplit{{}, escrow};
    auto lowest = shares.size();
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const auto amount = Amount{escrow.units * shares[i].part / whole};
        split.paid.emplace_back(shares[i].wallet, amount);
        split.refund.units = split.refund.units - amount.units;
        if (shares[i].part > 0 && (lowest == shares.size() || shares[i].wallet < shares[lowest].wallet)) { lowest = i; }
    }
    if (sum == whole) {
        auto& first = split.paid[lowest].second;
        first.units = first.units + std::exchange(split.refund, Amount{}).units;
    }
    return split;
}

}}  // namespace allot::v0

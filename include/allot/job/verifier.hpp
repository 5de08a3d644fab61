#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/result_record.hpp>
#include <allot/job/secret_plan.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Finds the verifying MicroJobs from hashes alone (rule 31). Each hash of a verifier's list occurs in other lists as
/// well. The list shares at least `checked_blocks` blocks with every worker, and no two workers share any.
///
/// Returns none if that does not identify as many as the plan has: a result is wrong, or different blocks have equal
/// content. Then only the holder of the secret can decide. This is a first check and no proof: a late publisher can
/// copy hashes.
/// @pre `lists` has one list for each MicroJob, none null.
/// @complexity O(n log n) in the hashes.
[[nodiscard]] inline auto find_verifiers(const MacroPlan& plan, const std::vector<const std::vector<Hash256>*>& lists)
    -> std::vector<std::uint32_t> {
    auto holders = std::map<Hash256, std::set<std::uint32_t>>{};
    for (std::uint32_t k = 0; k < lists.size(); ++k) {
        for (const auto& hash : *lists[k]) { holders[hash].insert(k); }
    }
    auto found = std::vector<std::uint32_t>{};
    auto verifies = std::vector<bool>(lists.size());
    for (std::uint32_t k = 0; k < lists.size(); ++k) {
        verifies[k] =
            std::all_of(lists[k]->begin(), lists[k]->end(), [&](const auto& hash) { return holders[hash].size() > 1; });
        if (verifies[k]) { found.push_back(k); }
    }
    if (found.size() != plan.verifiers) { return {}; }
    for (const auto& [hash, who] : holders) {
        if (std::count_if(who.begin(), who.end(), [&](auto k) { return !verifies[k]; }) > 1) { return {}; }
    }
    for (const auto verifier : found) {
        auto shared = std::vector<std::uint32_t>(lists.size());
        for (const auto& hash : *lists[verifier]) {
            for (const auto k : holders[hash]) { ++shared[k]; }
        }
        for (std::uint32_t k = 0; k < lists.size(); ++k) {
            if (!verifies[k] && shared[k] < plan.checked_blocks) { return {}; }
        }
    }
    return found;
}

/// The verdict of the secret's holder on a MacroJob.
struct MacroVerdict {
    std::vector<Rejection> rejected{};  ///< Rejected results; if empty, the MacroJob is verified.
    /// A verifier also computed blocks that it verified, so that part proves nothing (rule 32).
    bool self_verified = false;
    Hash256 macro_hash{};             ///< The hash of the verifiers' hashes, for the contract.
    std::vector<WalletId> wallets{};  ///< Wallets to pay, by MicroJob.

    /// True if no result is rejected.
    [[nodiscard]] auto verified() const noexcept -> bool { return rejected.empty(); }
};

/// Compares each verifier's result with the blocks it repeated, and rejects the wrong results.
///
/// Wallets vote, not MicroJobs. If fewer than half of the wallets that a verifier checked differ from it, they are the
/// culprits. If more than half differ, the verifier is the culprit. If exactly half differ, or there is only one
/// wallet, no author is to blame. The verifier's result is then rejected to break the tie, and another node repeats it
/// on fresh picks (the next `round`).
///
/// `same(a, b)` compares two hashes; pass another function for outputs that may differ a little.
/// Errors: `not_covered` if a result is missing, `macro_unknown` if the secret has another shape.
/// @pre `results` has one entry for each MicroJob, null if there is none.
/// @complexity O(n log n) in the length of the lists.
template <class Same = std::equal_to<>>
[[nodiscard]] auto judge(const MacroPlan& plan, const MacroSecret& secret,
                         const std::vector<const ResultRecord*>& results, Same same = {})
    -> Result<MacroVerdict, JobError> {
    if (results.size() != plan.items() || secret.blocks.size() != plan.items() ||
        secret.picks.size() != secret.verifiers.size()) {
        return FailureOf<JobError>{JobError::macro_unknown};
    }
    if (std::find(results.begin(), results.end(), nullptr) != results.end()) {
        return FailureOf<JobError>{JobError::not_covered};
    }
    auto verdict = MacroVerdict{};
    auto guilty = std::map<std::uint32_t, RejectReason>{};
    const auto blame = [&](std::uint32_t micro, RejectReason reason) {
        const auto [at, fresh] = guilty.try_emplace(micro, reason);
        if (!fresh) { at->second = std::min(at->second, reason); }
    };
    for (std::uint32_t k = 0; k < plan.items(); ++k) {
        if (results[k]->block_hashes.size() != plan.blocks_per_micro) { blame(k, RejectReason::culprit); }
        verdict.wallets.push_back(results[k]->wallet);
    }
    auto hasher = RecordHasher{"verified"};
    hasher.id(plan.job).hash(plan.id);
    for (std::size_t v = 0; v < secret.verifiers.size(); ++v) {
        const auto verifier = secret.verifiers[v];
        const auto& own = *results[verifier];
        for (const auto& hash : own.block_hashes) { hasher.hash(hash); }
        auto checked = std::set<WalletId>{};
        auto differing = std::set<WalletId>{};
        auto wrong = std::set<std::uint32_t>{};
        for (std::size_t i = 0; i < secret.picks[v].size() && !guilty.contains(verifier); ++i) {
            const auto pick = secret.picks[v][i];
            const auto& other = *results[pick.micro];
            if (other.wallet == own.wallet) { verdict.self_verified = true; }
            if (other.wallet == own.wallet || guilty.contains(pick.micro)) { continue; }
            checked.insert(other.wallet);
            if (same(own.block_hashes[i], other.block_hashes[pick.place])) { continue; }
            differing.insert(other.wallet);
            wrong.insert(pick.micro);
        }
        if (differing.empty()) { continue; }
        if (checked.size() == 1 || differing.size() * 2 == checked.size()) {
            blame(verifier, RejectReason::tie_break);
        } else if (differing.size() * 2 > checked.size()) {
            blame(verifier, RejectReason::culprit);
        } else {
            for (const auto micro : wrong) { blame(micro, RejectReason::culprit); }
        }
    }
    for (const auto& [micro, reason] : guilty) { verdict.rejected.push_back(rejection_of(*results[micro], reason)); }
    verdict.macro_hash = hasher.finish();
    return verdict;
}

}}  // namespace allot::v0

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
/// @pre `results` has one entry for each MicroJob, none null.
/// @complexity O(n log n) in the hashes.
[[nodiscard]] inline auto find_verifiers(const MacroPlan& plan, const std::vector<const ResultRecord*>& results)
    -> std::vector<std::uint32_t> {
    auto lists = std::vector<const std::vector<Hash256>*>{};
    for (const auto* result : results) { lists.push_back(&result->block_hashes); }
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

/// Returns the hash of the verifiers' hashes, which the contract receives; null if there are no verifiers.
/// @pre `results` has one entry for each MicroJob, none null. @complexity linear in the verifiers' lists.
[[nodiscard]] inline auto verifier_hash_of(const MacroPlan& plan, const std::vector<std::uint32_t>& verifiers,
                                           const std::vector<const ResultRecord*>& results) -> Hash256 {
    if (verifiers.empty()) { return {}; }
    auto hasher = RecordHasher{"verified"};
    hasher.id(plan.job).hash(plan.id);
    for (const auto verifier : verifiers) {
        for (const auto& hash : results[verifier]->block_hashes) { hasher.hash(hash); }
    }
    return hasher.finish();
}

/// All that a verdict goes by, in addition to the results.
struct Evidence {
    std::map<std::uint64_t, Hash256> recomputed{};  ///< Outputs that the referee computed, by data block.
    /// `MacroRecord::disclosed`. A result of a later lease may be a copy: only a recomputed block verifies it, and it
    /// verifies nothing.
    std::uint64_t disclosed = ~std::uint64_t{0};
    /// The referee did not answer in time: wallets vote instead. No author is named then.
    bool referee_away = false;
    /// Fresh picks may be tried once more after a vote; if not, its losers are unverified.
    bool may_repeat = true;
};

/// The verdict of the secret's holder on a MacroJob.
struct MacroVerdict {
    std::vector<Rejection> rejected{};  ///< Rejected results, without their author.
    /// Data blocks that two wallets report differently. The referee must recompute them; until then there is no
    /// verdict.
    std::vector<std::uint64_t> disputed{};
    /// MicroJobs that are not rejected and that no other wallet verified. They are not paid. None in a plan without
    /// verifiers.
    std::vector<std::uint32_t> unverified{};
    Hash256 verifier_hash{};          ///< `verifier_hash_of` the verifiers' results, for the contract.
    std::vector<WalletId> wallets{};  ///< Wallets of the results, by MicroJob.

    /// True if each MicroJob is verified.
    [[nodiscard]] auto verified() const noexcept -> bool {
        return rejected.empty() && disputed.empty() && unverified.empty();
    }
};

namespace detail {

/// Works out one verdict (`judge`).
template <class Same>
class Judge {
public:
    using Results = std::vector<const ResultRecord*>;

    Judge(const MacroPlan& plan, const MacroSecret& secret, const Results& results, const Evidence& evidence,
          const Same& same)
        : plan_{plan}, secret_{secret}, results_{results}, evidence_{evidence}, same_{same},
          confirmed_(plan.items(), plan.verifiers == 0) {}

    [[nodiscard]] auto verdict() -> MacroVerdict {
        for (std::uint32_t k = 0; k < plan_.items(); ++k) { recompute(k); }
        for (std::size_t v = 0; v < secret_.verifiers.size(); ++v) { compare(v); }
        auto verdict = MacroVerdict{{}, {disputed_.begin(), disputed_.end()}, {}, {}, {}};
        for (std::uint32_t k = 0; k < plan_.items(); ++k) {
            const auto at = guilty_.find(k);
            verdict.wallets.push_back(results_[k]->wallet);
            if (at != guilty_.end()) {
                verdict.rejected.push_back(rejection_of(*results_[k], at->second));
            } else if (!confirmed_[k]) {
                verdict.unverified.push_back(k);
            }
        }
        verdict.verifier_hash = verifier_hash_of(plan_, secret_.verifiers, results_);
        return verdict;
    }

private:
    [[nodiscard]] auto late(std::uint32_t micro) const -> bool {
        return results_[micro]->token.seq > evidence_.disclosed;
    }
    auto blame(std::uint32_t micro, RejectReason reason) -> void {
        const auto [at, fresh] = guilty_.try_emplace(micro, reason);
        if (!fresh) { at->second = std::min(at->second, reason); }
    }
    /// Compares a result with the blocks that the referee recomputed.
    auto recompute(std::uint32_t micro) -> void {
        const auto& hashes = results_[micro]->block_hashes;
        if (hashes.size() != plan_.blocks_per_micro) { return blame(micro, RejectReason::culprit); }
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const auto truth = evidence_.recomputed.find(secret_.blocks[micro][i]);
            if (truth == evidence_.recomputed.end()) { continue; }
            if (!same_(hashes[i], truth->second)) { return blame(micro, RejectReason::culprit); }
            confirmed_[micro] = true;
        }
    }
    /// Compares a verifier's result with those of other wallets that it repeated.
    auto compare(std::size_t v) -> void {
        const auto verifier = secret_.verifiers[v];
        const auto& own = *results_[verifier];
        auto checked = std::set<WalletId>{};
        auto differing = std::map<WalletId, std::uint64_t>{};  // a block of each
        auto wrong = std::set<std::uint32_t>{};
        for (std::size_t i = 0; i < secret_.picks[v].size() && !guilty_.contains(verifier); ++i) {
            const auto& pick = secret_.picks[v][i];
            const auto& other = *results_[pick.micro];
            if (other.wallet == own.wallet || guilty_.contains(pick.micro)) { continue; }
            checked.insert(other.wallet);
            if (!same_(own.block_hashes[i], other.block_hashes[pick.place])) {
                differing.emplace(other.wallet, secret_.blocks[verifier][i]);
                wrong.insert(pick.micro);
            } else if (!late(verifier) && !late(pick.micro)) {
                confirmed_[verifier] = confirmed_[pick.micro] = true;
            }
        }
        for (const auto micro : wrong) { confirmed_[micro] = false; }
        if (!evidence_.referee_away) {
            for (const auto& [wallet, block] : differing) { disputed_.insert(block); }
        } else if (!differing.empty() && evidence_.may_repeat) {
            vote(verifier, checked.size(), differing.size(), wrong);
        } else if (differing.size() * 2 >= checked.size()) {
            confirmed_[verifier] = false;
        }
    }
    /// Wallets vote, not MicroJobs.
    auto vote(std::uint32_t verifier, std::size_t checked, std::size_t differing, const std::set<std::uint32_t>& wrong)
        -> void {
        if (checked == 1 || differing * 2 == checked) { return blame(verifier, RejectReason::tie_break); }
        if (differing * 2 > checked) { return blame(verifier, RejectReason::outvoted); }
        for (const auto micro : wrong) { blame(micro, RejectReason::outvoted); }
    }

    const MacroPlan& plan_;
    const MacroSecret& secret_;
    const Results& results_;
    const Evidence& evidence_;
    const Same& same_;
    std::vector<bool> confirmed_;
    std::map<std::uint32_t, RejectReason> guilty_;
    std::set<std::uint64_t> disputed_;
};

}  // namespace detail

/// Compares each verifier's result with the blocks it repeated, and all results with the blocks that the referee
/// recomputed (rule 32).
///
/// Recomputation names, votes never do. A result that contradicts a recomputed block is its author's fault. Where two
/// wallets differ and the block is not recomputed, it is `disputed`: the referee recomputes one block for each wallet
/// that differs, and the verdict is asked for again. Only if the referee is away do the wallets vote: the losers are
/// `outvoted` and lose that part; if exactly half differ, or there is one wallet, the verifier's result is rejected to
/// break the tie, and another node repeats it on fresh picks (the next `round`). No wallet verifies its own work.
///
/// `same(a, b)` compares two hashes; pass another function for outputs that may differ a little.
/// Errors: `not_covered` if a result is missing, `macro_unknown` if the secret has another shape.
/// @pre `results` has one entry for each MicroJob, null if there is none.
/// @complexity O(n log n) in the length of the lists.
template <class Same = std::equal_to<>>
[[nodiscard]] auto judge(const MacroPlan& plan, const MacroSecret& secret,
                         const std::vector<const ResultRecord*>& results, const Evidence& evidence = {},
                         const Same& same = {}) -> Result<MacroVerdict, JobError> {
    if (results.size() != plan.items() || secret.blocks.size() != plan.items() ||
        secret.picks.size() != secret.verifiers.size()) {
        return FailureOf<JobError>{JobError::macro_unknown};
    }
    if (std::find(results.begin(), results.end(), nullptr) != results.end()) {
        return FailureOf<JobError>{JobError::not_covered};
    }
    return detail::Judge<Same>{plan, secret, results, evidence, same}.verdict();
}

}}  // namespace allot::v0

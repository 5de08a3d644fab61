#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// Outcome of a MacroJob or a job.
enum class JobOutcome : std::uint8_t {
    complete,  ///< Every MicroJob has an accepted result.
    failed,    ///< At least one MicroJob is dead: it used up its attempts, or no node took it.
};

/// The accepted result of a MicroJob, with the node and the wallet to be paid.
struct AcceptedResult {
    Hash256 digest{};  ///< Null if the MicroJob is dead.
    NodeId node = NodeId{Hash256{}};
    WalletId wallet = WalletId{Hash256{}};

    friend auto operator==(const AcceptedResult&, const AcceptedResult&) -> bool = default;
};

/// The outcome of a MacroJob's queue. It freezes the accepted results; it is void once one of these is rejected.
struct MacroRecord {
    JobId job;
    std::uint32_t macro = 0;
    std::uint64_t epoch = 0;  ///< Epoch of the owner that made the record.
    NodeId owner;
    JobOutcome outcome = JobOutcome::complete;
    std::vector<AcceptedResult> accepted{};  ///< By MicroJob.
    /// The verifying MicroJobs; empty if the hashes alone cannot identify them.
    std::vector<std::uint32_t> verifiers{};
    std::uint64_t disclosed = 0;  ///< `QueueControl::disclosed`: results of later leases may be copies.
    /// MicroJobs that no other wallet verified, as far as the hashes alone tell (rule 32); none if the outcome is
    /// failed.
    std::vector<std::uint32_t> unverified{};
    Hash256 verifier_hash{};  ///< `verifier_hash_of` the verifiers' results; null if they are not identified.
    Hash256 digest{};         ///< `digest_of` the other fields.
    Signature signature{};    ///< Its owner's, over the digest.

    friend auto operator==(const MacroRecord& a, const MacroRecord& b) -> bool { return a.digest == b.digest; }
};

/// Returns the hash of all fields except the digest. @complexity linear in the record.
[[nodiscard]] inline auto digest_of(const MacroRecord& record) -> Hash256 {
    auto hasher = RecordHasher{"macro record"};
    hasher.id(record.job).word(record.macro).word(record.epoch).id(record.owner);
    hasher.word(static_cast<std::uint64_t>(record.outcome)).hash(record.verifier_hash);
    hasher.word(record.disclosed);
    for (const auto* list : {&record.verifiers, &record.unverified}) {
        hasher.word(list->size());
        for (const auto micro : *list) { hasher.word(micro); }
    }
    for (const auto& result : record.accepted) { hasher.hash(result.digest).id(result.node).id(result.wallet); }
    return hasher.finish();
}

/// Returns the fault of a record that claims to belong to this MacroJob; none if it is valid. @complexity linear in the
/// record.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const MacroRecord& record) -> std::optional<JobError> {
    const auto dead = [](const AcceptedResult& result) { return result.digest == Hash256{}; };
    const auto nobody = [&](const AcceptedResult& result) {
        return !dead(result) && (result.node.is_null() || result.wallet.is_null());
    };
    const auto absent = [&](std::uint32_t micro) { return micro >= plan.items(); };
    const auto failed = std::any_of(record.accepted.begin(), record.accepted.end(), dead);
    if (record.job != plan.job || record.macro != plan.macro || record.owner.is_null() ||
        record.accepted.size() != plan.items() || failed != (record.outcome == JobOutcome::failed) ||
        record.verifiers.size() > plan.verifiers || record.unverified.size() > plan.items() ||
        std::any_of(record.verifiers.begin(), record.verifiers.end(), absent) ||
        std::any_of(record.unverified.begin(), record.unverified.end(), absent) ||
        std::any_of(record.accepted.begin(), record.accepted.end(), nobody) || record.digest != digest_of(record)) {
        return JobError::record_invalid;
    }
    return std::nullopt;
}

/// Orders two records of one MacroJob; the first one counts. Complete comes before failed, then the lower epoch, owner
/// and digest come first. All nodes that know both records agree.
[[nodiscard]] inline auto before(const MacroRecord& a, const MacroRecord& b) -> bool {
    return std::tie(a.outcome, a.epoch, a.owner, a.digest) < std::tie(b.outcome, b.epoch, b.owner, b.digest);
}

/// The record of a job's end. All nodes have the same one, once all have received it.
struct FinalRecord {
    JobId job;
    std::uint64_t epoch = 0;
    NodeId owner;
    JobOutcome outcome = JobOutcome::complete;
    std::vector<Hash256> macros{};  ///< Digests of the MacroJobs' records.
    Hash256 digest{};               ///< `digest_of` the other fields.
    Signature signature{};          ///< The contract's over the digest; the owner's if the plan names no contract.

    friend auto operator==(const FinalRecord& a, const FinalRecord& b) -> bool { return a.digest == b.digest; }
};

/// Returns the hash of all fields except the digest. @complexity linear in the record.
[[nodiscard]] inline auto digest_of(const FinalRecord& record) -> Hash256 {
    auto hasher = RecordHasher{"final record"};
    hasher.id(record.job).word(record.epoch).id(record.owner).word(static_cast<std::uint64_t>(record.outcome));
    for (const auto& macro : record.macros) { hasher.hash(macro); }
    return hasher.finish();
}

/// Returns the fault of a record that claims to end a job of `macro_count` MacroJobs; none if it is valid.
/// @complexity linear in the record.
[[nodiscard]] inline auto fault_of(const JobId& job, std::size_t macro_count, const FinalRecord& record)
    -> std::optional<JobError> {
    const auto right = record.job == job && !record.owner.is_null() && record.macros.size() == macro_count &&
                       record.digest == digest_of(record);
    return right ? std::nullopt : std::optional{JobError::record_invalid};
}

/// Orders two final records; the first one counts. Payments cannot be reversed, so complete comes first.
[[nodiscard]] inline auto before(const FinalRecord& a, const FinalRecord& b) -> bool {
    return std::tie(a.outcome, a.epoch, a.owner, a.digest) < std::tie(b.outcome, b.epoch, b.owner, b.digest);
}

}}  // namespace allot::v0

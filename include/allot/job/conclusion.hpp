#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <allot/job/macro_record.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/result_record.hpp>
#include <allot/job/verifier.hpp>

namespace allot { inline namespace v0 {

/// Returns the MicroJobs whose results no other wallet verified before it could have copied them. Results of leases
/// after number `disclosed` may be copies.
/// @pre `results` has one entry for each MicroJob, none null. @complexity quadratic in the MicroJobs.
[[nodiscard]] inline auto unverified_of(const MacroPlan& plan, const std::vector<std::uint32_t>& verifiers,
                                        const std::vector<const ResultRecord*>& results, std::uint64_t disclosed)
    -> std::vector<std::uint32_t> {
    const auto late = [&](std::uint32_t k) { return results[k]->token.seq > disclosed; };
    const auto verifies = [&](std::uint32_t k) {
        return std::find(verifiers.begin(), verifiers.end(), k) != verifiers.end();
    };
    auto found = std::vector<std::uint32_t>{};
    for (std::uint32_t k = 0; k < plan.items(); ++k) {
        auto confirmed = false;
        for (std::uint32_t other = 0; other < plan.items(); ++other) {
            confirmed = confirmed || (!late(other) && verifies(k) != verifies(other) &&
                                      results[k]->wallet != results[other]->wallet);
        }
        if (late(k) || !confirmed) { found.push_back(k); }
    }
    return found;
}

/// Returns the record of a MacroJob's end by its queue's owner. `results` has one entry for each MicroJob, null for a
/// dead one.
/// @complexity quadratic in the MicroJobs, and O(n log n) in the hashes.
[[nodiscard]] inline auto concluded(const MacroPlan& plan, const NodeId& owner, std::uint64_t epoch,
                                    const std::vector<const ResultRecord*>& results, std::uint64_t disclosed)
    -> MacroRecord {
    auto record =
        MacroRecord{plan.job, plan.macro, epoch, owner, JobOutcome::complete, {}, {}, disclosed, {}, {}, {}, {}};
    for (const auto* result : results) {
        if (result == nullptr) {
            record.outcome = JobOutcome::failed;
            record.accepted.emplace_back();
        } else {
            record.accepted.push_back({result->digest, result->node, result->wallet});
        }
    }
    if (record.outcome == JobOutcome::complete && plan.verifiers > 0) {
        record.verifiers = find_verifiers(plan, results);
        record.verifier_hash = verifier_hash_of(plan, record.verifiers, results);
        record.unverified = unverified_of(plan, record.verifiers, results, disclosed);
    }
    record.digest = digest_of(record);
    return record;
}

}}  // namespace allot::v0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>

namespace allot { inline namespace v0 {

/// What a node found for a MicroJob. Its digest names it: one content, one record.
struct ResultRecord {
    MicroKey key{};
    Hash256 micro{};                      ///< The MicroJob's id from the plan.
    NodeId node;
    WalletId wallet;                      ///< Who is paid.
    std::vector<Hash256> block_hashes{};  ///< One a block, in the order of the MicroJob's list.
    std::string output_uri{};             ///< Where the output lies.
    FencingToken token{};                 ///< Of the lease under which it was made.
    Hash256 digest{};                     ///< `digest_of` all of this under the job's name.

    friend auto operator==(const ResultRecord&, const ResultRecord&) -> bool = default;
};

/// The seed's hash(key & data).
[[nodiscard]] inline auto digest_of(const JobId& job, const ResultRecord& record) -> Hash256 {
    auto hasher = RecordHasher{"result"};
    hasher.id(job).key(record.key).hash(record.micro).id(record.node).id(record.wallet).text(record.output_uri);
    hasher.token(record.token).word(record.block_hashes.size());
    for (const auto& hash : record.block_hashes) { hasher.hash(hash); }
    return hasher.finish();
}

/// What is wrong with a record that claims to be a result of this MacroJob, if anything. Equal hashes are fine: two
/// blocks may well have the same content.
/// @complexity linear in the record.
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const ResultRecord& record) -> std::optional<JobError> {
    if (record.key.macro != plan.macro) { return JobError::macro_unknown; }
    if (record.key.micro >= plan.items()) { return JobError::micro_unknown; }
    if (record.micro != plan.micros[record.key.micro]) { return JobError::result_of_another_micro; }
    if (record.node.is_null()) { return JobError::node_invalid; }
    if (record.wallet.is_null()) { return JobError::wallet_invalid; }
    if (record.block_hashes.size() != plan.blocks_per_micro) { return JobError::result_length_wrong; }
    if (record.output_uri.size() > 4096) { return JobError::message_too_large; }
    if (std::find(record.block_hashes.begin(), record.block_hashes.end(), Hash256{}) != record.block_hashes.end()) {
        return JobError::result_hash_missing;
    }
    if (record.digest != digest_of(plan.job, record)) { return JobError::result_digest_wrong; }
    return std::nullopt;
}

/// Why a result was rejected.
enum class RejectReason : std::uint8_t {
    culprit,    ///< Its author answers for it, and gets no further MicroJob of this job.
    tie_break,  ///< Nobody could tell who was right; another node has to do it again.
};

/// A result that does not count, now or ever. Who made it stands here, because its record may not be at hand.
struct Rejection {
    Hash256 digest{};
    MicroKey key{};
    NodeId node;
    WalletId wallet;
    RejectReason reason = RejectReason::culprit;

    friend auto operator==(const Rejection&, const Rejection&) -> bool = default;
};

/// The rejection of a record.
[[nodiscard]] inline auto rejection_of(const ResultRecord& record, RejectReason reason = RejectReason::culprit) -> Rejection {
    return {record.digest, record.key, record.node, record.wallet, reason};
}

}}  // namespace allot::v0

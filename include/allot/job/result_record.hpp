#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <allot/job/job_error.hpp>
#include <allot/job/names.hpp>
#include <allot/job/plan.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// A node's result for a MicroJob. Its digest identifies it: equal contents, equal records.
struct ResultRecord {
    MicroKey key{};
    Hash256 micro{};  ///< The MicroJob's id from the plan.
    NodeId node;
    WalletId wallet;                      ///< Wallet to be paid.
    std::vector<Hash256> block_hashes{};  ///< One for each block, in the order of the MicroJob's list.
    std::string output_uri{};             ///< Location of the output.
    FencingToken token{};                 ///< Token of the lease under which it was computed.
    Hash256 digest{};                     ///< `digest_of` the other fields and the job's id.
    Signature signature{};                ///< Its node's, over the digest.

    friend auto operator==(const ResultRecord& a, const ResultRecord& b) -> bool { return a.digest == b.digest; }
};

/// Returns the seed's hash(key & data). @complexity linear in the record.
[[nodiscard]] inline auto digest_of(const JobId& job, const ResultRecord& record) -> Hash256 {
    auto hasher = RecordHasher{"result"};
    hasher.id(job).key(record.key).hash(record.micro).id(record.node).id(record.wallet).text(record.output_uri);
    hasher.token(record.token).word(record.block_hashes.size());
    for (const auto& hash : record.block_hashes) { hasher.hash(hash); }
    return hasher.finish();
}

/// Returns the fault of a record that claims to be a result of this MacroJob; none if it is valid. Equal block hashes
/// are valid, because two blocks may have the same content.
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

/// A node's promise of a result, made before it discloses the result: the digest binds the node, the wallet and each
/// hash, and tells none of them. A node can promise another's digest, but it has no result that keeps this promise.
struct Commitment {
    Hash256 digest{};  ///< That of the result.
    MicroKey key{};
    NodeId node;
    FencingToken token{};
    Signature signature{};  ///< Its node's, over `digest_of` the other fields.

    friend auto operator==(const Commitment& a, const Commitment& b) -> bool { return (a <=> b) == 0; }
    friend auto operator<=>(const Commitment& a, const Commitment& b) -> std::strong_ordering {
        return detail::order_of(std::tie(a.digest, a.key, a.token, a.node), std::tie(b.digest, b.key, b.token, b.node));
    }
};

/// Returns the hash of a commitment's fields except the signature. @complexity O(1).
[[nodiscard]] inline auto digest_of(const JobId& job, const Commitment& commitment) -> Hash256 {
    auto hasher = RecordHasher{"commitment"};
    hasher.id(job).hash(commitment.digest).key(commitment.key).id(commitment.node);
    return hasher.token(commitment.token).finish();
}
/// Returns the commitment to a result, not signed. @complexity O(1).
[[nodiscard]] inline auto commitment_of(const ResultRecord& record) -> Commitment {
    return {record.digest, record.key, record.node, record.token, {}};
}
/// Returns the fault of a commitment that claims to belong to this MacroJob; none if it is valid. @complexity O(1).
[[nodiscard]] inline auto fault_of(const MacroPlan& plan, const Commitment& commitment) -> std::optional<JobError> {
    if (commitment.key.macro != plan.macro) { return JobError::macro_unknown; }
    if (commitment.key.micro >= plan.items()) { return JobError::micro_unknown; }
    if (commitment.digest == Hash256{}) { return JobError::result_hash_missing; }
    return commitment.node.is_null() ? std::optional{JobError::node_invalid} : std::nullopt;
}

/// Reason for rejecting a result.
enum class RejectReason : std::uint8_t {
    culprit,   ///< It contradicts a recomputed block: its author is to blame, and gets no further MicroJob of this job.
    outvoted,  ///< Most wallets report otherwise. No author is named; this one loses this part.
    tie_break,  ///< No author is to blame; another node has to compute it again.
};

/// A result that never counts. It names its author, because the record may not be at hand.
struct Rejection {
    Hash256 digest{};
    MicroKey key{};
    NodeId node;
    WalletId wallet;
    RejectReason reason = RejectReason::culprit;
    NodeId author = NodeId::null();  ///< The member that rejects it; `JobAuthorities::may_reject` tells its right.
    Signature signature{};           ///< Its author's, over `digest_of` the other fields.

    friend auto operator==(const Rejection&, const Rejection&) -> bool = default;
};

/// Returns the rejection of a record, without its author.
[[nodiscard]] inline auto rejection_of(const ResultRecord& record, RejectReason reason = RejectReason::culprit)
    -> Rejection {
    return {record.digest, record.key, record.node, record.wallet, reason};
}

/// Returns the hash of a rejection's fields except the signature. @complexity O(1).
[[nodiscard]] inline auto digest_of(const JobId& job, const Rejection& rejection) -> Hash256 {
    auto hasher = RecordHasher{"rejection"};
    hasher.id(job).hash(rejection.digest).key(rejection.key).id(rejection.node).id(rejection.wallet);
    return hasher.word(static_cast<std::uint64_t>(rejection.reason)).id(rejection.author).finish();
}

}}  // namespace allot::v0

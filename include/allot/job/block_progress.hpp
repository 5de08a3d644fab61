#pragma once

#include <cstdint>

#include <allot/job/names.hpp>
#include <allot/job/result_record.hpp>

namespace allot { inline namespace v0 {

/// How much of a MicroJob the holder of its lease has finished: the evidence for a renewal.
struct BlockProgress {
    std::uint32_t blocks = 0;  ///< Number of finished blocks: the first of the MicroJob's list.
    Hash256 commitment{};      ///< `commitment_to` the newest of them; null if there is none.
    Signature signature{};     ///< The holder's, over `digest_of` the others: no owner makes an honest result void.

    friend auto operator==(const BlockProgress&, const BlockProgress&) -> bool = default;
};

/// Returns the hash of a progress, with the lease that it belongs to. @complexity O(1).
[[nodiscard]] inline auto digest_of(const JobId& job, MicroKey key, const FencingToken& token,
                                    const BlockProgress& progress) -> Hash256 {
    auto hasher = RecordHasher{"progress"};
    return hasher.id(job).key(key).token(token).word(progress.blocks).hash(progress.commitment).finish();
}

/// Returns a node's commitment to the hash of one block, number `block` of its MicroJob's list, counted from 1. It
/// discloses nothing of a hash that no node can guess, and serves no other node, wallet or lease. @complexity O(1).
[[nodiscard]] inline auto commitment_to(const JobId& job, MicroKey key, const NodeId& node, const WalletId& wallet,
                                        const FencingToken& token, std::uint32_t block, const Hash256& hash)
    -> Hash256 {
    auto hasher = RecordHasher{"block"};
    return hasher.id(job).key(key).id(node).id(wallet).token(token).word(block).hash(hash).finish();
}

/// True if a result has the block to which its author committed, or if there is no commitment. @complexity O(1).
[[nodiscard]] inline auto keeps(const BlockProgress& progress, const JobId& job, const ResultRecord& result) -> bool {
    const auto block = progress.blocks;
    if (block == 0) { return true; }
    return block <= result.block_hashes.size() &&
           progress.commitment == commitment_to(job, result.key, result.node, result.wallet, result.token, block,
                                                result.block_hashes[block - 1]);
}

}}  // namespace allot::v0

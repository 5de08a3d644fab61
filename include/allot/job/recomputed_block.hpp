#pragma once

#include <cstdint>

#include <allot/job/names.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

/// A data block that the referee computed itself. It names the authors of results with another output. The referee
/// publishes it signed, and opens the job's seed after the job, so that any node can repeat it.
struct RecomputedBlock {
    std::uint64_t block = 0;  ///< Number of the data block in the job.
    Hash256 input{};          ///< Hash of the block's data.
    Hash256 output{};         ///< As a result has it.
    NodeId author;
    Signature signature{};  ///< Its author's, over `digest_of` the other fields.

    friend auto operator==(const RecomputedBlock&, const RecomputedBlock&) -> bool = default;
};

/// Returns the hash of all fields except the signature. @complexity O(1).
[[nodiscard]] inline auto digest_of(const JobId& job, const RecomputedBlock& block) -> Hash256 {
    auto hasher = RecordHasher{"recomputed"};
    return hasher.id(job).word(block.block).hash(block.input).hash(block.output).id(block.author).finish();
}

}}  // namespace allot::v0

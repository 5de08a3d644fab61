#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <allot/core/id.hpp>
#include <allot/core/random.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Name of a job, chosen by whoever posts it.
using JobId = Id<struct JobIdTag>;
/// Name of what a result is paid to.
using WalletId = Id<struct WalletIdTag>;

/// Which MicroJob of a job: its MacroJob, and its number in there.
struct MicroKey {
    std::uint32_t macro = 0;
    std::uint32_t micro = 0;

    friend auto operator==(const MicroKey&, const MicroKey&) noexcept -> bool = default;
    friend auto operator<=>(const MicroKey&, const MicroKey&) noexcept -> std::strong_ordering = default;
};

/// Fencing token of a lease in a travelling queue: it only grows along any chain of owners.
///
/// Two owners of one epoch are a fork; their `rank` keeps their tokens apart.
struct FencingToken {
    std::uint64_t epoch = 0;  ///< Of the queue's owner who gave it.
    std::uint64_t rank = 0;   ///< Of that owner in that epoch.
    std::uint64_t seq = 0;    ///< How many leases came before it.

    friend auto operator==(const FencingToken&, const FencingToken&) noexcept -> bool = default;
    friend auto operator<=>(const FencingToken&, const FencingToken&) noexcept -> std::strong_ordering = default;
};

/// SHA-256 of values in a fixed order under a word that says what they are, so that no two kinds share a hash.
/// Numbers are eight bytes, the lowest first; texts follow their length.
class RecordHasher {
public:
    explicit RecordHasher(std::string_view what) { text(what); }

    auto word(std::uint64_t value) -> RecordHasher& {
        auto bytes = std::array<std::uint8_t, 8>{};
        for (auto& byte : bytes) {
            byte = static_cast<std::uint8_t>(value & 0xFFU);
            value >>= 8U;
        }
        hash_.bytes(bytes);
        return *this;
    }
    auto text(std::string_view value) -> RecordHasher& {
        word(value.size());
        for (const auto c : value) { hash_.bytes(std::array<std::uint8_t, 1>{static_cast<std::uint8_t>(c)}); }
        return *this;
    }
    auto hash(const Hash256& value) -> RecordHasher& {
        hash_.bytes(value);
        return *this;
    }
    template <class Tag>
    auto id(const Id<Tag>& value) -> RecordHasher& {
        return hash(value.bytes());
    }
    auto key(MicroKey value) -> RecordHasher& { return word(value.macro).word(value.micro); }
    auto token(const FencingToken& value) -> RecordHasher& { return word(value.epoch).word(value.rank).word(value.seq); }
    /// What was fed so far.
    [[nodiscard]] auto finish() const -> Hash256 { return hash_.finish(); }

private:
    Sha256 hash_;
};

/// 64 hex digits.
[[nodiscard]] inline auto hex_of(const Hash256& value) -> std::string { return JobId{value}.hex(); }

/// A number that orders nodes anew in each epoch, the same everywhere: who wins a fork, and who takes over first.
/// `boot` tells the lives of one node apart: after a restart it must be a number the node never used before.
[[nodiscard]] inline auto rank_of(const NodeId& node, std::uint64_t epoch, std::uint64_t boot) noexcept -> std::uint64_t {
    return SipHash24{SipKey{epoch, boot}}.bytes(std::span{node.bytes()}).finish();
}

/// The channel on which jobs are posted and asked for.
[[nodiscard]] inline auto jobs_channel() -> std::string { return "Jobs"; }
/// The channel on which a job's MacroJobs are announced and asked for.
[[nodiscard]] inline auto job_channel(const JobId& job) -> std::string { return "Job" + job.hex() + "/MacroJob"; }
/// The channel of one MacroJob, named by its id from the plan.
[[nodiscard]] inline auto macro_channel(const JobId& job, const Hash256& macro) -> std::string {
    return job_channel(job) + hex_of(macro);
}
/// Where the result of one MicroJob is kept in the replicated store.
[[nodiscard]] inline auto result_path(const JobId& job, const Hash256& macro, const Hash256& micro) -> std::string {
    return macro_channel(job, macro) + "/MicroJob" + hex_of(micro);
}

}}  // namespace allot::v0

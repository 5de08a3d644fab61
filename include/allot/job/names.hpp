#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <allot/core/id.hpp>
#include <allot/core/random.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/siphash.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Id of a job, chosen by its poster (`job_id_of`).
using JobId = Id<struct JobIdTag>;
/// Id of a wallet, to which a result is paid.
using WalletId = Id<struct WalletIdTag>;

namespace detail {

/// The first bytes of an id of `job_id_of`; no text begins so.
inline constexpr auto job_id_mark = std::array<std::uint8_t, 4>{0xFF, 'J', 'O', 'B'};
/// From there to the end such an id has the poster's number.
inline constexpr std::size_t job_number_at = JobId::size - 8;

/// Orders two values by `<` and `==`. In libc++ 16 arrays and times have no `<=>` of their own.
template <class T>
[[nodiscard]] constexpr auto order_of(const T& a, const T& b) -> std::strong_ordering {
    if (a == b) { return std::strong_ordering::equal; }
    return a < b ? std::strong_ordering::less : std::strong_ordering::greater;
}

}  // namespace detail

/// Identifies a MicroJob of a job: the number of its MacroJob, and its number there.
struct MicroKey {
    std::uint32_t macro = 0;
    std::uint32_t micro = 0;

    friend auto operator==(const MicroKey&, const MicroKey&) noexcept -> bool = default;
    friend auto operator<=>(const MicroKey&, const MicroKey&) noexcept -> std::strong_ordering = default;
};

/// Fencing token of a lease in a travelling queue: tokens grow along any chain of owners.
///
/// Two owners of one epoch are a fork; their `rank` distinguishes their tokens.
struct FencingToken {
    std::uint64_t epoch = 0;  ///< Epoch of the queue's owner that gave the lease.
    std::uint64_t rank = 0;   ///< Rank of that owner in that epoch.
    std::uint64_t seq = 0;    ///< Number of the lease, counted from 1 over all owners.

    friend auto operator==(const FencingToken&, const FencingToken&) noexcept -> bool = default;
    friend auto operator<=>(const FencingToken&, const FencingToken&) noexcept -> std::strong_ordering = default;
};

/// SHA-256 of values in a fixed order, after a word for their kind, so that two kinds never share a hash. Numbers are
/// eight bytes, the lowest first; texts follow their length.
class RecordHasher {
public:
    /// Starts with the word for the kind.
    explicit RecordHasher(std::string_view what) { text(what); }

    /// Adds a number. @complexity O(1).
    auto word(std::uint64_t value) -> RecordHasher& {
        auto bytes = std::array<std::uint8_t, 8>{};
        for (auto& byte : bytes) {
            byte = static_cast<std::uint8_t>(value & 0xFFU);
            value >>= 8U;
        }
        hash_.bytes(bytes);
        return *this;
    }
    /// Adds a text. @complexity linear in the text.
    auto text(std::string_view value) -> RecordHasher& {
        word(value.size());
        for (const auto c : value) { hash_.bytes(std::array<std::uint8_t, 1>{static_cast<std::uint8_t>(c)}); }
        return *this;
    }
    /// Adds a hash.
    auto hash(const Hash256& value) -> RecordHasher& {
        hash_.bytes(value);
        return *this;
    }
    /// Adds an id.
    template <class Tag>
    auto id(const Id<Tag>& value) -> RecordHasher& {
        return hash(value.bytes());
    }
    /// Adds the numbers of a MicroJob.
    auto key(MicroKey value) -> RecordHasher& { return word(value.macro).word(value.micro); }
    /// Adds the fields of a token.
    auto token(const FencingToken& value) -> RecordHasher& {
        return word(value.epoch).word(value.rank).word(value.seq);
    }
    /// Returns the hash of all values added so far.
    [[nodiscard]] auto finish() const -> Hash256 { return hash_.finish(); }

private:
    Sha256 hash_;
};

/// Returns the id of a poster's job, for a plan that names its poster: a mark, the hash of the poster's id, and a
/// number. No other member can make it, so no other plan takes the job's place. Give each job a higher number than
/// those before, also after a restart: a lower one may be refused (`job_forgotten`). @complexity O(1).
[[nodiscard]] inline auto job_id_of(const NodeId& poster, std::uint64_t number) -> JobId {
    auto bytes = RecordHasher{"poster"}.id(poster).finish();
    std::copy(detail::job_id_mark.begin(), detail::job_id_mark.end(), bytes.begin());
    for (std::size_t i = bytes.size(); i-- > detail::job_number_at;) {
        bytes[i] = static_cast<std::uint8_t>(number & 0xFFU);
        number >>= 8U;
    }
    return JobId{bytes};
}
/// Returns the number in an id that `job_id_of` made; none for any other id. @complexity O(1).
[[nodiscard]] inline auto job_number_of(const JobId& job) -> std::optional<std::uint64_t> {
    const auto& bytes = job.bytes();
    if (!std::equal(detail::job_id_mark.begin(), detail::job_id_mark.end(), bytes.begin())) { return std::nullopt; }
    auto number = std::uint64_t{0};
    for (std::size_t i = detail::job_number_at; i < bytes.size(); ++i) { number = (number << 8U) | bytes[i]; }
    return number;
}
/// True if a plan with this poster may have this id: one of `job_id_of`, or any other id if the poster is null.
/// @complexity O(1).
[[nodiscard]] inline auto may_post(const NodeId& poster, const JobId& job) -> bool {
    const auto number = job_number_of(job);
    return poster.is_null() ? !number : number && job == job_id_of(poster, *number);
}

/// Returns the hash as 64 hex digits.
[[nodiscard]] inline auto hex_of(const Hash256& value) -> std::string { return JobId{value}.hex(); }

/// Returns a number that orders nodes differently in each epoch, the same on every node; it decides forks and
/// takeovers. `boot` distinguishes the lives of one node: after a restart it must be a number that the node never used
/// before.
[[nodiscard]] inline auto rank_of(const NodeId& node, std::uint64_t epoch, std::uint64_t boot) noexcept
    -> std::uint64_t {
    return SipHash24{SipKey{epoch, boot}}.bytes(std::span{node.bytes()}).finish();
}

/// The channel for posting jobs and asking for them.
[[nodiscard]] inline auto jobs_channel() -> std::string { return "Jobs"; }
/// The channel for announcing a job's MacroJobs and asking for them.
[[nodiscard]] inline auto job_channel(const JobId& job) -> std::string { return "Job" + job.hex() + "/MacroJob"; }
/// The channel of one MacroJob, named after its id from the plan.
[[nodiscard]] inline auto macro_channel(const JobId& job, const Hash256& macro) -> std::string {
    return job_channel(job) + hex_of(macro);
}
/// The path of one MicroJob's result in the replicated store.
[[nodiscard]] inline auto result_path(const JobId& job, const Hash256& macro, const Hash256& micro) -> std::string {
    return macro_channel(job, macro) + "/MicroJob" + hex_of(micro);
}

}}  // namespace allot::v0

#pragma once

#include <chrono>
#include <cstdint>

#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// Parameters of a `MicroQueueReplica`; durations are in ms. All replicas of one queue need the same.
struct QueueParameters {
    /// Length of a MicroJob's lease; renew it at half of that. Each renewal needs a further block, so a block must take
    /// less, better less than half.
    Duration lock = std::chrono::seconds{15};
    /// Greatest number of renewals of a lease. A lease lasts at most
    /// `(1 + min(renewals_max, blocks_per_micro)) * lock`; the node that lost it has the MicroJob again one `lock`
    /// after all others.
    std::uint32_t renewals_max = 480;
    Duration owner_timeout = std::chrono::seconds{5};  ///< An owner that is silent for this long is replaced ...
    /// ... by the first in line, by the next one this much later, and so on.
    Duration stagger = std::chrono::seconds{1};
    Duration heartbeat = std::chrono::milliseconds{1600};     ///< Greatest time between two messages of an owner.
    Duration request_retry = std::chrono::milliseconds{500};  ///< A request or result is repeated after this time ...
    Duration request_retry_max = std::chrono::seconds{5};     ///< ... then after twice that, and so on, up to this.
    /// A request that is not repeated for this long is dropped.
    Duration request_ttl = std::chrono::seconds{15};
    /// Least time between two replies to nodes that lag behind.
    Duration reply_every = std::chrono::seconds{1};
    /// A failed or rejected MicroJob is open again after this, doubled with each attempt, up to 64-fold.
    Duration retry_delay = std::chrono::seconds{1};
    /// MicroJobs that no node may or wants to take die after this.
    Duration abandon_after = std::chrono::minutes{10};
    std::uint32_t quota = 1;         ///< MicroJobs that an owner takes before it serves a request; 0 serves at once.
    std::uint32_t attempts_max = 5;  ///< Leases of a MicroJob before it is dead.
    /// Results are committed before they are disclosed, so that no node can copy one (rule 33). Off: for members that
    /// trust each other; saves one round of messages for each MacroJob.
    bool commit_results = true;
    /// A committed result that is not disclosed this long after all are committed counts no longer.
    Duration disclose_within = std::chrono::seconds{15};
    /// Refuse a result unless its lease is the current one; else the first valid result counts.
    bool fence_completions = false;
    bool arbitrate_epochs = false;  ///< Every change of owner must first win a claim (`StoreCas`, `Quorum`).

    /// Returns the first fault of the parameters as one sentence; null if they are valid.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto length = [](Duration d) { return d > Duration{0} && d <= std::chrono::hours{24 * 40}; };
        return detail::first_unmet({
            {length(lock), "allot: QueueParameters: lock must be positive and at most 40 days"},
            {length(owner_timeout), "allot: QueueParameters: owner_timeout must be positive and at most 40 days"},
            {length(stagger), "allot: QueueParameters: stagger must be positive and at most 40 days"},
            {length(heartbeat), "allot: QueueParameters: heartbeat must be positive and at most 40 days"},
            {length(request_retry), "allot: QueueParameters: request_retry must be positive and at most 40 days"},
            {length(request_retry_max),
             "allot: QueueParameters: request_retry_max must be positive and at most 40 days"},
            {length(request_ttl), "allot: QueueParameters: request_ttl must be positive and at most 40 days"},
            {length(reply_every), "allot: QueueParameters: reply_every must be positive and at most 40 days"},
            {length(retry_delay), "allot: QueueParameters: retry_delay must be positive and at most 40 days"},
            {length(abandon_after), "allot: QueueParameters: abandon_after must be positive and at most 40 days"},
            {length(disclose_within), "allot: QueueParameters: disclose_within must be positive and at most 40 days"},
            {heartbeat <= owner_timeout / 2, "allot: QueueParameters: heartbeat must be at most half of owner_timeout"},
            {request_retry <= request_retry_max,
             "allot: QueueParameters: request_retry must be at most request_retry_max"},
            {attempts_max >= 1 && attempts_max <= 1'000, "allot: QueueParameters: attempts_max must be 1 to 1,000"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const QueueParameters&, const QueueParameters&) noexcept -> bool = default;
};

}}  // namespace allot::v0
